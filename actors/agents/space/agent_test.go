package space

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/actors"
	"agentd/messages"
	"agentd/presets/prompt"
	"agentd/providers/opencode"
	"agentd/testkit"
)

// lines are the items of a session in short.
func lines(items []*messages.Item) []string {
	var out []string
	for _, it := range items {
		line := string(it.Type)
		switch it.Type {
		case messages.ItemMessage:
			line += fmt.Sprintf(" %s %q", it.Role, it.Content)
		case messages.ItemReasoning:
			line += fmt.Sprintf(" %q", it.Content)
		case messages.ItemToolCall:
			line += fmt.Sprintf(" %s %s %s %s", it.CallID, it.Name, it.Arguments, it.Status)
		case messages.ItemToolResult:
			line += fmt.Sprintf(" %s %q %v", it.CallID, it.Output, it.IsError)
		case messages.ItemEvent:
			line += " " + it.EventType
		case messages.ItemError:
			line += fmt.Sprintf(" %.60q", it.Error)
		}
		if it.StreamStatus != "" && it.StreamStatus != messages.StreamComplete {
			line += " " + string(it.StreamStatus)
		}
		out = append(out, line)
	}
	return out
}

func (s *stage) items() []*messages.Item { return s.View(s.id).Items }

func (s *stage) wantItems(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, lines(s.items())); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
}

func (s *stage) fails(t *testing.T, input string, want ...string) {
	t.Helper()
	turn := s.Wait(s.Run(s.id, input, actors.RunOptions{}))
	for _, text := range want {
		if turn.Status != messages.TurnFailed || !strings.Contains(turn.Error, text) {
			t.Errorf("the turn is %s: %q, want it failed with %q", turn.Status, turn.Error, text)
		}
	}
}

func (s *stage) stored(t *testing.T) string {
	t.Helper()
	var id string
	if raw := s.View(s.id).Head.Data[DataKey]; raw != nil {
		if err := json.Unmarshal(raw, &id); err != nil {
			t.Fatal(err)
		}
	}
	return id
}

// The runtime gives the agent the time that OpenCode takes to abort.
func TestCancelGraceIsDeclared(t *testing.T) {
	t.Parallel()
	var agent actors.Agent = newStage(t, Options{}).agent
	if a, ok := agent.(actors.LingeringAgent); !ok || a.CancelGrace() != CancelGrace || CancelGrace <= actors.DefaultCancelGrace {
		t.Errorf("the agent asks for no more time than others to stop")
	}
}

func TestTurn(t *testing.T) {
	t.Parallel()
	var enrichers prompt.Enrichers
	if err := enrichers.Register("world", func(context.Context, prompt.Subject) (string, error) { return "active world available", nil }); err != nil {
		t.Fatal(err)
	}
	s := newStage(t, Options{Prompts: &enrichers})
	s.play = func(p *play) {
		p.step()
		p.says("reasoning", "let me think")
		p.says("text", "I will call two tools.")
		p.echo("prt_echo", "call_a", `{"n":1}`)
		native := p.call("prt_bash", "call_b", "bash", `{"command":"ls"}`)
		p.ends(native, "error", "not allowed")
		p.done("tool-calls", nil)
		p.step()
		p.says("text", "All is done.")
		p.done("stop", nil)
		p.idle()
	}
	if turn := s.Complete(s.id, "do it"); turn.Result != "All is done." {
		t.Errorf("the result is %q", turn.Result)
	}
	s.wantItems(t,
		`message user "do it"`,
		`reasoning "let me think"`,
		`message assistant "I will call two tools."`,
		`tool-call call_a space_echo {"n":1} completed`,
		`tool-result call_a "echo {\"n\":1}" false`,
		`tool-call call_b bash {"command":"ls"} failed`,
		`tool-result call_b "not allowed" true`,
		`message assistant "All is done."`,
	)
	items := s.items()
	last := items[len(items)-1]
	want := messages.Usage{InputTokens: 300, OutputTokens: 20, ReasoningTokens: 10, CacheReadTokens: 100}
	if last.Provider != "fake" || last.Model != "fake-1" || last.Usage == nil || *last.Usage != want || last.ParentID != items[0].ID {
		t.Errorf("the answer is %+v, want it by fake/fake-1 with the usage %+v", last, want)
	}
	if s.count("GET /session/ses") != 0 || s.count("GET /session/status") != 0 || s.count("GET /session/ses/message") != 1 {
		t.Errorf("the requests are %q, want no more than are needed", s.requests)
	}
	body := s.prompts[0]
	system, _ := body["system"].(string)
	for _, part := range []string{"## Instructions\n\n" + DefaultInstructions, "## Context\n\nactive world available", "## Available Capabilities\n", "plain", "## Capability Guidance\n", "Echo what you like."} {
		if !strings.Contains(system, part) {
			t.Errorf("the system prompt is %q, want %q in it", system, part)
		}
	}
	if diff := cmp.Diff(doc{"providerID": "fake", "modelID": "fake-1"}, body["model"]); diff != "" {
		t.Errorf("model (-want +got):\n%s", diff)
	}
}

