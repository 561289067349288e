//go:build e2e

package space_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"agentd/actors"
	"agentd/actors/agents/space"
	"agentd/messages"
	"agentd/presets"
	"agentd/presets/builtin/shell"
	"agentd/providers/opencode"
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

func TestE2ESequence(t *testing.T) {
	model := newModel(t,
		on(sequencePrompt, 1, ms.Reply{
			Text: "First the nonce.", Calls: []ms.ToolCall{{Name: "space_agent_get_nonce", Loose: true}}, Usage: &ms.Usage{Input: 100, Output: 10},
		}),
		ms.Step{When: ms.Match{Prompt: sequencePrompt, TurnStep: 2}, Make: func(r ms.Request) ms.Reply {
			return ms.Reply{
				Calls: []ms.ToolCall{{Name: "space_agent_record_value", Loose: true, Arguments: fmt.Sprintf(`{"value":%q}`, r.Last().Text)}},
				Usage: &ms.Usage{Input: 200, CachedInput: 50, Output: 20, Reasoning: 5},
			}
		}},
		on(sequencePrompt, 3, ms.Reply{Text: "done:" + fixedNonce, Usage: &ms.Usage{Input: 300, Output: 30}}),
	)
	h := real(t, model, func(s *setting) { s.before = sequenceTools })
	nonceThenRecord(t, h)

	items := h.items("sequence-session")
	var kinds []messages.ItemType
	for _, item := range items {
		kinds = append(kinds, item.Type)
	}
	want := []messages.ItemType{"message", "message", "tool-call", "tool-result", "tool-call", "tool-result", "message"}
	if !slices.Equal(kinds, want) || items[1].Content != "First the nonce." || items[1].StreamStatus != messages.StreamComplete {
		t.Errorf("the items are\n%s", describe(items))
	}
	usage := items[len(items)-1].Usage
	if usage == nil || usage.InputTokens != 600 || usage.CacheReadTokens != 50 || usage.OutputTokens+usage.ReasoningTokens < 60 {
		t.Errorf("the usage is %+v, want that of all steps together", usage)
	}
}

func TestE2EBoundary(t *testing.T) {
	model := newModel(t,
		on(forbidPrompt, 1, ms.Call("space_space_agent_wipe_everything", nil)),
		on(forbidPrompt, 2, ms.Say("The tool is unavailable.")),
		on("and bash", 1, ms.Call("bash", map[string]string{"command": "touch hacked", "description": "writes"})),
		on("and bash", 2, ms.Say("No shell either.")),
	)
	h := real(t, model, func(s *setting) { s.before = boundaryTools })
	unapprovedStaysOut(t, h)
	if got := h.complete("boundary-session", "and bash"); got != "No shell either." {
		t.Errorf("the result is %q", got)
	}
	for _, request := range model.Turns() {
		if slices.ContainsFunc(request.ToolNames(), func(name string) bool { return strings.Contains(name, "wipe") || name == "bash" }) {
			t.Errorf("the model was offered %q", request.ToolNames())
		}
	}
	// Calls that did not reach us are in the history all the same, once each.
	items := of(h.items("boundary-session"), messages.ItemToolCall, messages.ItemToolResult)
	if len(items) != 4 || items[0].Name != "space_agent_wipe_everything" || items[2].Name != "bash" || !items[1].IsError || !items[3].IsError {
		t.Errorf("the stored calls are\n%s", describe(items))
	}
}

// hold is a tool that waits until its call is cancelled, and says so.
func hold(running, ended *atomic.Int32) func(context.Context, json.RawMessage) (string, error) {
	return func(ctx context.Context, _ json.RawMessage) (string, error) {
		running.Add(1)
		defer ended.Add(1)
		<-ctx.Done()
		return "", context.Cause(ctx)
	}
}

