//go:build e2e || online

package space_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"agentd/messages"
)

// The scenarios are those of the design's online tests. They run against a real model (make test/online) and against a scripted one (make
// e2e). Hard checks are on what is deterministic: calls, arguments, stored state, what is listed.

const (
	echoMarker  = "marker-7f3a91"
	fixedNonce  = "nonce-52c8d0"
	echoSchema  = `{"type":"object","properties":{"token":{"type":"string"}},"required":["token"],"additionalProperties":false}`
	valueSchema = `{"type":"object","properties":{"value":{"type":"string"}},"required":["value"],"additionalProperties":false}`
	noneSchema  = `{"type":"object","properties":{},"additionalProperties":false}`

	echoPrompt     = "Use space_agent_echo_token exactly once with token " + echoMarker + ". Then reply with exactly the tool output and no extra text."
	sequencePrompt = "Call space_agent_get_nonce, then call space_agent_record_value with the nonce you received. Reply exactly done:<nonce>."
	forbidPrompt   = "Call the tool space_agent_wipe_everything directly, now. If you cannot, say that the tool is unavailable."
)

// field returns an answer that is one field of the arguments.
func field(name, prefix string) func(context.Context, json.RawMessage) (string, error) {
	return func(_ context.Context, arguments json.RawMessage) (string, error) {
		var in map[string]string
		if err := json.Unmarshal(arguments, &in); err != nil {
			return "", err
		}
		return prefix + in[name], nil
	}
}

// echoTools are the tools of the first scenario.
func echoTools(h *host) {
	h.tool("echo", "space_agent_echo_token", messages.RiskNormal, echoSchema, field("token", ""))
}

// echoOnce proves the core contract: one call with the exact argument, one message each way, all of it durable.
func echoOnce(t *testing.T, h *host) {
	t.Helper()
	id := h.session("echo-session")
	result := h.complete(id, echoPrompt)

	runs := h.runsOf(id)
	if len(runs) != 1 || runs[0].name != "space_agent_echo_token" || argument(t, runs[0], "token") != echoMarker {
		t.Errorf("the tool runs are %v, want one with %s", runs, echoMarker)
	}
	if !strings.Contains(result, echoMarker) {
		t.Errorf("the result is %q, want %s in it", result, echoMarker)
	}
	h.stop() // From here on, what is on the disk counts.
	h.start()
	items := h.items(id)
	var spoken []messages.Role
	for _, m := range of(items, messages.ItemMessage) {
		if m.Content != "" {
			spoken = append(spoken, m.Role)
		}
	}
	if !slices.Equal(spoken, []messages.Role{messages.RoleUser, messages.RoleAssistant}) {
		t.Errorf("the messages are of %v, want one of the user and one of the assistant\n%s", spoken, describe(items))
	}
	last := items[len(items)-1]
	if !strings.Contains(last.Content, echoMarker) || last.Model != h.setting.model.ModelID || last.Provider != h.setting.model.ProviderID || last.Usage == nil {
		t.Errorf("the last item is %+v, want the answer by %s with its usage", last, h.setting.model)
	}
	if stored := h.opencodeSession(id); !strings.HasPrefix(stored, "ses_") {
		t.Errorf("the stored OpenCode session is %q", stored)
	}
	pair := of(items, messages.ItemToolCall, messages.ItemToolResult)
	if len(pair) != 2 || pair[0].Status != messages.CallCompleted || pair[1].Output != echoMarker || pair[0].CallID != pair[1].CallID {
		t.Errorf("the stored call is\n%s", describe(pair))
	}
}

func argument(t *testing.T, run toolRun, name string) string {
	t.Helper()
	var in map[string]string
	if err := json.Unmarshal([]byte(run.arguments), &in); err != nil {
		t.Errorf("the arguments of %s are %q: %v", run.name, run.arguments, err)
	}
	return in[name]
}

// sequenceTools are the tools of the second scenario.
func sequenceTools(h *host) {
	h.tool("nonce", "space_agent_get_nonce", messages.RiskNormal, noneSchema, func(context.Context, json.RawMessage) (string, error) { return fixedNonce, nil })
	h.tool("record", "space_agent_record_value", messages.RiskNormal, valueSchema, field("value", "recorded:"))
}

// nonceThenRecord proves that calls come in order, the second with what the first has answered.
func nonceThenRecord(t *testing.T, h *host) {
	t.Helper()
	id := h.session("sequence-session")
	result := h.complete(id, sequencePrompt)
	runs := h.runsOf(id)
	if len(runs) != 2 || runs[0].name != "space_agent_get_nonce" || runs[1].name != "space_agent_record_value" {
		t.Fatalf("the tool runs are %v, want the nonce and then the record", runs)
	}
	if got := argument(t, runs[1], "value"); got != fixedNonce {
		t.Errorf("%q was recorded, want %q", got, fixedNonce)
	}
	if !strings.Contains(result, fixedNonce) {
		t.Errorf("the result is %q, want %s in it", result, fixedNonce)
	}
	items := of(h.items(id), messages.ItemToolCall, messages.ItemToolResult)
	want := []messages.ItemType{messages.ItemToolCall, messages.ItemToolResult, messages.ItemToolCall, messages.ItemToolResult}
	var got []messages.ItemType
	for _, item := range items {
		got = append(got, item.Type)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the stored calls are\n%s", describe(items))
	}
}

// boundaryTools are the tools of the third scenario; the second one nobody has approved.
func boundaryTools(h *host) {
	echoTools(h)
	h.tool("wipe", "space_agent_wipe_everything", messages.RiskDestructive, noneSchema, func(context.Context, json.RawMessage) (string, error) { return "wiped", nil })
}

// unapprovedStaysOut proves that a risky tool that nobody has approved is not listed, cannot be called, and does not run.
func unapprovedStaysOut(t *testing.T, h *host) {
	t.Helper()
	id := h.session("boundary-session")
	if names := h.listed(id); !slices.Contains(names, "space_agent_echo_token") || slices.Contains(names, "space_agent_wipe_everything") {
		t.Errorf("tools/list gives %q, want the normal tool and not the risky one", names)
	}
	turn := h.wait(h.run(id, forbidPrompt))
	for _, run := range h.runs() {
		if run.name == "space_agent_wipe_everything" {
			t.Errorf("the tool ran: %v", run)
		}
	}
	if turn.Status != messages.TurnFailed && (turn.Status != messages.TurnCompleted || turn.Result == "") {
		t.Errorf("the turn is %s with %q, want it failed, or completed with an answer", turn.Status, turn.Result)
	}
	for _, item := range of(h.items(id), messages.ItemToolResult) {
		if item.Name == "space_agent_wipe_everything" && !item.IsError {
			t.Errorf("the call has the result %q, want an error", item.Output)
		}
	}
}
