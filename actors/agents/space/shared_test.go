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

// shared is one host for many tests, each with sessions of its own: to start OpenCode takes longer than any of them.
type shared struct {
	*host
	model *ms.Server
	// running and ended count the runs of space_hold, which ends when it is cancelled.
	running, ended atomic.Int32
}

// TestE2E runs the parts on one OpenCode, the last ones of which kill it.
func TestE2E(t *testing.T) {
	s := &shared{model: newModel(t, script()...)}
	s.host = real(t, s.model, func(set *setting) {
		set.policy = presets.Policy{messages.RiskNormal: presets.RuleAuto, messages.RiskShell: presets.RuleAuto}
		set.options = func(o *space.Options) { o.MaxRetries, o.RetryWithin = 2, 20*time.Second }
		set.before = s.tools
	})
	for _, part := range []struct {
		name string
		run  func(*shared, *testing.T)
	}{
		{"Sequence", (*shared).sequence},
		{"Boundary", (*shared).boundary},
		{"CancelText", (*shared).cancelText},
		{"CancelCall", (*shared).cancelCall},
		{"CancelShell", (*shared).cancelShell},
		{"Switch", (*shared).switches},
		{"Approval", (*shared).approval},
		{"TwoSessions", (*shared).twoSessions},
		{"ProviderErrors", (*shared).providerErrors},
		{"Hung", (*shared).hung},
		{"KilledInText", (*shared).killedInText},
		{"KilledInCall", (*shared).killedInCall},
		{"UnknownModel", (*shared).unknownModel}, // It leaves an agent that is of no use.
	} {
		t.Run(part.name, func(t *testing.T) {
			defer s.in(t)()
			part.run(s, t)
		})
	}
}

