package session

import "errors"

// The refusals of a session. Package actors exports them.
var (
	// ErrBusy means that a turn runs and the prompt asked not to disturb it.
	ErrBusy = errors.New("the session is busy with a turn")
	// ErrQueueFull means that too many prompts wait already.
	ErrQueueFull = errors.New("too many prompts wait in the session's queue")
	// ErrTurnEnded means that the turn has ended, or is being stopped, so that this comes too late.
	ErrTurnEnded = errors.New("the turn has ended")
	// ErrClosing means that the session's actor is going away. The same call may be made again.
	ErrClosing = errors.New("the session is closing")
	// ErrDeleted means that the session was deleted.
	ErrDeleted = errors.New("the session was deleted")
	// ErrWithdrawn means that the caller left before its prompt became a turn. Nothing was stored.
	ErrWithdrawn = errors.New("the prompt was withdrawn before its turn started")
)
