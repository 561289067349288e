package actors

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"agentd/actors/internal/approval"
	"agentd/messages"
	"agentd/presets"
)

type (
	// askApproval asks for a decision.
	askApproval struct {
		id     approval.WaiterID
		ask    presets.Ask
		waiter *approvalWaiter
	}

	// approvalCommand is a command whose reply is an error or nothing.
	approvalCommand struct {
		command func(reply approval.ReplyID) approval.Command
		reply   *plainCall
	}

	// approvalQuery reads the state, on the actor's goroutine.
	approvalQuery struct {
		read func(now int64, state *approval.State)
		done *plainCall
	}

	// tellApproval is a command that nobody waits for.
	tellApproval struct{ command approval.Command }

	// grantsSaved tells how a save went.
	grantsSaved struct {
		id  approval.SaveID
		err error
	}

	// approvalsDue is the timer: something expires.
	approvalsDue struct{}
)

// approvalWaiter is one call of Request that has not returned.
type approvalWaiter struct {
	// pending gets the request that a person has to decide, and another one when that took the place of the first. The newest counts.
	pending chan presets.Request
	call    *call[presets.Decision]
}

// wait tells that a person has to decide. Only the actor calls it, so that there is room after the older one is gone.
func (w *approvalWaiter) wait(request presets.Request) {
	select {
	case <-w.pending:
	default:
	}
	w.pending <- request
}

// approvalsActor is the shell around the rules of approvals.
type approvalsActor struct {
	// Set at construction.
	runtime *Runtime
	grants  presets.GrantStore // nil keeps grants in memory only
	state   *approval.State    // outlives an incarnation: what is pending is not forgotten by a panic
	logger  *slog.Logger

	// Owned by the actor; they outlive an incarnation too.
	waiters map[approval.WaiterID]*approvalWaiter
	replies map[approval.ReplyID]*plainCall
	reply   approval.ReplyID
	timer   *time.Timer
}

func newApprovalsActor(rt *Runtime, state *approval.State, grants presets.GrantStore) *approvalsActor {
	return &approvalsActor{
		runtime: rt, grants: grants, state: state, logger: rt.logger,
		waiters: map[approval.WaiterID]*approvalWaiter{}, replies: map[approval.ReplyID]*plainCall{},
	}
}

func (a *approvalsActor) started(c actor.Context) { a.schedule(c) }

func (a *approvalsActor) receive(c actor.Context, msg any) {
	switch m := msg.(type) {
	case askApproval:
		a.waiters[m.id] = m.waiter
		a.step(c, approval.Ask{Waiter: m.id, Ask: m.ask, FreshID: messages.NewRequestID()})
	case approvalCommand:
		a.reply++
		a.replies[a.reply] = m.reply
		a.step(c, m.command(a.reply))
	case approvalQuery:
		m.read(a.runtime.unix(), a.state)
		m.done.put(struct{}{}, nil)
	case tellApproval:
		if leave, ok := m.command.(approval.Leave); ok {
			delete(a.waiters, leave.Waiter)
		}
		a.step(c, m.command)
	case grantsSaved:
		a.step(c, approval.Saved{ID: m.id, Err: m.err})
	case approvalsDue:
		a.step(c, approval.Tick{})
	}
}

func (a *approvalsActor) step(c actor.Context, command approval.Command) {
	var answered []messages.RequestID
	for _, effect := range a.state.Step(a.runtime.unix(), command) {
		switch e := effect.(type) {
		case approval.Answer:
			if w, ok := a.waiters[e.Waiter]; ok {
				delete(a.waiters, e.Waiter)
				a.tellOpen(w, e.Decision)
				w.call.put(e.Decision, nil)
				answered = append(answered, e.Decision.RequestID)
			}
		case approval.Wait:
			if w, ok := a.waiters[e.Waiter]; ok {
				w.wait(e.Request)
			}
		case approval.Save:
			a.save(c, e)
		case approval.Reply:
			if reply, ok := a.replies[e.Reply]; ok {
				delete(a.replies, e.Reply)
				reply.put(struct{}{}, e.Err)
			}
		case approval.Opened:
			a.runtime.approvalsChanged(ApprovalEvent{Request: e.Request})
		case approval.Resolved:
			decision := e.Decision
			if !slices.Contains(answered, e.Request.ID) {
				a.runtime.noteDecision(decision) // Nobody waits who would record it.
			}
			a.runtime.approvalsChanged(ApprovalEvent{Request: e.Request, Decision: &decision})
		}
	}
	if change, any := a.state.TakeChange(); any {
		a.runtime.toolsChanged(change)
	}
	a.schedule(c)
}

// tellOpen tells a caller that does not wait which request it leaves with the person.
func (a *approvalsActor) tellOpen(w *approvalWaiter, decision presets.Decision) {
	if decision.Outcome != presets.OutcomePending || decision.RequestID == "" {
		return
	}
	for _, request := range a.state.Pending() {
		if request.ID == decision.RequestID {
			w.wait(request)
			return
		}
	}
}

// save stores the grants on a goroutine of the runtime. The rules ask for one save at a time.
func (a *approvalsActor) save(c actor.Context, e approval.Save) {
	root, self := c.ActorSystem().Root, c.Self()
	if a.grants == nil {
		c.Send(self, grantsSaved{id: e.ID})
		return
	}
	a.runtime.spawn("the save of grants", "", func() {
		err := a.grants.Save(context.Background(), e.Grants)
		if err != nil {
			err = fmt.Errorf("storing grants: %w", err)
		}
		root.Send(self, grantsSaved{id: e.ID, err: err})
	})
}

// schedule sets the timer for what expires next.
func (a *approvalsActor) schedule(c actor.Context) {
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
	deadline := a.state.Deadline()
	if deadline == 0 {
		return
	}
	root, self := c.ActorSystem().Root, c.Self()
	pause := time.Until(time.Unix(deadline, 0))
	a.timer = time.AfterFunc(max(pause, 0), func() { root.Send(self, approvalsDue{}) })
}

func (a *approvalsActor) stopping(actor.Context) {
	if a.timer != nil {
		a.timer.Stop()
	}
}

func (a *approvalsActor) refuse(msg any, err error) {
	switch m := msg.(type) {
	case askApproval:
		m.waiter.call.fail(err)
	case approvalCommand:
		m.reply.fail(err)
	case approvalQuery:
		m.done.fail(err)
	}
}

// ApprovalEvent tells that a request is open or has changed, or, with a decision, that it is not open any more.
type ApprovalEvent struct {
	Request  presets.Request
	Decision *presets.Decision
}
