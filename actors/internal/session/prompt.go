package session

import (
	"slices"

	"agentd/messages"
)

func (s *State) onPrompt(m Prompt) {
	if s.deleting != nil {
		s.reply(m.Ticket, nil, ErrDeleted)
		return
	}
	if s.draining != nil {
		s.reply(m.Ticket, nil, ErrClosing)
		return
	}
	if s.repeats(m) {
		return
	}
	if err := s.refusePrompt(&m); err != nil {
		s.reply(m.Ticket, nil, err)
		return
	}
	s.enqueue(m)
	s.yield()
}

// refusePrompt says why a prompt is not taken, or returns nil. A prompt that is refused changes nothing.
func (s *State) refusePrompt(m *Prompt) error {
	if err := m.Turn.Validate(); err != nil {
		return err
	}
	if err := m.Item.Validate(); err != nil {
		return err
	}
	if err := messages.ValidateInput(m.Input); err != nil {
		return err
	}
	if err := m.OnBusy.Validate(); err != nil {
		return err
	}
	if s.has(m.Item) || slices.ContainsFunc(s.queue, func(p Prompt) bool { return p.Item == m.Item }) {
		return &DuplicateItemError{Item: m.Item}
	}
	if m.OnBusy == messages.OnBusyReject && s.busy() {
		return ErrBusy
	}
	if len(s.queue) >= s.limits.Queue {
		return ErrQueueFull
	}
	return nil
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
	if t := s.active; t != nil && t.record.ID == m.Turn {
		if t.phase == phaseStarting {
			// The first try is not durable yet: the newer caller waits for it in the place of the older one.
			s.reply(t.ticket, nil, ErrWithdrawn)
			t.ticket = m.Ticket
			return true
		}
		s.emit(AttachTurn{Ticket: m.Ticket, Turn: t.present()})
		return true
	}
	if t := s.owed; t != nil && t.record.ID == m.Turn {
		s.emit(AttachTurn{Ticket: m.Ticket, Turn: *t.last, Err: t.fault})
		return true
	}
	if last := s.doc.Head.Turn; last != nil && last.ID == m.Turn {
		s.emit(AttachTurn{Ticket: m.Ticket, Turn: *last})
		return true
	}
	for i := range s.queue {
		if s.queue[i].Turn == m.Turn {
			s.reply(s.queue[i].Ticket, nil, ErrWithdrawn)
			s.queue[i].Ticket = m.Ticket
			return true
		}
	}
	if s.doc.HasTurn(m.Turn) {
		s.reply(m.Ticket, nil, ErrRepeated)
		return true
	}
	return false
}

// yield stops the active turn if a prompt that wants its place waits.
func (s *State) yield() {
	if s.active != nil && slices.ContainsFunc(s.queue, cancels) {
		s.stop(outcome{status: messages.TurnCancelled, err: "cancelled: a newer prompt took its place"})
	}
}

// begin makes the next prompt the active turn and stages its first records.
func (s *State) begin() {
	m := s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	if s.has(m.Item) {
		s.reply(m.Ticket, nil, &DuplicateItemError{Item: m.Item}) // An agent took the id meanwhile.
		return
	}
	t := s.newTurn()
	t.record = &messages.Turn{ID: m.Turn, Status: messages.TurnRunning, StartedAt: s.now}
	t.input, t.ticket = valid(m.Input), m.Ticket
	s.active = t
	t.first = [2]messages.Change{
		messages.TurnStarted{Turn: t.record},
		s.putWhole(t, &messages.Item{ID: m.Item, Type: messages.ItemMessage, Role: messages.RoleUser, Content: t.input}),
	}
	s.stage(group{changes: t.first[:], then: then{what: followStarted, turn: t}})
	s.yield()
}

// started follows when the first records of a turn are durable.
func (s *State) started(t *turn) {
	run := t.outcome.status == ""
	s.desk.start = StartTurn{Ticket: t.ticket, Turn: t.record, Input: t.input, Run: run}
	s.emit(&s.desk.start)
	t.ticket = nil
	if run {
		t.phase = phaseRunning
		return
	}
	s.end(t)
}