func TestDraftsGrow(t *testing.T) {
	t.Parallel()
	s := newStage(t, Options{})
	goOn := make(chan struct{})
	s.play = func(p *play) {
		p.step()
		id := p.f.id("prt_")
		p.delta(id, "early ") // Before the part is known.
		p.part(doc{"id": id, "type": "text", "text": ""})
		p.delta(id, "and late")
		<-goOn
		p.keep(doc{"id": id, "type": "text", "text": "early and late, whole", "time": doc{"end": 2}})
		p.done("stop", nil)
		p.idle()
	}
	probe := s.Watch(s.id, actors.SubscribeOptions{})
	handle := s.Run(s.id, "go", actors.RunOptions{})
	probe.Expect(testkit.Want{Type: messages.ItemMessage, Text: "early and late"})
	close(goOn)
	s.Wait(handle)
	s.wantItems(t, `message user "go"`, `message assistant "early and late, whole"`)
	if n := s.streaming(); n != 0 {
		testkit.Eventually(t, "the subscription to end", func() error {
			if n := s.streaming(); n != 0 {
				return fmt.Errorf("%d streams", n)
			}
			return nil
		})
	}
}

// What the model said before a call is whole and durable while the call runs.
func TestTextBeforeACallIsWhole(t *testing.T) {
	t.Parallel()
	s := newStage(t, Options{})
	goOn := make(chan struct{})
	s.play = func(p *play) {
		p.step()
		p.says("reasoning", "let me think")
		p.says("text", "I will look.")
		part := p.call("prt_1", "call_a", "bash", `{}`)
		<-goOn
		p.ends(part, "completed", "ran")
		p.done("tool-calls", nil)
		p.step()
		p.says("text", "done")
		p.done("stop", nil)
		p.idle()
	}
	handle := s.Run(s.id, "go", actors.RunOptions{})
	want := []string{`message user "go"`, `reasoning "let me think"`, `message assistant "I will look."`, `tool-call call_a bash {} running`}
	testkit.Eventually(t, "the call to be recorded", func() error {
		if diff := cmp.Diff(want, lines(s.items())); diff != "" {
			return errors.New(diff)
		}
		return nil
	})
	close(goOn)
	s.Wait(handle)
	s.wantItems(t, append(want[:3:3], `tool-call call_a bash {} completed`, `tool-result call_a "ran" false`, `message assistant "done"`)...)
}

