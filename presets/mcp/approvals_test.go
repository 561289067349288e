package mcp

import (
	"context"
	"fmt"
	"sync"

	"agentd/messages"
	"agentd/presets"
)

// deskApprovals is a [presets.Approvals] for tests: one lock, no store, the rules of the port. It counts what it lets run.
type deskApprovals struct {
	mu      sync.Mutex
	policy  presets.Policy
	grants  []presets.Grant
	pending map[messages.RequestID]*question
	ahead   map[aheadKey]int // approvals of later calls that are not used yet
	fail    error            // what Standing answers, if not nil
	asked   chan presets.Request
}

// question is an open request and who waits for it.
type question struct {
	request presets.Request
	waiting []*asking
	ahead   bool
}

type asking struct {
	ask    presets.Ask
	answer chan presets.Decision
}

var _ presets.Approvals = (*deskApprovals)(nil)

func newDesk() *deskApprovals {
	return &deskApprovals{
		policy: presets.DefaultPolicy(), pending: make(map[messages.RequestID]*question), ahead: make(map[aheadKey]int),
		asked: make(chan presets.Request, 1000),
	}
}

// aheadKey is what an approval of a later call is bound to.
type aheadKey struct {
	session     messages.SessionID
	tool        string
	fingerprint string
}

func (d *deskApprovals) Check(_ context.Context, q presets.Query) (presets.Verdict, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch d.policy.Rule(q.Risk) {
	case presets.RuleAuto:
		return presets.Verdict{State: presets.StateApproved, Via: presets.ViaPolicy}, nil
	case presets.RuleDeny:
		return presets.Verdict{State: presets.StateDenied, Via: presets.ViaPolicy}, nil
	case presets.RuleAsk:
	}
	for _, grant := range d.grants {
		if grant.Covers(q, 0) {
			return presets.Verdict{State: presets.StateApproved, Via: presets.ViaGrant, GrantID: grant.ID}, nil
		}
	}
	return presets.Verdict{State: presets.StateNeedsApproval}, nil
}

func (d *deskApprovals) Standing(_ context.Context, caller presets.Caller) (presets.Standing, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return presets.Standing{}, d.fail
	}
	tools := make(map[string]bool)
	for _, grant := range d.grants {
		if grant.Scope.Admits(caller) {
			tools[grant.ToolID] = true
		}
	}
	for key, n := range d.ahead {
		if n > 0 && key.session == caller.SessionID {
			tools[key.tool] = true
		}
	}
	return presets.Standing{Policy: d.policy.Clone(), Tools: tools}, nil
}

func (d *deskApprovals) decision(ask presets.Ask, outcome presets.Outcome, via presets.Via) presets.Decision {
	return presets.Decision{
		Outcome: outcome, Via: via, Caller: ask.Caller, CallID: ask.CallID, ToolID: ask.ToolID, Name: ask.Name, Risk: ask.Risk,
		Fingerprint: ask.Fingerprint, Who: "desk",
	}
}

// standing returns a decision that needs nobody, if there is one. The caller holds mu.
func (d *deskApprovals) standing(ask presets.Ask) (presets.Decision, bool) {
	switch d.policy.Rule(ask.Risk) {
	case presets.RuleAuto:
		return d.decision(ask, presets.OutcomeApproved, presets.ViaPolicy), true
	case presets.RuleDeny:
		return d.decision(ask, presets.OutcomeDenied, presets.ViaPolicy), true
	case presets.RuleAsk:
	}
	query := presets.Query{Caller: ask.Caller, ToolID: ask.ToolID, Risk: ask.Risk, Fingerprint: ask.Fingerprint}
	for _, grant := range d.grants {
		if grant.Covers(query, 0) {
			return d.decision(ask, presets.OutcomeApproved, presets.ViaGrant), true
		}
	}
	if key := (aheadKey{ask.SessionID, ask.ToolID, ask.Fingerprint}); d.ahead[key] > 0 && !ask.Ahead {
		d.ahead[key]--
		return d.decision(ask, presets.OutcomeApproved, presets.ViaOnce), true
	}
	return presets.Decision{}, false
}

