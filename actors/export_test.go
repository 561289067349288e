package actors

import (
	"context"
	"strconv"

	"github.com/asynkron/protoactor-go/actor"

	"agentd/messages"
)

// What follows lets the tests break actors from inside, as a fault in their code would. Nothing in the product can.

// PanicSession makes the actor of a live session panic while it handles a message.
func PanicSession(rt *Runtime, id messages.SessionID) bool {
	e, ok := rt.live.get(id)
	if ok {
		e.send(viewRequest{}) // It answers into nothing.
	}
	return ok
}

// PanicRegistry makes the registry panic while it handles a message.
func PanicRegistry(rt *Runtime, id messages.SessionID) {
	rt.system.Root.Send(rt.registry, activate{id: id})
}

// PanicApprovals makes the approvals actor panic while it handles a message.
func PanicApprovals(rt *Runtime) { rt.system.Root.Send(rt.approvals.pid, approvalQuery{}) }

// EndTurnActor ends the actor of the first turn of a session behind the back of its owner.
func EndTurnActor(rt *Runtime, id messages.SessionID, turn int) {
	if e, ok := rt.live.get(id); ok {
		rt.system.Root.Stop(actor.NewPID(e.pid.Address, e.pid.Id+"/turn-"+strconv.Itoa(turn)))
	}
}

// Held is what a caller holds of a live session between looking it up and asking it something.
type Held struct{ entry *entry }

// Hold looks up a live session.
func Hold(rt *Runtime, id messages.SessionID) (Held, bool) {
	e, ok := rt.live.get(id)
	return Held{e}, ok
}

// View asks the session as a caller does who was late.
func (h Held) View(ctx context.Context) error {
	reply, life := newCall[SessionView](), h.entry.lifetime()
	h.entry.send(viewRequest{reply: reply})
	_, err := reply.wait(ctx, life)
	return err
}
