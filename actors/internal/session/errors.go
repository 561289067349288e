package session

import (
	"errors"
	"fmt"

	"agentd/messages"
)

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
	// ErrRepeated means that a prompt names a turn that was made before and is no longer the last one. It is not run again.
	ErrRepeated = errors.New("the prompt is a repeat: its turn was made before, and later ones followed")
)

// UnknownItemError means that an item that should be updated is not there.
type UnknownItemError struct{ Item messages.ItemID }

// Error implements error.
func (e *UnknownItemError) Error() string {
	return fmt.Sprintf("there is no item %q to update", e.Item)
}

// DuplicateItemError means that an item that should be added is there already.
type DuplicateItemError struct{ Item messages.ItemID }

// Error implements error.
func (e *DuplicateItemError) Error() string {
	return fmt.Sprintf("item %q is there already: update it instead", e.Item)
}

// ClosedItemError means that an item belongs to an earlier turn, whose history does not change any more.
type ClosedItemError struct {
	Item messages.ItemID
	// Turn is the turn that made the item.
	Turn messages.TurnID
}

// Error implements error.
func (e *ClosedItemError) Error() string {
	return fmt.Sprintf("item %q belongs to turn %q, which has ended: add a new item instead", e.Item, e.Turn)
}

// CallError means that an item does not fit the tool calls of its turn: each call has its own id in the turn, and one result, which comes after it.
type CallError struct {
	Item   messages.ItemID
	Call   messages.CallID
	Reason string
}

// Error implements error.
func (e *CallError) Error() string {
	return fmt.Sprintf("item %q does not fit tool call %q: %s", e.Item, e.Call, e.Reason)
}
