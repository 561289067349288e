//go:build e2e

package space_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentd/actors"
	"agentd/actors/agents/space"
	"agentd/messages"
	ms "agentd/testkit/modelserver"
)

func TestE2EEcho(t *testing.T) {
	model := newModel(t,
		on(echoPrompt, 1, ms.CallLike("space_agent_echo_token", map[string]string{"token": echoMarker})),
		repeat(echoPrompt, 2, ""),
		on("once more", 1, ms.Reply{Reasoning: "let me think", Text: "here I am"}),
	)
	h := real(t, model, func(s *setting) { s.before = echoTools })
	echoOnce(t, h)
	t.Logf("OpenCode %s", model.Turns()[0].Header.Get("User-Agent"))

	// What the model got: the four blocks, our tool, and none of OpenCode's own.
	request := model.Turns()[0]
	for _, want := range []string{
		"## Instructions\n", space.DefaultInstructions, "## Context\n", "active world available", "## Available Capabilities\n", "echo", "## Capability Guidance\n",
		"Use space_agent_echo_token when you are asked to.",
	} {
		if !strings.Contains(request.System, want) {
			t.Errorf("the system prompt lacks %q", want)
		}
	}
	names := request.ToolNames()
	slices.Sort(names)
	if want := []string{"space_space_agent_echo_token", "space_space_agent_request_tool_approval"}; !slices.Equal(names, want) {
		t.Errorf("the model was offered %q, want %q", names, want)
	}

	// echoOnce has restarted everything. The same OpenCode session goes on, with its history.
	const id = "echo-session"
	before := h.opencodeSession(id)
	if got := h.complete(id, "once more"); got != "here I am" {
		t.Errorf("after the restart the result is %q", got)
	}
	if after := h.opencodeSession(id); after != before {
		t.Errorf("after the restart the OpenCode session is %q, want the stored %q", after, before)
	}
	turns := model.Turns()
	if n := len(turns[len(turns)-1].Messages); n != 5 {
		t.Errorf("after the restart the model got %d messages, want the prompt and the history of 4", n)
	}
	items := h.items(id)
	last := items[len(items)-2:]
	if last[0].Type != messages.ItemReasoning || last[0].Content != "let me think" || last[0].StreamStatus != messages.StreamComplete {
		t.Errorf("the stored reasoning is\n%s", describe(last))
	}
}

// cancelled cancels a turn and checks that OpenCode has nothing left to do.
func cancelled(t *testing.T, handle *actors.TurnHandle) {
	t.Helper()
	ctx, done := context.WithTimeout(t.Context(), patience)
	defer done()
	begin := time.Now()
	if err := handle.Cancel(ctx); err != nil {
		t.Fatal(err)
	}
	t.Logf("cancelled in %s", time.Since(begin).Round(time.Millisecond))
	if turn := handle.Turn(); turn.Status != messages.TurnCancelled || strings.Contains(turn.Error, "hook") {
		t.Errorf("the turn is %s: %s", turn.Status, turn.Error)
	}
}

func draftOf(h *host, id messages.SessionID, text string) error {
	for _, item := range h.items(id) {
		if item.Content == text {
			return nil
		}
	}
	return fmt.Errorf("no item says %q", text)
}

func outcome(model *ms.Server, prompt string, want ms.Outcome, n int) error {
	got := 0
	for _, r := range model.Turns() {
		if r.Outcome == want && r.Prompt() == prompt {
			got++
		}
	}
	if got < n {
		return fmt.Errorf("%d requests are %s, want %d", got, want, n)
	}
	return nil
}

func atLeast(counter *atomic.Int32, n int32) error {
	if got := counter.Load(); got < n {
		return fmt.Errorf("%d, want %d", got, n)
	}
	return nil
}
