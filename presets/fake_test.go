package presets

import (
	"context"
	"sync"

	"agentd/messages"
)

// fakeApprovals is an [Approvals] whose answers a test sets. What is nil follows the default policy and grants nothing.
type fakeApprovals struct {
	policy  Policy
	usable  map[string]bool
	request func(ctx context.Context, ask Ask) (Decision, error)

	mu    sync.Mutex
	asked []Ask
}

var _ Approvals = (*fakeApprovals)(nil)

func (f *fakeApprovals) Check(_ context.Context, query Query) (Verdict, error) {
	switch f.policy.Rule(query.Risk) {
	case RuleAuto:
		return Verdict{State: StateApproved, Via: ViaPolicy}, nil
	case RuleDeny:
		return Verdict{State: StateDenied, Via: ViaPolicy}, nil
	default:
		return Verdict{State: StateNeedsApproval}, nil
	}
}

func (f *fakeApprovals) Standing(context.Context, Caller) (Standing, error) {
	return Standing{Policy: f.policy, Tools: f.usable}, nil
}

func (f *fakeApprovals) Request(ctx context.Context, ask Ask) (Decision, error) {
	f.mu.Lock()
	f.asked = append(f.asked, ask)
	f.mu.Unlock()
	if f.request != nil {
		return f.request(ctx, ask)
	}
	switch f.policy.Rule(ask.Risk) {
	case RuleAuto:
		return decisionOn(ask, OutcomeApproved), nil
	case RuleDeny:
		return decisionOn(ask, OutcomeDenied), nil
	default:
		return decisionOn(ask, OutcomePending), nil
	}
}

func (*fakeApprovals) Decide(context.Context, messages.RequestID, Answer) error {
	return ErrUnknownRequest
}
func (*fakeApprovals) Pending(context.Context) ([]Request, error) { return nil, nil }
func (*fakeApprovals) Grants(context.Context) ([]Grant, error)    { return nil, nil }
func (*fakeApprovals) Revoke(context.Context, GrantID) error      { return ErrUnknownGrant }
func (*fakeApprovals) Release(context.Context, Caller) error      { return nil }

func decisionOn(ask Ask, outcome Outcome) Decision {
	return Decision{
		Outcome: outcome, Via: ViaPolicy, Caller: ask.Caller, CallID: ask.CallID, ToolID: ask.ToolID, Name: ask.Name,
		Risk: ask.Risk, Fingerprint: ask.Fingerprint, Who: "policy",
	}
}

// personSays opens a request, and answers it at once.
func personSays(outcome Outcome) func(context.Context, Ask) (Decision, error) {
	return func(_ context.Context, ask Ask) (Decision, error) {
		if ask.Mode == AskTry {
			return decisionOn(ask, OutcomePending), nil
		}
		if err := ask.OnPending(Request{ID: "r1", Caller: ask.Caller, CallID: ask.CallID}); err != nil {
			return Decision{}, err
		}
		decision := decisionOn(ask, outcome)
		decision.RequestID, decision.Who, decision.Reason = "r1", "ann", "said so"
		return decision, nil
	}
}