func (d *deskApprovals) Request(ctx context.Context, ask presets.Ask) (presets.Decision, error) {
	d.mu.Lock()
	if decision, ok := d.standing(ask); ok {
		d.mu.Unlock()
		return decision, nil
	}
	if ask.Mode == presets.AskTry {
		d.mu.Unlock()
		return d.decision(ask, presets.OutcomePending, ""), nil
	}
	waiter := &asking{ask: ask, answer: make(chan presets.Decision, 1)}
	open := d.open(ask)
	if ask.Mode != presets.AskLater {
		open.waiting = append(open.waiting, waiter)
	}
	request := open.request
	d.mu.Unlock()
	if ask.OnPending != nil {
		if err := ask.OnPending(request); err != nil {
			d.leave(request.ID, waiter)
			return presets.Decision{}, err
		}
	}
	d.asked <- request
	if ask.Mode == presets.AskLater {
		pending := d.decision(ask, presets.OutcomePending, "")
		pending.RequestID = request.ID
		return pending, nil
	}
	select {
	case decision := <-waiter.answer:
		return decision, nil
	case <-ctx.Done():
		d.leave(request.ID, waiter)
		return presets.Decision{}, fmt.Errorf("waiting: %w", context.Cause(ctx))
	}
}

func (d *deskApprovals) open(ask presets.Ask) *question {
	for _, q := range d.pending {
		if q.request.SessionID == ask.SessionID && q.request.Fingerprint == ask.Fingerprint {
			q.ahead = q.ahead || ask.Ahead || ask.Mode == presets.AskLater
			return q
		}
	}
	q := &question{ahead: ask.Ahead || ask.Mode == presets.AskLater, request: presets.Request{
		ID: messages.NewRequestID(), Caller: ask.Caller, CallID: ask.CallID, ToolID: ask.ToolID, Name: ask.Name, Risk: ask.Risk,
		Fingerprint: ask.Fingerprint, Preview: ask.Preview, Reason: ask.Reason,
	}}
	d.pending[q.request.ID] = q
	return q
}

func (d *deskApprovals) leave(id messages.RequestID, waiter *asking) {
	d.mu.Lock()
	defer d.mu.Unlock()
	q, open := d.pending[id]
	if !open {
		return
	}
	for i, w := range q.waiting {
		if w == waiter {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			break
		}
	}
	if len(q.waiting) == 0 && !q.ahead {
		delete(d.pending, id)
	}
}

func (d *deskApprovals) Decide(_ context.Context, id messages.RequestID, answer presets.Answer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	q, open := d.pending[id]
	if !open {
		return presets.ErrUnknownRequest
	}
	delete(d.pending, id)
	outcome, via := presets.OutcomeDenied, presets.ViaPerson
	switch answer.Verb {
	case presets.ApproveOnce:
		outcome, via = presets.OutcomeApproved, presets.ViaOnce
	case presets.ApproveAlways:
		outcome, via = presets.OutcomeApproved, presets.ViaAlways
		d.grants = append(d.grants, presets.Grant{
			ID: presets.GrantID(messages.RandomID(presets.GrantPrefix)), ToolID: q.request.ToolID, Name: q.request.Name,
			Risk: q.request.Risk, Fingerprint: q.request.Fingerprint, Scope: answer.Scope,
		})
	case presets.Deny:
	}
	for i, w := range q.waiting {
		decision := d.decision(w.ask, outcome, via)
		decision.RequestID, decision.Who, decision.Reason = id, answer.Who, answer.Reason
		if via == presets.ViaOnce && i > 0 {
			decision.Outcome = presets.OutcomeCancelled // One approval, one call.
		}
		w.answer <- decision
	}
	if via == presets.ViaOnce && len(q.waiting) == 0 {
		d.ahead[aheadKey{q.request.SessionID, q.request.ToolID, q.request.Fingerprint}]++
	}
	return nil
}

func (d *deskApprovals) Pending(context.Context) ([]presets.Request, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []presets.Request
	for _, q := range d.pending {
		out = append(out, q.request)
	}
	return out, nil
}

func (d *deskApprovals) Grants(context.Context) ([]presets.Grant, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]presets.Grant(nil), d.grants...), nil
}

func (d *deskApprovals) Revoke(_ context.Context, id presets.GrantID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, grant := range d.grants {
		if grant.ID == id {
			d.grants = append(d.grants[:i], d.grants[i+1:]...)
			return nil
		}
	}
	return presets.ErrUnknownGrant
}

func (d *deskApprovals) Release(context.Context, presets.Caller) error { return nil }

func (d *deskApprovals) setPolicy(risk messages.Risk, rule presets.Rule) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.policy = d.policy.Clone()
	d.policy[risk] = rule
}

// reset forgets everything but who waits.
func (d *deskApprovals) reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.policy, d.grants = presets.DefaultPolicy(), nil
	clear(d.ahead)
	clear(d.pending)
	for len(d.asked) > 0 {
		<-d.asked
	}
}

func (d *deskApprovals) setFailure(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = err
}
