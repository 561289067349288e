package actors

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

	"agentd/actors/internal/approval"
	"agentd/messages"
	"agentd/presets"
)

// Approvals is a person's and a tool's way to the approvals actor: the [presets.Approvals] of a runtime.
type Approvals struct {
	root *actor.RootContext
	pid  *actor.PID
	// gone is closed when the runtime has stopped.
	gone   <-chan struct{}
	waiter atomic.Uint64
}

var _ presets.Approvals = (*Approvals)(nil)

// Check implements [presets.Approvals].
func (a *Approvals) Check(ctx context.Context, query presets.Query) (verdict presets.Verdict, err error) {
	err = a.read(ctx, func(now int64, s *approval.State) { verdict = s.Check(now, query) })
	return verdict, err
}

// Standing implements [presets.Approvals].
func (a *Approvals) Standing(ctx context.Context, caller presets.Caller) (standing presets.Standing, err error) {
	err = a.read(ctx, func(now int64, s *approval.State) { standing = s.Standing(now, caller) })
	return standing, err
}

// Pending implements [presets.Approvals].
func (a *Approvals) Pending(ctx context.Context) (pending []presets.Request, err error) {
	err = a.read(ctx, func(_ int64, s *approval.State) { pending = s.Pending() })
	return pending, err
}

// Grants implements [presets.Approvals].
func (a *Approvals) Grants(ctx context.Context) (grants []presets.Grant, err error) {
	err = a.read(ctx, func(now int64, s *approval.State) { grants = s.Grants(now) })
	return grants, err
}

// read runs a query on the actor's goroutine. The result belongs to the caller only if the error is nil.
func (a *Approvals) read(ctx context.Context, query func(now int64, s *approval.State)) error {
	done := newCall[struct{}]()
	a.root.Send(a.pid, approvalQuery{read: query, done: done})
	_, err := done.wait(ctx, a.gone)
	return a.named(err)
}

// Request implements [presets.Approvals]. When the context ends, or OnPending fails, the waiter leaves.
func (a *Approvals) Request(ctx context.Context, ask presets.Ask) (presets.Decision, error) {
	id := approval.WaiterID(a.waiter.Add(1))
	w := &approvalWaiter{pending: make(chan presets.Request, 1), call: newCall[presets.Decision]()}
	onPending := ask.OnPending
	ask.OnPending = nil
	a.root.Send(a.pid, askApproval{id: id, ask: ask, waiter: w})
	if onPending != nil {
		if err := a.follow(ctx, w, onPending); err != nil {
			a.leave(id, "the call could not be recorded")
			return presets.Decision{}, err
		}
	}
	decision, err := w.call.wait(ctx, a.gone)
	if err != nil {
		a.leave(id, "the caller has gone")
		return presets.Decision{}, a.named(err)
	}
	return decision, nil
}

// follow tells of each request that the waiter waits on, until there is an answer, or nobody to wait for it.
func (a *Approvals) follow(ctx context.Context, w *approvalWaiter, onPending func(presets.Request) error) error {
	for {
		select {
		case request := <-w.pending:
			if err := onPending(request); err != nil {
				return err
			}
		case <-w.call.answered:
			select {
			case request := <-w.pending:
				return onPending(request) // It was asked before it was answered.
			default:
				return nil
			}
		case <-ctx.Done():
			return nil
		case <-a.gone:
			return nil
		}
	}
}

func (a *Approvals) leave(id approval.WaiterID, reason string) {
	a.root.Send(a.pid, tellApproval{command: approval.Leave{Waiter: id, Reason: reason}})
}

// Decide implements [presets.Approvals].
func (a *Approvals) Decide(ctx context.Context, id messages.RequestID, answer presets.Answer) error {
	fresh, grant := messages.NewRequestID(), presets.GrantID(messages.RandomID(presets.GrantPrefix))
	return a.command(ctx, func(reply approval.ReplyID) approval.Command {
		return approval.Decide{Reply: reply, Request: id, Answer: answer, FreshID: fresh, GrantID: grant}
	})
}

// Revoke implements [presets.Approvals].
func (a *Approvals) Revoke(ctx context.Context, id presets.GrantID) error {
	return a.command(ctx, func(reply approval.ReplyID) approval.Command {
		return approval.Revoke{Reply: reply, Grant: id}
	})
}

// Release implements [presets.Approvals].
func (a *Approvals) Release(ctx context.Context, caller presets.Caller) error {
	a.tell(approval.Release{Caller: caller, Reason: "the turn has ended"})
	return a.read(ctx, func(int64, *approval.State) {})
}

// SetPolicy replaces the policy. Open requests that it answers are answered.
func (a *Approvals) SetPolicy(ctx context.Context, policy presets.Policy) error {
	if err := policy.Validate(); err != nil {
		return err
	}
	a.tell(approval.SetPolicy{Policy: policy.Clone()})
	return a.read(ctx, func(int64, *approval.State) {})
}

func (a *Approvals) tell(command approval.Command) {
	a.root.Send(a.pid, tellApproval{command: command})
}

func (a *Approvals) command(ctx context.Context, make func(approval.ReplyID) approval.Command) error {
	reply := newCall[struct{}]()
	a.root.Send(a.pid, approvalCommand{command: make, reply: reply})
	_, err := reply.wait(ctx, a.gone)
	return a.named(err)
}

func (a *Approvals) named(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrClosing):
		err = ErrStopping // The actor leaves with the runtime only.
	}
	return fmt.Errorf("approvals: %w", err)
}
