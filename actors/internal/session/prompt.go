package session

import (
	"slices"

	"agentd/messages"
)

func (s *State) onPrompt(m Prompt) {
	switch {
	case s.deleting != nil:
		s.reply(m.Ticket, nil, ErrDeleted)
	case s.draining != nil:
		s.reply(m.Ticket, nil, ErrClosing)
	case s.repeats(m):
	case m.OnBusy == messages.OnBusyReject && s.busy():
		s.reply(m.Ticket, nil, ErrBusy)
	case len(s.queue) >= s.limits.Queue:
		s.reply(m.Ticket, nil, ErrQueueFull)
	default:
		s.enqueue(m)
		s.yield()
	}
}

// busy reports whether a turn is in the way of a new one. One that is on its way to the store as ended is not.
func (s *State) busy() bool {
	return len(s.queue) > 0 || s.active != nil && s.active.phase != phaseEnding
}

// enqueue puts a prompt where it belongs: one that cancels goes ahead of those that are content to wait, so that
// nothing that was queued is lost by it.
func (s *State) enqueue(m Prompt) {
	at := len(s.queue)
	if cancels(m) {
		for at = 0; at < len(s.queue) && cancels(s.queue[at]); at++ {
		}
	}
	s.queue = slices.Insert(s.queue, at, m)
}

func cancels(m Prompt) bool { return m.OnBusy == messages.OnBusyCancel || m.OnBusy == "" }

// repeats answers a prompt whose turn is there already, so that a caller who does not know whether
// the first try arrived may try again.
func (s *State) repeats(m Prompt) bool {
	if s.active != nil && s.active.record.ID == m.Turn {
		if s.active.phase == phaseStarting {
			// The first try is not durable yet: the newer caller waits for it in the place of the older one.
			s.reply(s.active.ticket, nil, ErrWithdrawn)
			s.active.ticket = m.Ticket
			return true
		}
		s.emit(AttachTurn{Ticket: m.Ticket, Turn: s.active.record})
		return true
	}
	if last := s.doc.Head.Turn; last != nil && last.ID == m.Turn {
		s.emit(AttachTurn{Ticket: m.Ticket, Turn: *last})
		return true
	}
	for i := range s.queue {
		if s.queue[i].Turn == m.Turn {
			s.reply(s.queue[i].Ticket, nil, ErrWithdrawn)
			s.queue[i] = m
			return true
		}
	}
	return false
}

// yield stops the active turn if a prompt that wants its place waits.
func (s *State) yield() {
	if s.active != nil && slices.ContainsFunc(s.queue, cancels) {
		s.stop(outcome{status: messages.TurnCancelled, err: "cancelled: a newer prompt took its place"})
	}
}

// begin makes the prompt the active turn and stages its first records.
func (s *State) begin(m Prompt) {
	t := &turn{
		record: messages.Turn{ID: m.Turn, Status: messages.TurnRunning, StartedAt: s.now},
		input:  m.Input,
		ticket: m.Ticket,
	}
	s.active = t
	user := messages.Item{
		ID: m.Item, Type: messages.ItemMessage, Role: messages.RoleUser,
		Content: m.Input, TurnID: m.Turn, CreatedAt: s.now,
	}
	s.stage(group{
		changes: []messages.Change{messages.TurnStarted{Turn: t.record}, messages.ItemAppended{Item: user}},
		then:    then{what: followStarted, turn: t},
	})
	s.yield()
}

// started follows when the first records of a turn are durable.
func (s *State) started(t *turn) {
	run := t.phase == phaseStarting && t.outcome.status == ""
	s.emit(StartTurn{Ticket: t.ticket, Turn: t.record, Input: t.input, Run: run})
	t.ticket = nil
	if run {
		t.phase = phaseRunning
		return
	}
	s.end(t)
}

func (s *State) onWithdraw(m Withdraw) {
	for i := range s.queue {
		if s.queue[i].Turn == m.Turn {
			s.reply(s.queue[i].Ticket, nil, ErrWithdrawn)
			s.queue = slices.Delete(s.queue, i, i+1)
			return
		}
	}
}

func (s *State) onCancel(m Cancel) {
	t := s.active
	if t == nil || m.Turn != "" && m.Turn != t.record.ID {
		if m.Turn != "" {
			s.onWithdraw(Withdraw{Turn: m.Turn})
		}
		s.reply(m.Ticket, nil, nil)
		return
	}
	if m.Ticket != nil {
		t.waiters = append(t.waiters, m.Ticket)
	}
	text := "cancelled"
	if m.Reason != "" {
		text += ": " + m.Reason
	}
	s.stop(outcome{status: messages.TurnCancelled, err: text})
}

// stop decides how the active turn will end, and has its agent stopped. The first decision stands.
func (s *State) stop(o outcome) {
	t := s.active
	switch t.phase {
	case phaseStarting:
		if t.outcome.status == "" {
			t.outcome = o
		}
	case phaseRunning:
		t.phase, t.outcome = phaseStopping, o
		if record := t.record; s.watched {
			record.Status = messages.TurnCancelling
			s.emit(Publish{Event: messages.Event{Session: s.doc.Head.ID, Kind: messages.EventTurnCancelling, Turn: &record}})
		}
		s.emit(StopTurn{Turn: t.record.ID, Reason: o.err})
	case phaseStopping, phaseEnding:
	}
}

func (s *State) onTurnStopped(m TurnStopped) {
	t := s.active
	if t == nil || t.record.ID != m.Turn || t.phase != phaseStopping {
		return
	}
	if m.HookError != "" {
		t.outcome.err += "; the cancel hook failed: " + m.HookError
	}
	if m.Abandoned {
		t.outcome.err += "; the agent did not stop in time and was left behind"
	}
	s.end(t)
}

func (s *State) onDelete(m Delete) {
	s.deleting = append(s.deleting, m.Ticket)
	s.rejectQueue(ErrDeleted)
	if s.active != nil {
		s.stop(outcome{status: messages.TurnCancelled, err: "cancelled: the session is being deleted"})
	}
}

func (s *State) onDrain(m Drain) {
	if !m.Force {
		if !s.Idle() || s.deleting != nil || s.draining != nil {
			s.reply(m.Ticket, nil, ErrBusy)
			return
		}
		s.reply(m.Ticket, nil, nil)
		s.leave(Leave{}, ErrClosing)
		return
	}
	if s.draining != nil {
		s.reply(s.draining.Ticket, nil, nil)
	}
	s.draining = &m
	s.rejectQueue(ErrClosing)
	if s.active != nil {
		s.stop(outcome{status: messages.TurnCancelled, err: "cancelled: the runtime is stopping"})
	}
	s.repay()
}

func (s *State) rejectQueue(err error) {
	for _, p := range s.queue {
		s.reply(p.Ticket, nil, err)
	}
	s.queue = nil
}

// leave is the last thing that a state does.
func (s *State) leave(l Leave, refusal error) {
	s.gone, s.goneWith = true, refusal
	s.emit(l)
}
