package approval_test

import (
	"context"
	"sync"
	"testing"

	"agentd/actors/internal/approval"
	"agentd/messages"
	"agentd/presets"
)

// desk is the smallest shell around the rules: a lock and a channel for each waiter. It stores grants in memory.
type desk struct {
	tb testing.TB

	mu       sync.Mutex
	state    *approval.State
	now      int64
	next     uint64
	waiters  map[approval.WaiterID]chan approval.Effect
	replies  map[approval.ReplyID]error
	stored   []presets.Grant
	resolved []presets.Decision
	opened   chan messages.RequestID // what people are told; nil for nobody
}

var _ presets.Approvals = (*desk)(nil)

func newDesk(tb testing.TB, params approval.Params) *desk {
	tb.Helper()
	return &desk{
		tb: tb, state: approval.New(params), now: 1000,
		waiters: map[approval.WaiterID]chan approval.Effect{}, replies: map[approval.ReplyID]error{},
	}
}

// step performs the effects of a command. The caller holds mu.
func (d *desk) step(command approval.Command) {
	for _, effect := range d.state.Step(d.now, command) {
		switch e := effect.(type) {
		case approval.Answer:
			d.waiters[e.Waiter] <- e
		case approval.Wait:
			d.waiters[e.Waiter] <- e
		case approval.Save:
			d.stored = e.Grants
			d.step(approval.Saved{ID: e.ID})
		case approval.Reply:
			d.replies[e.Reply] = e.Err
		case approval.Resolved:
			d.resolved = append(d.resolved, e.Decision)
		case approval.Opened:
			if d.opened != nil {
				d.opened <- e.Request.ID
			}
		}
	}
	if err := d.state.Broken(); err != nil {
		d.tb.Error(err)
	}
}

func (d *desk) Check(_ context.Context, query presets.Query) (presets.Verdict, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state.Check(d.now, query), nil
}

func (d *desk) Standing(_ context.Context, caller presets.Caller) (presets.Standing, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state.Standing(d.now, caller), nil
}

func (d *desk) Request(ctx context.Context, ask presets.Ask) (presets.Decision, error) {
	inbox := make(chan approval.Effect, 256)
	d.mu.Lock()
	d.next++
	waiter := approval.WaiterID(d.next)
	d.waiters[waiter] = inbox
	d.step(approval.Ask{Waiter: waiter, Ask: ask, FreshID: messages.NewRequestID()})
	d.mu.Unlock()
	leave := func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.step(approval.Leave{Waiter: waiter, Reason: "left"})
	}
	for {
		select {
		case effect := <-inbox:
			if answer, is := effect.(approval.Answer); is {
				return answer.Decision, nil
			}
			if err := ask.OnPending(effect.(approval.Wait).Request); err != nil {
				leave()
				return presets.Decision{}, err
			}
		case <-ctx.Done():
			leave()
			return presets.Decision{}, context.Cause(ctx)
		}
	}
}

func (d *desk) Decide(_ context.Context, id messages.RequestID, answer presets.Answer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.next++
	reply := approval.ReplyID(d.next)
	grant := presets.GrantID(presets.GrantPrefix + string(messages.NewRequestID()))
	d.step(approval.Decide{Reply: reply, Request: id, Answer: answer, FreshID: messages.NewRequestID(), GrantID: grant})
	return d.replies[reply]
}

func (d *desk) Pending(context.Context) ([]presets.Request, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state.Pending(), nil
}

func (d *desk) Grants(context.Context) ([]presets.Grant, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state.Grants(d.now), nil
}

func (d *desk) Revoke(_ context.Context, id presets.GrantID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.next++
	d.step(approval.Revoke{Reply: approval.ReplyID(d.next), Grant: id})
	return d.replies[approval.ReplyID(d.next)]
}

func (d *desk) Release(_ context.Context, caller presets.Caller) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.step(approval.Release{Caller: caller, Reason: "released"})
	return nil
}
