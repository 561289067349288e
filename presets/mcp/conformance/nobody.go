package main

import (
	"context"

	"agentd/messages"
	"agentd/presets"
)

// nobody is the approvals of a program in which nobody can be asked: what is normal runs, everything else is denied.
type nobody struct{}

var _ presets.Approvals = nobody{}

func (nobody) policy() presets.Policy {
	policy := presets.Policy{}
	for _, risk := range messages.Risks() {
		policy[risk] = presets.RuleDeny
	}
	return policy
}

func (nobody) Check(context.Context, presets.Query) (presets.Verdict, error) {
	return presets.Verdict{State: presets.StateDenied, Via: presets.ViaPolicy}, nil
}

func (n nobody) Standing(context.Context, presets.Caller) (presets.Standing, error) {
	return presets.Standing{Policy: n.policy()}, nil
}

func (nobody) Request(_ context.Context, ask presets.Ask) (presets.Decision, error) {
	return presets.Decision{
		Outcome: presets.OutcomeDenied, Via: presets.ViaPolicy, Caller: ask.Caller, CallID: ask.CallID, ToolID: ask.ToolID,
		Name: ask.Name, Risk: ask.Risk, Fingerprint: ask.Fingerprint, Who: "policy",
	}, nil
}

func (nobody) Decide(context.Context, messages.RequestID, presets.Answer) error {
	return presets.ErrUnknownRequest
}
func (nobody) Pending(context.Context) ([]presets.Request, error) { return nil, nil }
func (nobody) Grants(context.Context) ([]presets.Grant, error)    { return nil, nil }
func (nobody) Revoke(context.Context, presets.GrantID) error      { return presets.ErrUnknownGrant }
func (nobody) Release(context.Context, presets.Caller) error      { return nil }
