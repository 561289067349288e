package approval

import (
	"agentd/messages"
	"agentd/presets"
)

type (
	// WaiterID names one waiting Request. The shell makes it up; it is never used twice.
	WaiterID uint64
	// ReplyID names one waiting Decide or Revoke. The shell makes it up.
	ReplyID uint64
	// SaveID names one Save.
	SaveID uint64
)

// Command is what can happen to approvals.
//
//sumtype:decl
type Command interface{ command() }

type (
	// Ask wants a decision for a call.
	Ask struct {
		Waiter WaiterID
		Ask    presets.Ask
		// FreshID is the id of the request, should one be opened.
		FreshID messages.RequestID
	}
	// Leave says that the waiter has gone.
	Leave struct {
		Waiter WaiterID
		// Reason is what the audit says of it.
		Reason string
	}
	// Decide is a person's answer.
	Decide struct {
		Reply   ReplyID
		Request messages.RequestID
		Answer  presets.Answer
		// FreshID is the id of the request for the calls that an approval once leaves waiting.
		FreshID messages.RequestID
		// GrantID is the id of the grant, should there be one.
		GrantID presets.GrantID
	}
	// Revoke ends a grant.
	Revoke struct {
		Reply ReplyID
		Grant presets.GrantID
	}
	// Release cancels what was asked for a caller. An empty TurnID means the whole session.
	Release struct {
		Caller presets.Caller
		Reason string
	}
	// SetPolicy replaces the policy. Open requests are looked at again.
	SetPolicy struct{ Policy presets.Policy }
	// Saved says how a Save went.
	Saved struct {
		ID  SaveID
		Err error
	}
	// Tick says that time has passed.
	Tick struct{}
	// Stop cancels everything that is open.
	Stop struct{}
)

func (Ask) command()       {}
func (Leave) command()     {}
func (Decide) command()    {}
func (Revoke) command()    {}
func (Release) command()   {}
func (SetPolicy) command() {}
func (Saved) command()     {}
func (Tick) command()      {}
func (Stop) command()      {}

// Effect is what the shell has to do, in the order given.
//
//sumtype:decl
type Effect interface{ effect() }

type (
	// Answer ends a waiter.
	Answer struct {
		Waiter   WaiterID
		Decision presets.Decision
	}
	// Wait tells a waiter which request it waits on. It comes at first, and again when the id changes.
	Wait struct {
		Waiter  WaiterID
		Request presets.Request
	}
	// Save stores the grants, all of them.
	Save struct {
		ID     SaveID
		Grants []presets.Grant
	}
	// Reply ends a Decide or a Revoke.
	Reply struct {
		Reply ReplyID
		Err   error
	}
	// Opened says that a request is open, or that an open one has changed.
	Opened struct{ Request presets.Request }
	// Resolved says that a request is not open any more, and why. Decision is the first one made of it.
	Resolved struct {
		Request  presets.Request
		Decision presets.Decision
	}
)

func (Answer) effect()   {}
func (Wait) effect()     {}
func (Save) effect()     {}
func (Reply) effect()    {}
func (Opened) effect()   {}
func (Resolved) effect() {}
