package actors

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"agentd/actors/internal/session"
	"agentd/messages"
)

// The errors of the runtime's face. They come wrapped in errors that name the session, the agent or the turn.
var (
	// ErrStopping means that the runtime is stopping, or has stopped.
	ErrStopping = errors.New("the runtime is stopping")
	// ErrTooManySessions means that as many sessions as allowed are live and none of them is idle.
	ErrTooManySessions = errors.New("too many live sessions")
	// ErrUnknownAgent means that no agent is registered under the id.
	ErrUnknownAgent = errors.New("unknown agent")
	// ErrNotActive means that no turn of that id is active in the session.
	ErrNotActive = errors.New("no such turn is active")
	// ErrFuture means that a subscriber asked for what has not happened: its sequence number belongs to another session, or to a lost store.
	ErrFuture = errors.New("the sequence number is ahead of the session")

	// ErrBusy means that a turn runs and the prompt asked not to disturb it ([messages.OnBusyReject]).
	ErrBusy = session.ErrBusy
	// ErrQueueFull means that too many prompts wait already.
	ErrQueueFull = session.ErrQueueFull
	// ErrTurnEnded means that the turn has ended, or is being stopped, so that this comes too late.
	ErrTurnEnded = session.ErrTurnEnded
	// ErrClosing means that the session is leaving memory. The runtime itself tries again; agents see it when the runtime stops.
	ErrClosing = session.ErrClosing
	// ErrDeleted means that the session was deleted.
	ErrDeleted = session.ErrDeleted
	// ErrWithdrawn means that a prompt was taken back, or repeated by somebody else, before its turn started.
	ErrWithdrawn = session.ErrWithdrawn
	// ErrRepeated means that a prompt names a turn that was made before and is not the last one.
	ErrRepeated = session.ErrRepeated
)

// Errors that tell an agent which item does not fit, and why.
type (
	// UnknownItemError means that an update names an item that is not there.
	UnknownItemError = session.UnknownItemError
	// DuplicateItemError means that an item with that id is there already.
	DuplicateItemError = session.DuplicateItemError
	// ClosedItemError means that an item belongs to a turn that has ended.
	ClosedItemError = session.ClosedItemError
	// CallError means that a tool call or a result does not fit to the calls of the turn.
	CallError = session.CallError
)

// MissingDepError means that [Start] was not given a service that it needs.
type MissingDepError struct{ Name string }

// Error implements error.
func (e *MissingDepError) Error() string {
	return fmt.Sprintf("starting the runtime: Deps.%s is missing", e.Name)
}

// ResyncError ends a subscription that fell behind. Subscribe again with After to go on without a gap.
type ResyncError struct {
	Session messages.SessionID
	// After is the sequence number of the last event that was delivered.
	After uint64
}

// Error implements error.
func (e *ResyncError) Error() string {
	return fmt.Sprintf("session %q: the subscriber fell behind: subscribe again after %d", e.Session, e.After)
}

// maxNamed is how many things an error names.
const maxNamed = 20

// UnstoppedError names what was still running when the time for [Runtime.Stop] ran out. It is left behind.
type UnstoppedError struct {
	Sessions []messages.SessionID
	// Goroutines says which agents, hooks and callbacks did not return, in words.
	Goroutines []string
	// Store says that a call of the store did not return. It was not closed.
	Store bool
}

// Error implements error.
func (e *UnstoppedError) Error() string {
	left := slices.Clone(e.Goroutines)
	for _, id := range e.Sessions {
		left = append(left, fmt.Sprintf("session %q", id))
	}
	if e.Store {
		left = append(left, "a call of the store")
	}
	more := ""
	if len(left) > maxNamed {
		more = fmt.Sprintf(" and %d more", len(left)-maxNamed)
		left = left[:maxNamed]
	}
	return "stopping the runtime: did not stop in time: " + strings.Join(left, ", ") + more
}
