package session

import (
	"encoding/json"

	"agentd/messages"
)

// Ticket stands for somebody who waits for a [Reply]. The state only carries it. A nil
// ticket waits for nothing.
type Ticket any

// Message is what a session is told: a command or an event. The set is closed.
//
//sumtype:decl
type Message interface{ message() }

type (
	// Prompt asks for a new turn. The reply comes when its first record is durable.
	Prompt struct {
		Ticket Ticket
		// Turn is the id of the turn to be. A prompt that names the active or the last turn is a repeat and gets that turn.
		Turn messages.TurnID
		// Item is the id of the user's message.
		Item   messages.ItemID
		Input  string
		OnBusy messages.OnBusy
	}

	// Withdraw takes back a prompt that waits in the queue. One that has become a turn goes on.
	Withdraw struct{ Turn messages.TurnID }

	// Cancel stops a turn. The reply comes when no such turn is active any more.
	Cancel struct {
		Ticket Ticket
		// Turn is the turn to stop. Empty means the active one.
		Turn   messages.TurnID
		Reason string
	}

	// Append adds an item. The reply, with the stored item, comes when it is durable.
	Append struct {
		Ticket Ticket
		Turn   messages.TurnID
		Item   messages.Item
	}

	// Upsert lays an item over the one with its id, or adds it. A draft is
	// answered at once; a final item when it is durable.
	Upsert struct {
		Ticket Ticket
		Turn   messages.TurnID
		Item   messages.Item
		// MustExist makes an unknown id an error.
		MustExist bool
	}

	// Record upserts final items in one commit. The reply comes when they are durable. The slice is the session's from then on.
	Record struct {
		Ticket Ticket
		Turn   messages.TurnID
		Items  []messages.Item
		// Fresh says that the first item must not be there yet.
		Fresh bool
	}

	// SetData changes one key of the agent-owned state. A nil value removes it. Without a
	// turn it comes from the host.
	SetData struct {
		Ticket Ticket
		Turn   messages.TurnID
		Key    string
		Value  json.RawMessage
	}

	// Note appends an event on behalf of the host, outside of any turn. The reply, with the stored item, comes when it is durable.
	Note struct {
		Ticket Ticket
		Item   messages.Item
	}

	// Finish ends the turn well. Items are upserted in the same commit; the slice is the session's from then on.
	Finish struct {
		Ticket Ticket
		Turn   messages.TurnID
		Result string
		Items  []messages.Item
	}

	// Fail ends the turn with an error.
	Fail struct {
		Ticket Ticket
		Turn   messages.TurnID
		Error  string
	}

	// TurnStopped tells that what a [StopTurn] asked for is done.
	TurnStopped struct {
		Turn messages.TurnID
		// HookError is the failure of the cancel hook, if any.
		HookError string
		// Abandoned says that the agent did not return within its grace.
		Abandoned bool
	}

	// Committed tells the outcome of the commit that is under way.
	Committed struct {
		ID  uint64
		Err error
		// Dead says that the error is final for this writer: it was fenced, or is in conflict.
		Dead bool
		// Unknown says that the commit may or may not be stored, and is to be repeated.
		Unknown bool
	}

	// Tick is the timer that [Wake] asked for.
	Tick struct{}

	// Delete removes the session. An active turn is cancelled first.
	Delete struct{ Ticket Ticket }

	// Drain asks the session to leave memory.
	Drain struct {
		Ticket Ticket
		// Force cancels what runs; without it a busy session refuses with [ErrBusy].
		Force bool
	}
)

func (Prompt) message()      {}
func (Withdraw) message()    {}
func (Cancel) message()      {}
func (Append) message()      {}
func (Upsert) message()      {}
func (Record) message()      {}
func (SetData) message()     {}
func (Note) message()        {}
func (Finish) message()      {}
func (Fail) message()        {}
func (TurnStopped) message() {}
func (Committed) message()   {}
func (Tick) message()        {}
func (Delete) message()      {}
func (Drain) message()       {}
