package session

import (
	"slices"

	"agentd/messages"
)

// DefaultQueueLimit is how many prompts may wait behind the active turn.
const DefaultQueueLimit = 16

// Limits bound what a session takes on.
type Limits struct {
	// Queue is the most prompts that wait. 0 means [DefaultQueueLimit].
	Queue int
}

// State is one live session. It is not safe for concurrent use: its actor owns it.
type State struct {
	// Set at construction.
	limits Limits

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
	pending map[messages.ItemID]pendingItem

	// active is the turn between its prompt and its end. At most one.
	active *turn
	// owed is an ending that could not be stored. The document still says that its turn runs.
	owed *turn
	// queue holds prompts that wait for the active turn to end.
	queue []Prompt

	// deleting holds those who wait for the deletion, once it was asked for.
	deleting []Ticket
	// draining is who waits for the drain, once it was forced.
	draining *Drain
	// gone says that a Leave was given: whatever comes now is refused.
	gone     bool
	goneWith error
	// woken says that a Wake was asked for and its Tick has not come.
	woken bool

	// watched says that somebody wants [Publish] effects.
	watched bool

	now     int64
	effects []Effect
}

// pendingItem is the newest version of an item, and how many of its changes are not acknowledged.
type pendingItem struct {
	item    messages.Item
	changes int
}

// group is a run of changes that stand or fall together, and what follows when they are durable.
type group struct {
	changes []messages.Change
	then    then
}

// then says what an acknowledged group leads to.
type then struct {
	what   follow
	ticket Ticket
	item   messages.ItemID
	turn   *turn
}

type follow int

const (
	followNothing follow = iota
	followReply
	followItem
	followHead
	followStarted
	followEnded
	followOwed
	followDeleted
)

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
	return s.take()
}

// Watch says whether anybody wants [Publish] effects. A state begins unwatched.
func (s *State) Watch(on bool) { s.watched = on }

// Head returns the stored head. It shares nothing.
func (s *State) Head() messages.Head { return s.doc.Head.Clone() }

// Items returns the stored items. The slice is not changed any more; the state copies before it changes one of them.
func (s *State) Items() []messages.Item {
	s.shared = len(s.doc.Items)
	return slices.Clip(s.doc.Items)
}

// Drafts returns the newest text of the active turn's drafts, in the order in which they began.
func (s *State) Drafts() []messages.Item {
	if s.active == nil {
		return nil
	}
	drafts := make([]messages.Item, 0, len(s.active.drafts))
	for _, d := range s.active.drafts {
		drafts = append(drafts, d.item)
	}
	return drafts
}

// Turn returns the active turn and its state, which may be cancelling.
func (s *State) Turn() (messages.Turn, bool) {
	if s.active == nil {
		return messages.Turn{}, false
	}
	record := s.active.record
	if s.active.phase == phaseStopping {
		record.Status = messages.TurnCancelling
	}
	return record, true
}

// Idle reports whether nothing runs, waits or is on its way to the store.
func (s *State) Idle() bool {
	return s.active == nil && s.owed == nil && len(s.queue) == 0 && len(s.flight) == 0 && len(s.staged) == 0
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
	case Finish:
		s.reply(m.Ticket, nil, err)
	case Fail:
		s.reply(m.Ticket, nil, err)
	case Delete:
		s.reply(m.Ticket, nil, err)
	case Drain:
		s.reply(m.Ticket, nil, nil)
	case Withdraw, TurnStopped, Committed, Tick:
	}
}