// What reaches us is recorded once, whatever OpenCode tells of it, and when.
func TestCallsAreRecordedOnce(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		play func(p *play)
		want []string
	}{
		{"told after it came", func(p *play) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = p.reach("space_echo", `{"n":1}`)
			}()
			testkit.Eventually(p.f.t, "the call", func() error { return nil })
			part := p.call("prt_1", "call_a", "space_space_echo", `{"n":1}`)
			<-done
			p.ends(part, "completed", "x")
		}, []string{`tool-call call_a space_echo {"n":1} completed`, `tool-result call_a "echo {\"n\":1}" false`}},
		{"equal calls at once", func(p *play) {
			a := p.call("prt_1", "call_a", "space_space_echo", `{}`)
			b := p.call("prt_2", "call_b", "space_space_echo", `{}`)
			_, _ = p.reach("space_echo", `{}`)
			_, _ = p.reach("space_echo", ` { } `)
			p.ends(b, "completed", "x")
			p.ends(a, "completed", "x")
		}, []string{
			`tool-call call_a space_echo {} completed`, `tool-result call_a "echo {}" false`,
			`tool-call call_b space_echo  { }  completed`, `tool-result call_b "echo {}" false`,
		}},
		{"one id for two calls", func(p *play) {
			p.echo("prt_1", "call_a", `{"n":1}`)
			p.echo("prt_2", "call_a", `{"n":2}`)
		}, []string{
			`tool-call call_a space_echo {"n":1} completed`, `tool-result call_a "echo {\"n\":1}" false`,
			`tool-call prt_2 space_echo {"n":2} completed`, `tool-result prt_2 "echo {\"n\":2}" false`,
		}},
		{"refused on the way", func(p *play) {
			p.ends(p.call("prt_1", "call_a", "space_space_echo", `{"n":1}`), "error", "no connection")
		}, []string{`tool-call call_a space_echo {"n":1} failed`, `tool-result call_a "no connection" true`}},
		{"made up", func(p *play) {
			p.ends(p.call("prt_1", "call_a", "invalid", `{"tool":"space_space_rm","error":"there is no such tool"}`), "completed", "there is no such tool")
		}, []string{
			`tool-call call_a space_space_rm {"tool":"space_space_rm","error":"there is no such tool"} failed`, `tool-result call_a "there is no such tool" true`,
		}},
		{"not listed, by OpenCode's name", func(p *play) {
			p.ends(p.call("prt_1", "call_a", "invalid", `{"tool":"space_space_shell_run"}`), "completed", "there is no such tool")
		}, []string{`tool-call call_a space_shell_run {"tool":"space_space_shell_run"} failed`, `tool-result call_a "there is no such tool" true`}},
		{"not listed, by our name", func(p *play) {
			p.ends(p.call("prt_1", "call_a", "invalid", `{"tool":"space_shell_run"}`), "completed", "there is no such tool")
		}, []string{`tool-call call_a space_shell_run {"tool":"space_shell_run"} failed`, `tool-result call_a "there is no such tool" true`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, Options{})
			s.play = func(p *play) {
				p.step()
				tt.play(p)
				p.done("tool-calls", nil)
				p.step()
				p.says("text", "done")
				p.done("stop", nil)
				p.idle()
			}
			s.Complete(s.id, "go")
			s.wantItems(t, slices.Concat([]string{`message user "go"`}, tt.want, []string{`message assistant "done"`})...)
		})
	}
}

