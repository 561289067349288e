package actors_test

import (
	"encoding/json"
	"testing"

	"agentd/actors"
	"agentd/messages"
	"agentd/presets"
	"agentd/testkit"
)

// TestDecisionWithoutACallIsNoted holds the rule that a decision is an item of the session that caused it, also when the call
// that asked for it has gone: the question was asked ahead, and its turn has ended.
func TestDecisionWithoutACallIsNoted(t *testing.T) {
	t.Parallel()
	rt := testkit.NewRuntime(t, nil)
	head, err := rt.CreateSession(t.Context(), "nobody", actors.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sub, err := rt.Subscribe(t.Context(), head.ID, actors.SubscribeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	ask := presets.Ask{
		Caller: presets.Caller{SessionID: head.ID, AgentID: "nobody"}, CallID: "call-1", ToolID: "t", Name: "space_t",
		Risk: messages.RiskShell, Fingerprint: messages.Fingerprint("t", []byte("{}")), Mode: presets.AskLater,
	}
	pending, err := rt.Approvals().Request(t.Context(), ask)
	if err != nil || pending.Outcome != presets.OutcomePending {
		t.Fatalf("Request = %+v, %v, want pending", pending, err)
	}
	if err := rt.Approvals().Decide(t.Context(), pending.RequestID, presets.Answer{Verb: presets.Deny, Who: "me", Reason: "no"}); err != nil {
		t.Fatal(err)
	}
	event, err := sub.Next(t.Context())
	if err != nil || event.Kind != messages.EventItem || event.Item.EventType != "approval-decided" {
		t.Fatalf("Next = %+v, %v, want the decision as an item", event, err)
	}
	var decision presets.Decision
	if err := json.Unmarshal(event.Item.Data, &decision); err != nil || decision.Outcome != presets.OutcomeDenied || decision.Who != "me" || decision.Reason != "no" {
		t.Errorf("item = %s, %v, want who denied what, and why", event.Item.Data, err)
	}
}
