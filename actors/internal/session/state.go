package session

import "agentd/messages"

// State is one live session. It is not safe for concurrent use: its actor owns it.
type State struct {
	// Set at construction.
	limits Limits

	// desk is where turns are handled, nil in a state at rest.
	desk *desk

	// doc is what is stored. Only acknowledged changes are in it.
	doc *messages.Document
	// shared is how many items of doc somebody outside may be reading: they are copied before they are changed.
	shared int
	// claim opens the epoch. It goes in front of the first commit, and is nil after that was acknowledged.
	claim messages.Change

	// flight is what the commit under way holds; staged is what comes after it.
	flight, staged []group
	// flightAt is when the commit under way was made.
	flightAt int64
	// commitID is the number of the last commit.
	commitID uint64
	// pending holds the newest version of items that flight and staged hold.
	pending pendingItems

	// active is the turn between its prompt and its end. At most one.
	active *turn
	// owed is an ending that could not be stored. The document still says that its turn runs.
	owed *turn
	// queue holds prompts that wait for the active turn to end.
	queue []Prompt

	// deleting holds those who wait for the deletion, once it was asked for.
	deleting *waiting
	// draining holds those who wait for the drain, once it was forced.
	draining *waiting
	// goneWith is what is refused with whatever comes when a Leave was given.
	goneWith error

	// The marks stand together, since an idle session is little more than this.

	// gone says that a Leave was given.
	gone bool
	// deleted says that the deletion is stored.
	deleted bool
	// doubt says that the commit under way may be stored already.
	doubt bool
	// repaying says that the owed ending is in flight or staged.
	repaying bool
	// woken says that a Wake was asked for and its Tick has not come.
	woken bool
	// watched says that somebody wants [Publish] effects.
	watched bool

	now     int64
	effects []Effect
}

// Create returns the state of a new session. The ticket gets the head when the session is durable.
func Create(id messages.SessionID, created messages.Created, ticket Ticket, now int64, limits Limits) (*State, []Effect) {
	s := newState(messages.NewDocument(id), created, limits)
	s.now = now
	s.stage(group{then: then{what: followHead, ticket: ticket}})
	s.pump()
	return s, s.take()
}

// Restore returns the state of a stored session that this writer opens as the given epoch. A turn that
// was running when the last writer ended becomes interrupted.
func Restore(doc *messages.Document, epoch uint64, now int64, limits Limits) (*State, []Effect) {
	s := newState(doc, messages.Opened{Epoch: epoch}, limits)
	s.now = now
	if doc.Head.Status == messages.SessionRunning && doc.Head.Turn != nil {
		s.interrupt()
	}
	s.pump()
	return s, s.take()
}

func newState(doc *messages.Document, claim messages.Change, limits Limits) *State {
	if limits.Queue <= 0 {
		limits.Queue = DefaultQueueLimit
	}
	return &State{doc: doc, claim: claim, limits: limits}
}

// Step takes one message and returns the effects to perform, in order. The slice is valid until the next step.
func (s *State) Step(now int64, msg Message) []Effect {
	s.now = now
	if s.gone {
		s.refuse(msg, s.goneWith)
		return s.take()
	}
	switch m := msg.(type) {
	case Prompt:
		s.onPrompt(m)
	case Withdraw:
		s.onWithdraw(m)
	case Cancel:
		s.onCancel(m)
	case Append:
		s.onAppend(m)
	case Upsert:
		s.onUpsert(m)
	case Record:
		s.onRecord(m)
	case SetData:
		s.onSetData(m)
	case Note:
		s.onNote(m)
	case Finish:
		s.onFinish(m)
	case Fail:
		s.onFail(m)
	case TurnStopped:
		s.onTurnStopped(m)
	case Committed:
		s.onCommitted(m)
	case Tick:
		s.onTick()
	case Delete:
		s.onDelete(m)
	case Drain:
		s.onDrain(m)
	}
	s.advance()
	if s.Idle() {
		s.tidy()
	}
	return s.take()
}

// waiting are those who wait for one thing.
type waiting struct{ tickets []Ticket }

// join adds somebody to those who wait, of whom there may be none yet.
func (w *waiting) join(ticket Ticket) *waiting {
	if w == nil {
		w = &waiting{}
	}
	w.tickets = append(w.tickets, ticket)
	return w
}

// all are those who wait.
func (w *waiting) all() []Ticket {
	if w == nil {
		return nil
	}
	return w.tickets
}

// advance starts what can start now: the next prompt, the deletion, the departure; and commits what is staged.
func (s *State) advance() {
	if s.gone {
		return
	}
	if s.active == nil {
		s.startNext()
	}
	if s.gone {
		return
	}
	if len(s.staged) > 0 {
		s.repay() // What is owed goes in front of every commit.
	}
	s.pump()
}

func (s *State) startNext() {
	quiet := len(s.flight) == 0 && len(s.staged) == 0
	switch {
	case s.deleting != nil:
		if quiet {
			s.stage(group{changes: []messages.Change{messages.Deleted{}}, then: then{what: followDeleted}})
		}
	case s.draining != nil:
		if quiet && s.owed != nil {
			s.repay() // One last try.
		} else if quiet {
			s.leave(Leave{}, ErrClosing)
		}
	default:
		for s.active == nil && len(s.queue) > 0 {
			s.begin()
		}
	}
}

// take hands out the effects of a step.
func (s *State) take() []Effect {
	effects := s.effects
	s.effects = s.effects[:0]
	return effects
}

func (s *State) emit(e Effect) { s.effects = append(s.effects, e) }

func (s *State) reply(ticket Ticket, value any, err error) {
	if ticket != nil {
		s.emit(Reply{Ticket: ticket, Value: value, Err: err})
	}
}