// A call that OpenCode never ended is closed with the turn.
func TestCallWithoutEnd(t *testing.T) {
	t.Parallel()
	s := newStage(t, Options{})
	s.play = func(p *play) {
		p.step()
		p.call("prt_1", "call_a", "bash", `{}`)
		p.says("text", "done")
		p.done("stop", nil)
		p.idle()
	}
	s.Complete(s.id, "go")
	got := lines(s.items())
	slices.Sort(got)
	want := []string{
		`message assistant "done"`, `message user "go"`, `tool-call call_a bash {} interrupted`,
		`tool-result call_a "interrupted: the turn ended before OpenCode told of a result" true`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
}

// The events are late: OpenCode is asked, and what was said before the call comes first all the same.
func TestCallBeforeItsEvents(t *testing.T) {
	t.Parallel()
	s := newStage(t, Options{})
	s.play = func(p *play) {
		p.step()
		part := doc{"id": "prt_1", "type": "tool", "tool": "space_space_echo", "callID": "call_a", "messageID": p.message, "state": doc{
			"status": "running", "input": doc{"n": 1},
		}}
		p.change(p.message, func(m doc) {
			m["parts"] = []doc{{"id": "prt_0", "type": "text", "text": "I will echo.", "messageID": p.message, "time": doc{"start": 1, "end": 2}}, part}
		})
		result, _ := p.reach("space_echo", `{"n":1}`)
		p.ends(part, "completed", result.Text)
		p.done("tool-calls", nil)
		p.step()
		p.says("text", "done")
		p.done("stop", nil)
		p.idle()
	}
	s.Complete(s.id, "go")
	s.wantItems(t, `message user "go"`, `message assistant "I will echo."`, `tool-call call_a space_echo {"n":1} completed`,
		`tool-result call_a "echo {\"n\":1}" false`, `message assistant "done"`)
}

// A call of which nothing is ever told is recorded when it comes, and not again.
func TestCallWithoutEvents(t *testing.T) {
	t.Parallel()
	s := newStage(t, Options{})
	s.play = func(p *play) {
		p.step()
		_, _ = p.reach("space_echo", `{"n":1}`)
		// The messages have it, no event had.
		p.change(p.message, func(m doc) {
			m["parts"] = []doc{{"id": "prt_1", "type": "tool", "tool": "space_space_echo", "callID": "call_a", "messageID": p.message, "state": doc{
				"status": "completed", "input": doc{"n": 1}, "output": "x",
			}}}
		})
		p.done("tool-calls", nil)
		p.step()
		p.says("text", "done")
		p.done("stop", nil)
		p.idle()
	}
	s.Complete(s.id, "go")
	items := s.items()
	if len(items) != 4 || !strings.HasPrefix(string(items[1].CallID), messages.CallPrefix) || items[2].Output != `echo {"n":1}` {
		t.Errorf("the items are %q, want the call once", lines(items))
	}
}

// An answer of one step is told whole by the events, and is not fetched again; what the events did not tell is.
func TestPlainAnswerNeedsNoAudit(t *testing.T) {
	t.Parallel()
	tokens := doc{"tokens": doc{"input": 7, "output": 3, "reasoning": 1, "cache": doc{"read": 2, "write": 0}}}
	for name, tt := range map[string]struct {
		play    func(*play)
		fetches int
	}{
		"all is told": {func(p *play) {
			p.step()
			p.says("reasoning", "a thought")
			p.says("text", "plain")
			p.done("stop", tokens)
			p.idle()
		}, 0},
		"the end of the text is not": {func(p *play) {
			p.step()
			p.says("reasoning", "a thought")
			p.keep(doc{"id": "prt_late", "type": "text", "text": "plain"})
			p.done("stop", tokens)
			p.idle()
		}, 1},
		"the text is not": {func(p *play) {
			p.step()
			p.says("reasoning", "a thought")
			p.change(p.message, func(m doc) {
				m["parts"] = append(m["parts"].([]doc), doc{"id": "prt_z", "messageID": p.message, "sessionID": p.session, "type": "text", "text": "plain", "time": doc{"start": 1, "end": 2}})
			})
			p.delta("prt_z", "pl")
			p.done("stop", tokens)
			p.idle()
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, Options{})
			s.play = tt.play
			if turn := s.Complete(s.id, "go"); turn.Result != "plain" {
				t.Errorf("the result is %q, want %q", turn.Result, "plain")
			}
			s.wantItems(t, `message user "go"`, `reasoning "a thought"`, `message assistant "plain"`)
			items := s.items()
			want := messages.Usage{InputTokens: 9, OutputTokens: 3, ReasoningTokens: 1, CacheReadTokens: 2}
			if last := items[len(items)-1]; last.Usage == nil || *last.Usage != want || last.Provider != "fake" || last.Model != "fake-1" {
				t.Errorf("the answer is %+v, want it by fake/fake-1 with the usage %+v", last, want)
			}
			if got := s.count("GET /session/ses/message"); got != tt.fetches {
				t.Errorf("the messages were fetched %d times, want %d: %q", got, tt.fetches, s.requests)
			}
		})
	}
}

func TestSessionIsReused(t *testing.T) {
	t.Parallel()
	s := newStage(t, Options{})
	s.play = answers("hello")
	s.Complete(s.id, "one")
	first := s.stored(t)
	s.Complete(s.id, "two")
	if s.stored(t) != first || s.count("POST /session") != 1 || s.count("GET /session/ses") != 0 {
		t.Errorf("the session is %q after %q; requests %q", s.stored(t), first, s.requests)
	}
	s.wantItems(t, `message user "one"`, `message assistant "hello"`, `message user "two"`, `message assistant "hello"`)
}

func TestSessionIsCheckedInANewLife(t *testing.T) {
	t.Parallel()
	s := newStage(t, Options{})
	s.play = answers("hello")
	s.Complete(s.id, "one")
	first := s.stored(t)
	s.reborn()
	s.answers["GET /session/ses"] = []int{500}
	s.fails(t, "two", "internal error", "what to do")
	if s.stored(t) != first {
		t.Errorf("a passing fault has replaced the session %q by %q", first, s.stored(t))
	}
	s.Complete(s.id, "three")
	if s.stored(t) != first || s.count("POST /session") != 1 || s.count("GET /session/ses") != 2 {
		t.Errorf("the session is %q after %q; requests %q", s.stored(t), first, s.requests)
	}
}

func TestLostSessionIsReplaced(t *testing.T) {
	t.Parallel()
	for _, newLife := range []bool{true, false} {
		t.Run(fmt.Sprintf("in a new life %t", newLife), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, Options{})
			s.play = answers("hello")
			s.Complete(s.id, "one")
			first := s.stored(t)
			s.mu.Lock()
			delete(s.sessions, first)
			s.mu.Unlock()
			if newLife {
				s.reborn()
			}
			s.Complete(s.id, "two")
			if s.stored(t) == first || s.stored(t) == "" {
				t.Errorf("the session is still %q", s.stored(t))
			}
			s.wantItems(t, `message user "one"`, `message assistant "hello"`, `message user "two"`, `event opencode-session-replaced`, `message assistant "hello"`)
		})
	}
}

