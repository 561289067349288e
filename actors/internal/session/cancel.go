package session

import (
	"slices"

	"agentd/messages"
)

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
	o.err = explain(o.err)
	switch t.phase {
	case phaseStarting:
		if t.outcome.status == "" {
			t.outcome, t.stopped = o, true
		}
	case phaseRunning:
		t.phase, t.outcome, t.stopped = phaseStopping, o, true
		if s.watched {
			record := t.present()
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
