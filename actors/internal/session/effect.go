package session

import "agentd/messages"

// Effect is what the actor does for the state. Effects are performed in their order. Those that come as pointers are good until the next step. The
// set is closed.
//
//sumtype:decl
type Effect interface{ effect() }

type (
	// Commit stores changes as one append. [Committed] tells how it went.
	Commit struct {
		// ID is unique among the commits of this state.
		ID uint64
		// After is the sequence number that the first change follows.
		After uint64
		At    int64
		// Changes are not to be changed, and good until this commit was answered.
		Changes []messages.Change
		// Repeat says that this commit ended in doubt and is tried again, after a pause.
		Repeat bool
	}

	// Reply answers a ticket, once.
	Reply struct {
		Ticket Ticket
		// Value is a [messages.Item] for items, a [messages.Head] for a creation, else nil.
		Value any
		Err   error
	}

	// StartTurn answers a prompt with its turn, and starts the agent if Run is set; a turn that was
	// cancelled before it started is not run.
	StartTurn struct {
		Ticket Ticket
		// Turn is not to be changed.
		Turn  *messages.Turn
		Input string
		Run   bool
	}

	// AttachTurn answers a repeated prompt with the turn that it made the first time. If that turn is terminal it was settled
	// before; if not, its [Settle] is still to come.
	AttachTurn struct {
		Ticket Ticket
		Turn   messages.Turn
		// Err says why the ending is not stored yet, as [Settle] said it.
		Err error
	}

	// StopTurn asks the turn's owner to cancel its context, run its hook, and tell [TurnStopped].
	StopTurn struct {
		Turn   messages.TurnID
		Reason string
	}

	// Settle tells that the turn has ended and everything about it is stored, or, if Err is set, could not be. Every turn of a
	// [StartTurn] gets one, and so does a turn that the last writer left running.
	Settle struct {
		// Turn is not to be changed.
		Turn *messages.Turn
		Err  error
		// Told says that it was its agent who ended it, and gets the answer to that.
		Told bool
	}

	// Publish tells the subscribers.
	Publish struct{ Event messages.Event }

	// Wake asks for one [Tick] soon. It is asked for at most once until the tick comes. Retry says that
	// the tick tries again what failed, so that it should come later each time.
	Wake struct{ Retry bool }

	// Leave tells the actor to go. It is the last effect, and nothing is owed to anybody any more. Deleted says that the
	// stored session is to be removed; Err that the session was lost to another writer, that it cannot be told what of it is stored,
	// or that it could not be created.
	Leave struct {
		Deleted bool
		Err     error
	}
)

func (*Commit) effect()    {}
func (Reply) effect()      {}
func (*StartTurn) effect() {}
func (AttachTurn) effect() {}
func (StopTurn) effect()   {}
func (Settle) effect()     {}
func (Publish) effect()    {}
func (Wake) effect()       {}
func (Leave) effect()      {}