func TestBusySessionIsAbortedFirst(t *testing.T) {
	t.Parallel()
	s := newStage(t, Options{})
	s.play = answers("hello")
	s.Complete(s.id, "one")
	s.reborn()
	s.setBusy(s.stored(t), true) // Left from a crash.
	s.onAbort = func(session string) { s.setBusy(session, false) }
	s.Complete(s.id, "two")
	if s.count("POST /session/ses/abort") != 1 {
		t.Errorf("the requests are %q, want one abort", s.requests)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	apiError := func(status int, message string) func(*play) {
		return func(p *play) {
			p.step()
			p.done("", doc{"error": doc{"name": "APIError", "data": doc{"message": message, "statusCode": status}}})
			p.f.emit("session.error", doc{"sessionID": p.session, "error": doc{"name": "APIError", "data": doc{"message": message, "statusCode": status}}})
			p.idle()
		}
	}
	named := func(name string) func(*play) {
		return func(p *play) {
			p.step()
			p.done("", doc{"error": doc{"name": name, "data": doc{"message": "so it is"}}})
			p.idle()
		}
	}
	tests := []struct {
		name    string
		answers map[string][]int
		play    func(*play)
		want    []string
	}{
		{"create", map[string][]int{"POST /session": {500}}, nil, []string{"creating a session", "what to do"}},
		{"events", map[string][]int{"GET /event": {500}}, nil, []string{"subscribing", "what to do"}},
		{"prompt", map[string][]int{"POST /session/ses/prompt_async": {400}}, nil, []string{"prompting", "agentd doctor"}},
		{"fetch", map[string][]int{"GET /session/ses/message": {500}}, func(p *play) {
			p.step()
			p.ends(p.call("prt_1", "call_a", "bash", `{}`), "completed", "ran")
			p.done("tool-calls", nil)
			answers("lost")(p)
		}, []string{"fetching", "what to do"}},
		{"refused credentials", nil, apiError(401, "bad key"), []string{"bad key", "opencode auth login"}},
		{"rate limit", nil, apiError(429, "too many"), []string{"too many", "wait"}},
		{"provider's fault", nil, apiError(500, "crashed"), []string{"crashed", "the fault is the model provider's"}},
		{"context", nil, named("ContextOverflowError"), []string{"too long", "new session"}},
		{"output", nil, named("MessageOutputLengthError"), []string{"shorter answer"}},
		{"filter", nil, named("ContentFilterError"), []string{"other words"}},
		{"auth", nil, named("ProviderAuthError"), []string{"opencode auth login"}},
		{"aborted by others", nil, named("MessageAbortedError"), []string{"something else has stopped it"}},
		{"no end", nil, func(p *play) { p.step(); p.idle() }, []string{"has no end"}},
		{"stopped after a tool", nil, func(p *play) { p.step(); p.done("tool-calls", nil); p.idle() }, []string{"no answer"}},
		{"unknown", nil, func(p *play) {
			p.f.emit("session.error", doc{"sessionID": p.session, "error": doc{"name": "UnknownError", "data": doc{"message": "Model not found"}}})
			p.f.setBusy(p.session, false) // And no idle.
		}, []string{"Model not found"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, Options{})
			if tt.answers != nil {
				s.fake.answers = tt.answers
			}
			s.play = tt.play
			s.fails(t, "go", tt.want...)
			for _, item := range s.items() {
				if item.Role == messages.RoleAssistant && item.StreamStatus != messages.StreamInterrupted {
					t.Errorf("a failed turn has the answer %+v", item)
				}
			}
			s.mu.Lock()
			s.play = answers("again")
			s.mu.Unlock()
			if turn := s.Complete(s.id, "and now"); turn.Result != "again" {
				t.Errorf("after the failure the result is %q", turn.Result)
			}
		})
	}
}

func TestUnknownModelIsNamed(t *testing.T) {
	t.Parallel()
	err := explained(fmt.Errorf("%w: fake/x", opencode.ErrUnknownModel))
	if !errors.Is(err, opencode.ErrUnknownModel) || !strings.Contains(err.Error(), "opencode models") {
		t.Errorf("explained() = %v", err)
	}
	if got := explained(errors.New("something else")); got.Error() != "something else" {
		t.Errorf("explained() = %v, want it as it was", got)
	}
}