// tools registers what all parts use. What is off is switched on where it is wanted.
func (s *shared) tools(h *host) {
	sequenceTools(h)
	boundaryTools(h)
	h.tool("hold", "space_hold", messages.RiskNormal, noneSchema, func(ctx context.Context, _ json.RawMessage) (string, error) {
		s.running.Add(1)
		defer s.ended.Add(1)
		<-ctx.Done()
		return "", context.Cause(ctx)
	})
	h.tool("late", "space_late", messages.RiskNormal, noneSchema, func(context.Context, json.RawMessage) (string, error) { return "late", nil })
	h.tool("switch", "space_switch", messages.RiskNormal, noneSchema, func(ctx context.Context, _ json.RawMessage) (string, error) {
		err := errors.Join(
			h.manager.SetOverride(ctx, "switch-session", "late", presets.OverrideOn), h.manager.SetOverride(ctx, "switch-session", "switch", presets.OverrideOff),
		)
		return "switched", err
	})
	off := []string{"late"}
	for _, who := range []string{"anna", "ben"} {
		h.tool(who, "space_of_"+who, messages.RiskNormal, echoSchema, field("token", who+" hears "))
		off = append(off, who)
		h.override(messages.SessionID(who), who, presets.OverrideOn)
	}
	for _, name := range off {
		h.override("", name, presets.OverrideOff)
	}
	bundle, err := shell.New(nil)
	if err == nil {
		err = h.manager.Install(bundle)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// command is what the shell runs: it says its process id and sleeps.
const command = "echo $$ > pid.new && mv pid.new pid && sleep 300; true"

// script is what the model says in all parts.
func script() []ms.Step {
	const ask = `{"tool":"space_agent_wipe_everything","arguments":{},"reason":"the test wants it"}`
	return []ms.Step{
		on(sequencePrompt, 1, ms.Reply{
			Text: "First the nonce.", Calls: []ms.ToolCall{{Name: "space_agent_get_nonce", Loose: true}}, Usage: &ms.Usage{Input: 100, Output: 10},
		}),
		{When: ms.Match{Prompt: sequencePrompt, TurnStep: 2}, Make: func(r ms.Request) ms.Reply {
			return ms.Reply{
				Calls: []ms.ToolCall{{Name: "space_agent_record_value", Loose: true, Arguments: fmt.Sprintf(`{"value":%q}`, r.Last().Text)}},
				Usage: &ms.Usage{Input: 200, CachedInput: 50, Output: 20, Reasoning: 5},
			}
		}},
		on(sequencePrompt, 3, ms.Reply{Text: "done:" + fixedNonce, Usage: &ms.Usage{Input: 300, Output: 30}}),

		on(forbidPrompt, 1, ms.Call("space_space_agent_wipe_everything", nil)),
		on(forbidPrompt, 2, ms.Say("The tool is unavailable.")),
		on("and bash", 1, ms.Call("bash", map[string]string{"command": "touch hacked", "description": "writes"})),
		on("and bash", 2, ms.Say("No shell either.")),

		on("talk", 1, ms.HangAfter("this is the beginning of")),
		on("hold", 1, ms.CallLike("space_hold", nil)),
		on("shell", 1, ms.CallLike("space_shell_run", map[string]any{"command": command, "timeout_seconds": 300})),
		on("what now", 1, ms.Say("going on")),

		on("switch", 1, ms.CallLike("space_switch", nil)),
		on("switch", 2, ms.CallLike("space_late", nil)),
		on("switch", 3, ms.Say("switched")),

		on("ask for it", 1, ms.CallLike("agent_request_tool_approval", ask)),
		on("ask for it", 2, ms.CallLike("space_agent_wipe_everything", nil)),
		repeat("ask for it", 3, "it is "),

		{When: ms.Match{Prompt: "round", TurnStep: 1}, Times: ms.Always, Make: func(r ms.Request) ms.Reply {
			who, _, _ := strings.Cut(r.Prompt(), " ")
			call := ms.ToolCall{Name: "space_of_" + who, Loose: true, Arguments: fmt.Sprintf(`{"token":%q}`, r.Prompt())}
			return ms.Reply{Calls: []ms.ToolCall{call}, Delay: 20 * time.Millisecond}
		}},
		repeat("round", 2, "it said "),

		on("bad key", 1, ms.Fail(401, "this key is wrong")),
		{When: ms.Match{Prompt: "limit passes"}, Reply: ms.RateLimit(time.Second)},
		on("limit passes", 1, ms.Say("now it works")),
		{When: ms.Match{Prompt: "cut once"}, Reply: ms.CutAfter("half of")},
		on("cut once", 1, ms.Say("the whole answer")),
		on("limit forever", 1, ms.RateLimit(time.Second)),
		on("limit for an hour", 1, ms.RateLimit(time.Hour)),
		on("broken", 1, ms.Fail(500, "the model has crashed")),
		on("fine", 1, ms.Say("all is fine")),
		on("remember", 1, ms.Say("remember this")),
	}
}

func (s *shared) sequence(t *testing.T) {
	nonceThenRecord(t, s.host)
	items := s.items("sequence-session")
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

func (s *shared) boundary(t *testing.T) {
	seen := len(s.model.Turns())
	unapprovedStaysOut(t, s.host)
	if got := s.complete("boundary-session", "and bash"); got != "No shell either." {
		t.Errorf("the result is %q", got)
	}
	for _, request := range s.model.Turns()[seen:] {
		if slices.ContainsFunc(request.ToolNames(), func(name string) bool { return strings.Contains(name, "wipe") || name == "bash" }) {
			t.Errorf("the model was offered %q", request.ToolNames())
		}
	}
	// Calls that did not reach us are in the history all the same, once each.
	items := of(s.items("boundary-session"), messages.ItemToolCall, messages.ItemToolResult)
	if len(items) != 4 || items[0].Name != "space_agent_wipe_everything" || items[2].Name != "bash" || !items[1].IsError || !items[3].IsError {
		t.Errorf("the stored calls are\n%s", describe(items))
	}
}

// goesOn checks that OpenCode's side is at rest and the session usable.
func (s *shared) goesOn(t *testing.T, id messages.SessionID) {
	t.Helper()
	if got := s.complete(id, "what now"); got != "going on" {
		t.Errorf("afterwards the result is %q", got)
	}
}

func (s *shared) cancelText(t *testing.T) {
	id := s.session("")
	handle := s.run(id, "talk")
	eventually(t, "the draft", func() error { return draftOf(s.host, id, "this is the beginning of") })
	cancelled(t, handle)
	eventually(t, "the model to be hung up on", func() error { return outcome(s.model, "talk", ms.ClientGone, 1) })
	items := s.items(id)
	for _, item := range items {
		if item.Content == "this is the beginning of" && item.StreamStatus != messages.StreamInterrupted {
			t.Errorf("the draft is not kept as interrupted:\n%s", describe(items))
		}
	}
	s.goesOn(t, id)
	// A turn that takes the place of another.
	first := s.run(id, "talk")
	eventually(t, "the model to talk", func() error { return outcome(s.model, "talk", ms.Hanging, 1) })
	s.goesOn(t, id)
	if first.Status() != messages.TurnCancelled {
		t.Errorf("the replaced turn is %s", first.Status())
	}
}

func (s *shared) cancelCall(t *testing.T) {
	id := s.session("")
	runs, ends := s.running.Load(), s.ended.Load()
	handle := s.run(id, "hold")
	eventually(t, "the tool to run", func() error { return atLeast(&s.running, runs+1) })
	cancelled(t, handle)
	if s.ended.Load() != ends+1 {
		t.Error("the tool runs on after the turn")
	}
	pair := of(s.items(id), messages.ItemToolCall, messages.ItemToolResult)
	if len(pair) != 2 || pair[0].Status != messages.CallInterrupted || !pair[1].IsError {
		t.Errorf("the stored call is\n%s", describe(pair))
	}
	s.goesOn(t, id)
}

func (s *shared) cancelShell(t *testing.T) {
	id := s.session("")
	handle := s.run(id, "shell")
	var child int
	eventually(t, "the command to run", func() error {
		data, err := os.ReadFile(filepath.Join(s.setting.root, "workspace", "pid"))
		if err == nil {
			child, err = strconv.Atoi(strings.TrimSpace(string(data)))
		}
		return err
	})
	if !alive(child) {
		t.Fatal("the command does not run")
	}
	cancelled(t, handle)
	if alive(child) {
		t.Errorf("the shell (process %d) lives on after the turn", child)
	}
	s.goesOn(t, id)
}

// A preset that is switched while a turn runs is seen by the model in its next step.
func (s *shared) switches(t *testing.T) {
	seen := len(s.model.Turns())
	id := s.session("switch-session")
	if got := s.complete(id, "switch"); got != "switched" {
		t.Errorf("the result is %q", got)
	}
	turns := s.model.Turns()[seen:]
	for i, want := range []struct{ has, lacks string }{{"space_space_switch", "space_space_late"}, {"space_space_late", "space_space_switch"}} {
		if names := turns[i].ToolNames(); !slices.Contains(names, want.has) || slices.Contains(names, want.lacks) {
			t.Errorf("in step %d the model was offered %q, want %s and not %s", i+1, names, want.has, want.lacks)
		}
	}
	if runs := s.runsOf(id); len(runs) != 2 || runs[1].name != "space_late" {
		t.Errorf("the tools ran as %v", runs)
	}
}

// A risky tool that the model asks for, and the person approves, is there in the next step and runs once.
func (s *shared) approval(t *testing.T) {
	seen := len(s.model.Turns())
	id := s.session("approval-session")
	handle := s.run(id, "ask for it")
	eventually(t, "the request", func() error {
		pending, err := s.rt.Approvals().Pending(t.Context())
		if err != nil || len(pending) == 0 {
			return fmt.Errorf("%d pending, %w", len(pending), err)
		}
		return s.rt.Approvals().Decide(t.Context(), pending[0].ID, presets.Answer{Verb: presets.ApproveAlways})
	})
	if turn := s.wait(handle); turn.Result != "it is wiped" {
		t.Errorf("the turn is %s with %q: %s\n%s", turn.Status, turn.Result, turn.Error, describe(s.items(id)))
	}
	names := s.model.Turns()[seen+1].ToolNames()
	if !slices.Contains(names, "space_space_agent_wipe_everything") {
		t.Errorf("after the approval the model was offered %q", names)
	}
	if runs := s.runsOf(id); len(runs) != 1 {
		t.Errorf("the tools ran as %v", runs)
	}
}

// Two sessions at once, with different presets, on one OpenCode: neither sees the other's tools, nor its answers.
func (s *shared) twoSessions(t *testing.T) {
	const rounds = 3
	seen := len(s.model.Turns())
	s.session("anna")
	s.session("ben")
	for i := range rounds {
		handles := map[string]*actors.TurnHandle{}
		for _, who := range []string{"anna", "ben"} {
			handles[who] = s.run(messages.SessionID(who), fmt.Sprintf("%s round %d", who, i))
		}
		for who, handle := range handles {
			turn := s.wait(handle)
			if want := fmt.Sprintf("it said %s hears %s round %d", who, who, i); turn.Result != want {
				t.Errorf("%s got %q (%s %s), want %q", who, turn.Result, turn.Status, turn.Error, want)
			}
		}
	}
	for _, request := range s.model.Turns()[seen:] {
		who, _, _ := strings.Cut(request.Prompt(), " ")
		for _, other := range []string{"anna", "ben"} {
			if offered := slices.Contains(request.ToolNames(), "space_space_of_"+other); offered != (who == other) {
				t.Errorf("%s was offered %q", who, request.ToolNames())
			}
		}
	}
	for _, who := range []messages.SessionID{"anna", "ben"} {
		runs := s.runsOf(who)
		if len(runs) != rounds || slices.ContainsFunc(runs, func(r toolRun) bool { return r.name != "space_of_"+string(who) }) {
			t.Errorf("the tools of %s ran as %v", who, runs)
		}
	}
}

func (s *shared) providerErrors(t *testing.T) {
	id := s.session("")
	for _, tt := range []struct {
		prompt, result string
		errors         []string
	}{
		{"bad key", "", []string{"credentials", "this key is wrong", "opencode auth login"}},
		{"limit passes", "now it works", nil},
		{"cut once", "the whole answer", nil},
		{"limit forever", "", []string{"retries", "wait"}},
		{"limit for an hour", "", []string{"retries", "wait"}},
		{"broken", "", []string{"the model has crashed", "what to do"}},
		{"fine", "all is fine", nil},
	} {
		begin := time.Now()
		turn := s.wait(s.run(id, tt.prompt))
		t.Logf("%s: %s after %s: %s", tt.prompt, turn.Status, time.Since(begin).Round(time.Millisecond), turn.Error)
		// OpenCode 1.2 keeps the half of an answer that was cut before it tried again.
		if tt.errors == nil && (turn.Status != messages.TurnCompleted || !strings.HasSuffix(turn.Result, tt.result)) {
			t.Errorf("%s: %s %q %s, want %q", tt.prompt, turn.Status, turn.Result, turn.Error, tt.result)
		}
		for _, want := range tt.errors {
			if turn.Status != messages.TurnFailed || !strings.Contains(turn.Error, want) {
				t.Errorf("%s: %s: %s, want it failed with %q", tt.prompt, turn.Status, turn.Error, want)
			}
		}
	}
}

// An OpenCode that hangs fails the turn when it has been silent for too long, and is replaced for the next one.
func (s *shared) hung(t *testing.T) {
	id := s.session("")
	handle := s.run(id, "talk")
	eventually(t, "the draft", func() error { return draftOf(s.host, id, "this is the beginning of") })
	victim := pid(t, s.host)
	if err := syscall.Kill(victim, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	turn := s.wait(handle)
	t.Logf("failed after %s: %s", time.Since(begin).Round(time.Second), turn.Error)
	if turn.Status != messages.TurnFailed || !strings.Contains(turn.Error, "what to do") {
		t.Errorf("the turn is %s: %s, want it failed", turn.Status, turn.Error)
	}
	s.goesOn(t, id)
	if pid(t, s.host) == victim || alive(victim) {
		t.Errorf("process %d is still there", victim)
	}
}

func (s *shared) killedInText(t *testing.T) {
	s.killed(t, "talk", func() error { return outcome(s.model, "talk", ms.Hanging, 1) })
}

func (s *shared) killedInCall(t *testing.T) {
	runs, ends := s.running.Load(), s.ended.Load()
	s.killed(t, "hold", func() error { return atLeast(&s.running, runs+1) })
	if s.ended.Load() != ends+1 {
		t.Error("the tool runs on after the turn")
	}
}

// killed kills OpenCode in the middle of a turn: that fails with the cause, and the next turn gets a fresh one with the same session.
func (s *shared) killed(t *testing.T, prompt string, ready func() error) {
	t.Helper()
	id := s.session("")
	s.complete(id, "remember")
	before := s.opencodeSession(id)
	handle := s.run(id, prompt)
	eventually(t, "the turn to be in its middle", ready)
	victim := pid(t, s.host)
	if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	turn := s.wait(handle)
	if turn.Status != messages.TurnFailed || !strings.Contains(turn.Error, opencode.ErrServerExited.Error()) || !strings.Contains(turn.Error, "what to do") {
		t.Errorf("the turn is %s: %s, want it failed with the cause", turn.Status, turn.Error)
	}
	s.goesOn(t, id)
	if pid(t, s.host) == victim || alive(victim) {
		t.Errorf("process %d still serves", victim)
	}
	if after := s.opencodeSession(id); after != before {
		t.Errorf("after the kill the OpenCode session is %q, want %q", after, before)
	}
	turns := s.model.Turns()
	if request := turns[len(turns)-1]; !slices.ContainsFunc(request.Messages, func(m ms.Message) bool { return m.Text == "remember this" }) {
		t.Error("after the kill the model was not told what had been said before")
	}
}

func (s *shared) unknownModel(t *testing.T) {
	err := space.Register(s.rt.Agents(), s.br, space.Options{Model: opencode.Model{ProviderID: "fake", ModelID: "no-such-model"}})
	if err != nil {
		t.Fatal(err)
	}
	turn := s.wait(s.run(s.session(""), "hello"))
	if turn.Status != messages.TurnFailed || !strings.Contains(turn.Error, "fake/no-such-model") || !strings.Contains(turn.Error, "opencode models") {
		t.Errorf("the turn is %s: %s", turn.Status, turn.Error)
	}
}
