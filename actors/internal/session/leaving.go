package session

import "agentd/messages"

func (s *State) onDelete(m Delete) {
	s.deleting = s.deleting.join(m.Ticket)
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
	s.draining = s.draining.join(m.Ticket)
	s.rejectQueue(ErrClosing)
	if s.active != nil {
		s.stop(outcome{status: messages.TurnCancelled, err: "cancelled: the runtime is stopping"})
	}
}

func (s *State) rejectQueue(err error) {
	for _, p := range s.queue {
		s.reply(p.Ticket, nil, err)
	}
	s.queue = nil
}

// leave is the last thing that a state does: it answers those who still wait, and gives the last effect.
func (s *State) leave(l Leave, refusal error) {
	s.rejectQueue(refusal)
	for _, ticket := range s.deleting.all() {
		if l.Deleted {
			s.reply(ticket, nil, nil)
		} else {
			s.reply(ticket, nil, refusal)
		}
	}
	for _, ticket := range s.draining.all() {
		s.reply(ticket, nil, nil)
	}
	s.deleting, s.draining, s.owed, s.repaying, s.woken = nil, nil, nil, false, false
	s.gone, s.goneWith = true, refusal
	s.emit(l)
}

// refuse answers a message that comes when the session has left.
func (s *State) refuse(msg Message, err error) {
	switch m := msg.(type) {
	case Prompt:
		s.reply(m.Ticket, nil, err)
	case Cancel:
		s.reply(m.Ticket, nil, nil) // What should be stopped does not run.
	case Append:
		s.reply(m.Ticket, nil, err)
	case Upsert:
		s.reply(m.Ticket, nil, err)
	case Record:
		s.reply(m.Ticket, nil, err)
	case SetData:
		s.reply(m.Ticket, nil, err)
	case Note:
		s.reply(m.Ticket, nil, err)
	case Finish:
		s.reply(m.Ticket, nil, err)
	case Fail:
		s.reply(m.Ticket, nil, err)
	case Delete:
		if s.deleted {
			err = nil // Deleting again is harmless.
		}
		s.reply(m.Ticket, nil, err)
	case Drain:
		s.reply(m.Ticket, nil, nil)
	case Withdraw, TurnStopped, Committed, Tick:
	}
}