func TestE2ECancel(t *testing.T) {
	const script = "echo $$ > pid.new && mv pid.new pid && sleep 300; true"
	model := newModel(t,
		on("talk", 1, ms.HangAfter("this is the beginning of")),
		on("hold", 1, ms.CallLike("space_hold", nil)),
		on("shell", 1, ms.CallLike("space_shell_run", map[string]any{"command": script, "timeout_seconds": 300})),
		on("what now", 1, ms.Say("going on")),
	)
	var running, ended atomic.Int32
	h := real(t, model, func(s *setting) {
		s.policy = presets.Policy{messages.RiskNormal: presets.RuleAuto, messages.RiskShell: presets.RuleAuto}
		s.before = func(h *host) {
			h.tool("hold", "space_hold", messages.RiskNormal, noneSchema, hold(&running, &ended))
			bundle, err := shell.New(nil)
			if err == nil {
				err = h.manager.Install(bundle)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	})
	id := h.session("")

	t.Run("during text", func(t *testing.T) {
		handle := h.run(id, "talk")
		eventually(t, "the draft", func() error { return draftOf(h, id, "this is the beginning of") })
		cancelled(t, h, handle)
		eventually(t, "the model to be hung up on", func() error { return outcome(model, ms.ClientGone, 1) })
		items := h.items(id)
		if i := slices.IndexFunc(items, func(item *messages.Item) bool { return item.Content == "this is the beginning of" }); i < 0 ||
			items[i].StreamStatus != messages.StreamInterrupted {
			t.Errorf("the draft is not kept as interrupted:\n%s", describe(items))
		}
	})
	t.Run("during a tool call", func(t *testing.T) {
		handle := h.run(id, "hold")
		eventually(t, "the tool to run", func() error { return atLeast(&running, 1) })
		cancelled(t, h, handle)
		if ended.Load() != 1 {
			t.Error("the tool runs on after the turn")
		}
		pair := of(h.items(id), messages.ItemToolCall, messages.ItemToolResult)
		if len(pair) != 2 || pair[0].Status != messages.CallInterrupted || !pair[1].IsError {
			t.Errorf("the stored call is\n%s", describe(pair))
		}
	})
	t.Run("during a shell command", func(t *testing.T) {
		handle := h.run(id, "shell")
		var child int
		eventually(t, "the command to run", func() error {
			data, err := os.ReadFile(filepath.Join(h.setting.root, "workspace", "pid"))
			if err == nil {
				child, err = strconv.Atoi(strings.TrimSpace(string(data)))
			}
			return err
		})
		if !alive(child) {
			t.Fatal("the command does not run")
		}
		cancelled(t, h, handle)
		if alive(child) {
			t.Errorf("the shell (process %d) lives on after the turn", child)
		}
	})
	// OpenCode's side is at rest, and the session goes on.
	if got := h.complete(id, "what now"); got != "going on" {
		t.Errorf("after the cancels the result is %q", got)
	}
	// A turn that takes the place of another.
	first := h.run(id, "talk")
	eventually(t, "the draft", func() error { return outcome(model, ms.Hanging, 1) })
	if got := h.complete(id, "what now"); got != "going on" {
		t.Errorf("after being replaced the result is %q", got)
	}
	if first.Status() != messages.TurnCancelled {
		t.Errorf("the replaced turn is %s", first.Status())
	}
}

// cancelled cancels a turn and checks that OpenCode has nothing left to do.
func cancelled(t *testing.T, h *host, handle *actors.TurnHandle) {
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

func outcome(model *ms.Server, want ms.Outcome, n int) error {
	got := 0
	for _, r := range model.Turns() {
		if r.Outcome == want {
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

// A preset that is switched while a turn runs is seen by the model in its next step.
func TestE2ESwitch(t *testing.T) {
	model := newModel(t,
		on("switch", 1, ms.CallLike("space_switch", nil)),
		on("switch", 2, ms.CallLike("space_late", nil)),
		on("switch", 3, ms.Say("switched")),
		on("again", 1, ms.Say("still here")),
	)
	h := real(t, model, func(s *setting) {
		s.before = func(h *host) {
			h.tool("late", "space_late", messages.RiskNormal, noneSchema, func(context.Context, json.RawMessage) (string, error) { return "late", nil })
			h.tool("switch", "space_switch", messages.RiskNormal, noneSchema, func(ctx context.Context, _ json.RawMessage) (string, error) {
				err := errors.Join(h.manager.SetOverride(ctx, "", "late", presets.OverrideOn), h.manager.SetOverride(ctx, "", "switch", presets.OverrideOff))
				return "switched", err
			})
			if err := h.manager.SetOverride(t.Context(), "", "late", presets.OverrideOff); err != nil {
				t.Fatal(err)
			}
		}
	})
	id := h.session("")
	if got := h.complete(id, "switch"); got != "switched" {
		t.Errorf("the result is %q", got)
	}
	turns := model.Turns()
	for i, want := range []struct{ has, lacks string }{{"space_space_switch", "space_space_late"}, {"space_space_late", "space_space_switch"}} {
		if names := turns[i].ToolNames(); !slices.Contains(names, want.has) || slices.Contains(names, want.lacks) {
			t.Errorf("in step %d the model was offered %q, want %s and not %s", i+1, names, want.has, want.lacks)
		}
	}
	if runs := h.runs(); len(runs) != 2 || runs[1].name != "space_late" {
		t.Errorf("the tools ran as %v", runs)
	}
}

// Two sessions at once, with different presets, on one OpenCode: neither sees the other's tools, nor its answers.
func TestE2ETwoSessions(t *testing.T) {
	const rounds = 3
	answer := func(r ms.Request) ms.Reply {
		who, _, _ := strings.Cut(r.Prompt(), " ")
		return ms.Reply{Calls: []ms.ToolCall{{Name: "space_of_" + who, Loose: true, Arguments: fmt.Sprintf(`{"token":%q}`, r.Prompt())}}, Delay: 20 * time.Millisecond}
	}
	model := newModel(t,
		ms.Step{When: ms.Match{Prompt: "round", TurnStep: 1}, Make: answer, Times: ms.Always},
		repeat("round", 2, "it said "),
	)
	h := real(t, model, func(s *setting) {
		s.before = func(h *host) {
			for _, who := range []string{"anna", "ben"} {
				h.tool(who, "space_of_"+who, messages.RiskNormal, echoSchema, field("token", who+" hears "))
				err := errors.Join(
					h.manager.SetOverride(t.Context(), "", who, presets.OverrideOff),
					h.manager.SetOverride(t.Context(), messages.SessionID(who), who, presets.OverrideOn),
				)
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	})
	h.session("anna")
	h.session("ben")
	for i := range rounds {
		handles := map[string]*actors.TurnHandle{}
		for _, who := range []string{"anna", "ben"} {
			handles[who] = h.run(messages.SessionID(who), fmt.Sprintf("%s round %d", who, i))
		}
		for who, handle := range handles {
			turn := h.wait(handle)
			if want := fmt.Sprintf("it said %s hears %s round %d", who, who, i); turn.Result != want {
				t.Errorf("%s got %q (%s %s), want %q", who, turn.Result, turn.Status, turn.Error, want)
			}
		}
	}
	for _, request := range model.Turns() {
		who, _, _ := strings.Cut(request.Prompt(), " ")
		for _, other := range []string{"anna", "ben"} {
			if offered := slices.Contains(request.ToolNames(), "space_space_of_"+other); offered != (who == other) {
				t.Errorf("%s was offered %q", who, request.ToolNames())
			}
		}
	}
	for _, run := range h.runs() {
		if !strings.HasSuffix(run.name, string(run.session)) {
			t.Errorf("%s ran for session %s", run.name, run.session)
		}
	}
	if n := len(h.runs()); n != 2*rounds {
		t.Errorf("the tools ran %d times, want %d", n, 2*rounds)
	}
}

// A killed OpenCode fails the turn with the cause, its calls are closed, and the next turn gets a fresh one with the same session.
func TestE2EKilled(t *testing.T) {
	var running, ended atomic.Int32
	model := newModel(t,
		on("first", 1, ms.Say("remember this")),
		on("hang", 1, ms.HangAfter("half of an answer")),
		on("hold", 1, ms.CallLike("space_hold", nil)),
		on("after", 1, ms.Say("back again")),
	)
	h := real(t, model, func(s *setting) {
		s.before = func(h *host) { h.tool("hold", "space_hold", messages.RiskNormal, noneSchema, hold(&running, &ended)) }
	})
	id := h.session("")
	h.complete(id, "first")
	before := h.opencodeSession(id)
	for prompt, ready := range map[string]func() error{
		"hang": func() error { return outcome(model, ms.Hanging, 1) },
		"hold": func() error { return atLeast(&running, 1) },
	} {
		handle := h.run(id, prompt)
		eventually(t, "the turn to be in its middle", ready)
		killed := pid(t, h)
		if err := syscall.Kill(killed, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		turn := h.wait(handle)
		if turn.Status != messages.TurnFailed || !strings.Contains(turn.Error, opencode.ErrServerExited.Error()) || !strings.Contains(turn.Error, "what to do") {
			t.Errorf("the turn is %s: %s, want it failed with the cause", turn.Status, turn.Error)
		}
		if got := h.complete(id, "after"); got != "back again" {
			t.Errorf("after the kill the result is %q", got)
		}
		if pid(t, h) == killed || alive(killed) {
			t.Errorf("process %d still serves", killed)
		}
	}
	if after := h.opencodeSession(id); after != before {
		t.Errorf("after the kills the OpenCode session is %q, want %q", after, before)
	}
	turns := model.Turns()
	if request := turns[len(turns)-1]; !slices.ContainsFunc(request.Messages, func(m ms.Message) bool { return m.Text == "remember this" }) {
		t.Error("after the kills the model was not told what had been said before")
	}
	if ended.Load() != 1 {
		t.Error("the tool runs on after the turn")
	}
}

func TestE2EProviderErrors(t *testing.T) {
	model := newModel(t,
		on("bad key", 1, ms.Fail(401, "this key is wrong")),
		ms.Step{When: ms.Match{Prompt: "limit passes"}, Reply: ms.RateLimit(time.Second)},
		on("limit passes", 1, ms.Say("now it works")),
		ms.Step{When: ms.Match{Prompt: "cut once"}, Reply: ms.CutAfter("half of")},
		on("cut once", 1, ms.Say("the whole answer")),
		on("limit forever", 1, ms.RateLimit(time.Second)),
		on("limit for an hour", 1, ms.RateLimit(time.Hour)),
		on("broken", 1, ms.Fail(500, "the model has crashed")),
		on("fine", 1, ms.Say("all is fine")),
	)
	h := real(t, model, func(s *setting) {
		s.options = func(o *space.Options) { o.MaxRetries, o.RetryWithin = 2, 20*time.Second }
	})
	id := h.session("")
	for _, tt := range []struct {
		prompt, result string
		errors         []string
	}{
		{"bad key", "", []string{"credentials", "this key is wrong", "opencode auth login"}},
		{"limit passes", "now it works", nil},
		{"limit forever", "", []string{"retries", "wait"}},
		{"limit for an hour", "", []string{"retries", "wait"}},
		{"broken", "", []string{"the model has crashed", "what to do"}},
		{"fine", "all is fine", nil},
	} {
		begin := time.Now()
		turn := h.wait(h.run(id, tt.prompt))
		t.Logf("%s: %s after %s: %s", tt.prompt, turn.Status, time.Since(begin).Round(time.Millisecond), turn.Error)
		if tt.errors == nil && (turn.Status != messages.TurnCompleted || turn.Result != tt.result) {
			t.Errorf("%s: %s %q %s, want %q", tt.prompt, turn.Status, turn.Result, turn.Error, tt.result)
		}
		for _, want := range tt.errors {
			if turn.Status != messages.TurnFailed || !strings.Contains(turn.Error, want) {
				t.Errorf("%s: %s: %s, want it failed with %q", tt.prompt, turn.Status, turn.Error, want)
			}
		}
	}
}

func TestE2EUnknownModel(t *testing.T) {
	h := real(t, newModel(t), func(s *setting) { s.model.ModelID = "no-such-model" })
	turn := h.wait(h.run(h.session(""), "hello"))
	if turn.Status != messages.TurnFailed || !strings.Contains(turn.Error, "fake/no-such-model") || !strings.Contains(turn.Error, "opencode models") {
		t.Errorf("the turn is %s: %s", turn.Status, turn.Error)
	}
}
