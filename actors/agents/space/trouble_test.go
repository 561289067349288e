package space

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentd/actors"
	"agentd/messages"
	"agentd/presets/prompt"
	"agentd/providers/opencode"
	"agentd/testkit"
)

// Late words about the turn before neither end the next one nor give it an answer.
func TestTheTurnBefore(t *testing.T) {
	t.Parallel()
	s := newStage(t, Options{})
	var before play
	s.play = func(p *play) { answers("the first answer")(p); before = *p }
	s.Complete(s.id, "one")
	s.plays.Wait()
	goOn := make(chan struct{})
	s.play = func(p *play) {
		p.f.emit("message.updated", doc{"info": doc{"id": before.prompt, "sessionID": p.session, "role": "user"}})
		p.f.emit("session.idle", doc{"sessionID": p.session})
		before.part(doc{"id": "prt_late", "type": "text", "text": "late"})
		p.f.emit("session.error", doc{"sessionID": "ses_other", "error": doc{"name": "UnknownError"}})
		<-goOn
		p.step()
		p.done("stop", nil) // Nothing is said.
		p.idle()
	}
	handle := s.Run(s.id, "two", actors.RunOptions{})
	testkit.Eventually(t, "the late words to be heard", func() error {
		if s.count("GET /session/status") == 0 {
			return errors.New("not asked yet")
		}
		return nil
	})
	if !handle.Running() {
		t.Error("a late idle has ended the turn")
	}
	close(goOn)
	if turn := s.Wait(handle); turn.Status != messages.TurnFailed || !strings.Contains(turn.Error, ErrNoAnswer.Error()) || turn.Result != "" {
		t.Errorf("the turn is %s with %q: %s, want it failed for want of an answer", turn.Status, turn.Result, turn.Error)
	}
	if got := lines(s.items()); len(got) != 4 || !strings.HasPrefix(got[3], "error ") {
		t.Errorf("the items are %q, want no answer of another turn", got)
	}
}

// OpenCode compacts the conversation in the middle of a turn: a summary, and a user message of its own, which the rest of the turn answers.
func TestCompaction(t *testing.T) {
	t.Parallel()
	s := newStage(t, Options{})
	s.play = func(p *play) {
		p.step()
		p.says("text", "the first half")
		p.done("stop", nil)
		p.prompt = p.f.id("msg_")
		p.ask(p.prompt)
		p.step(doc{"summary": true})
		p.says("text", "what was said until now")
		p.done("stop", doc{"summary": true})
		p.prompt = p.f.id("msg_")
		p.ask(p.prompt)
		p.step()
		p.says("text", "the second half")
		p.done("stop", nil)
		p.idle()
	}
	s.Complete(s.id, "go")
	s.wantItems(t, `message user "go"`, `message assistant "the first half"`, `message assistant "the second half"`)
}

func TestNobodyHangs(t *testing.T) {
	t.Parallel()
	s := newStage(t, Options{})
	asked := func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		text := strings.Join(s.requests, "\n")
		return strings.Contains(text, `/permission/per_1/reply {"message":"Not allowed`) && strings.Contains(text, `"reply":"reject"`) &&
			strings.Contains(text, `/question/que_1/reply {"answers":[["Nobody can answer`)
	}
	s.play = func(p *play) {
		p.step()
		p.f.emit("permission.asked", doc{"id": "per_1", "sessionID": p.session, "permission": "bash", "patterns": []string{"*"}})
		p.f.emit("question.asked", doc{"id": "que_1", "sessionID": p.session, "questions": []doc{{"question": "Which?", "options": []doc{}}}})
		testkit.Eventually(p.f.t, "the refusals", func() error {
			if !asked() {
				return errors.New("not both have come")
			}
			return nil
		})
		p.says("text", "then not")
		p.done("stop", nil)
		p.idle()
	}
	if turn := s.Complete(s.id, "go"); turn.Result != "then not" {
		t.Errorf("the result is %q", turn.Result)
	}
}

// A model that says and does nothing has failed; one that did something may end without a word.
func TestEmptyAnswers(t *testing.T) {
	t.Parallel()
	const nothing = `the model gave no answer: it ended with "stop", and neither said nor did anything; what to do: send the prompt again`
	tests := []struct {
		name  string
		play  func(p *play)
		fails bool
	}{
		{"nothing at all", func(*play) {}, true},
		{"an empty text", func(p *play) { p.says("text", "") }, true},
		{"blanks", func(p *play) { p.says("text", " \n") }, true},
		{"only thoughts", func(p *play) { p.says("reasoning", "hm") }, true},
		{"a tool that is not there", func(p *play) {
			p.ends(p.call("prt_1", "call_a", "invalid", `{"tool":"rm"}`), "completed", "there is no such tool")
			p.done("tool-calls", nil)
			p.step()
		}, true},
		{"a tool that failed", func(p *play) {
			p.ends(p.call("prt_1", "call_a", "bash", `{}`), "error", "not allowed")
			p.done("tool-calls", nil)
			p.step()
		}, true},
		{"a tool that ran", func(p *play) {
			p.echo("prt_1", "call_a", `{}`)
			p.done("tool-calls", nil)
			p.step()
		}, false},
		{"a text before a tool that failed", func(p *play) {
			p.says("text", "I try.")
			p.ends(p.call("prt_1", "call_a", "bash", `{}`), "error", "not allowed")
			p.done("tool-calls", nil)
			p.step()
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, Options{})
			s.play = func(p *play) {
				p.step()
				tt.play(p)
				p.done("stop", nil)
				p.idle()
			}
			if tt.fails {
				s.fails(t, "go", nothing)
				return
			}
			if turn := s.Complete(s.id, "go"); turn.Result != "" {
				t.Errorf("the result is %q", turn.Result)
			}
			if last := s.items()[len(s.items())-1]; last.Usage == nil || last.Role != messages.RoleAssistant {
				t.Errorf("the last item is %+v, want one with the usage", last)
			}
		})
	}
}

// The stream of events breaks, and what happens meanwhile is not told: the messages are fetched.
func TestGap(t *testing.T) {
	t.Parallel()
	s := newStage(t, Options{})
	s.play = func(p *play) {
		p.step()
		p.says("text", "the beginning")
		back := p.f.breakFor()
		part := p.call("prt_1", "call_a", "bash", `{}`)
		p.ends(part, "completed", "ran")
		p.done("tool-calls", nil)
		p.step()
		p.says("text", "the end")
		p.done("stop", nil)
		p.idle() // Nobody hears it.
		close(back)
	}
	if turn := s.Complete(s.id, "go"); turn.Result != "the end" {
		t.Errorf("the result is %q", turn.Result)
	}
	s.wantItems(t, `message user "go"`, `message assistant "the beginning"`, `tool-call call_a bash {} completed`, `tool-result call_a "ran" false`, `message assistant "the end"`)
}

func TestRetriesAreBounded(t *testing.T) {
	t.Parallel()
	retry := func(p *play, attempt int, next time.Time) {
		p.f.emit("session.status", doc{"sessionID": p.session, "status": doc{
			"type": "retry", "attempt": attempt, "message": "rate limit reached", "next": next.UnixMilli(),
		}})
	}
	tests := []struct {
		name string
		play func(p *play)
		want string
	}{
		{"for ever", func(p *play) {
			for i := range 4 {
				retry(p, i+1, time.Now())
			}
		}, "gave up after retries of the model provider: 3 times: rate limit reached"},
		{"in an hour", func(p *play) { retry(p, 1, time.Now().Add(time.Hour)) }, "the next one may come in 1h0m0s only"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, Options{MaxRetries: 3})
			s.onAbort = func(session string) { (&play{f: s.fake, session: session}).idle() }
			s.play = func(p *play) { p.step(); tt.play(p) }
			s.fails(t, "go", tt.want, "wait and send the prompt again")
			if s.count("POST /session/ses/abort") == 0 {
				t.Error("OpenCode goes on retrying")
			}
			if got := strings.Join(lines(s.items()), " "); strings.Contains(got, EventRetry) != (tt.name == "for ever") {
				t.Errorf("the items are %q, want the retries among them that were waited for", got)
			}
		})
	}
}

func TestRetriesThatHelpAreForgotten(t *testing.T) {
	t.Parallel()
	w := newWatch(Options{MaxRetries: 2, RetryWithin: time.Hour})
	for i := range 10 {
		if err := w.retry(opencode.Status{Kind: opencode.Retrying}); err != nil {
			t.Fatalf("retry %d: %v", i, err)
		}
		w.progress()
	}
	_ = w.retry(opencode.Status{})
	_ = w.retry(opencode.Status{})
	if err := w.retry(opencode.Status{Message: strings.Repeat("x", 1<<20)}); !errors.Is(err, ErrRetries) || len(err.Error()) > 2*maxMessage {
		t.Errorf("retry() = %.100v, want ErrRetries with a bounded text", err)
	}
}

// An OpenCode that dies fails the turn with the cause and closes what it did.
func TestDeath(t *testing.T) {
	t.Parallel()
	s := newStage(t, Options{})
	s.play = func(p *play) {
		p.step()
		p.says("text", "half")
		p.call("prt_1", "call_a", "bash", `{}`)
		testkit.Eventually(p.f.t, "the call to be recorded", func() error {
			if got := lines(s.items()); !strings.Contains(strings.Join(got, " "), "call_a") {
				return fmt.Errorf("%q", got)
			}
			return nil
		})
		s.kill(fmt.Errorf("%w: killed by signal 9", opencode.ErrServerExited))
	}
	s.fails(t, "go", "killed by signal 9", "a fresh OpenCode is started")
	got := lines(s.items())
	want := []string{`tool-call call_a bash {} interrupted`, `tool-result call_a "interrupted: the turn ended before OpenCode told of a result" true`}
	for _, line := range want {
		if !strings.Contains(strings.Join(got, "\n"), line) {
			t.Errorf("the items are %q, want %q", got, line)
		}
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		play func(p *play)
		want []string
	}{
		{"text", func(p *play) {
			p.step()
			id := p.f.id("prt_")
			p.part(doc{"id": id, "type": "text", "text": "half of"})
		}, []string{`message user "go"`, `message assistant "half of" interrupted`}},
		{"a call of ours", func(p *play) {
			p.step()
			p.call("prt_1", "call_a", "space_space_echo", `{"wait":1}`)
			_, _ = p.reach("space_echo", `{"wait":1}`)
		}, []string{
			`message user "go"`, `tool-call call_a space_echo {"wait":1} interrupted`,
		}},
		{"a call of OpenCode's own", func(p *play) {
			p.step()
			p.call("prt_1", "call_a", "bash", `{}`)
		}, []string{`message user "go"`, `tool-call call_a bash {} interrupted`, `tool-result call_a "interrupted: the turn ended before OpenCode told of a result" true`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, Options{})
			var aborts atomic.Int32
			s.onAbort = func(session string) {
				if aborts.Add(1) == 1 {
					(&play{f: s.fake, session: session}).idle()
				}
			}
			s.play = func(p *play) { tt.play(p) }
			handle := s.Run(s.id, "go", actors.RunOptions{})
			testkit.Eventually(t, "the turn to be in its middle", func() error {
				if n := len(s.items()); n < 2 {
					return fmt.Errorf("%d items", n)
				}
				return nil
			})
			if err := handle.Cancel(s.Context()); err != nil {
				t.Fatal(err)
			}
			if handle.Status() != messages.TurnCancelled || aborts.Load() == 0 {
				t.Errorf("the turn is %s after %d aborts", handle.Status(), aborts.Load())
			}
			got := lines(s.items())
			for i, line := range tt.want {
				if i >= len(got) || got[i] != line {
					t.Errorf("the items are %q, want them to begin with %q", got, tt.want)
					break
				}
			}
			s.mu.Lock()
			s.play = answers("going on")
			s.mu.Unlock()
			if turn := s.Complete(s.id, "and now"); turn.Result != "going on" {
				t.Errorf("after the cancel the result is %q", turn.Result)
			}
		})
	}
}

// A cancel that comes while the prompt is being handed over finds nothing to abort yet. The turn is aborted when it begins.
func TestCancelBeforeItBegins(t *testing.T) {
	t.Parallel()
	s := newStage(t, Options{})
	s.hold = make(chan struct{})
	var running atomic.Bool
	s.onAbort = func(session string) {
		if running.CompareAndSwap(true, false) {
			(&play{f: s.fake, session: session}).idle()
		}
	}
	s.play = func(p *play) { running.Store(true); p.step() }
	handle := s.Run(s.id, "go", actors.RunOptions{})
	testkit.Eventually(t, "the prompt to be under way", func() error {
		if s.count("POST /session/ses/prompt_async") == 0 {
			return errors.New("not yet")
		}
		return nil
	})
	cancelled := make(chan error, 1)
	go func() { cancelled <- handle.Cancel(context.Background()) }()
	testkit.Eventually(t, "the abort that comes too early", func() error {
		if s.count("POST /session/ses/abort") == 0 {
			return errors.New("not yet")
		}
		return nil
	})
	close(s.hold)
	if err := <-cancelled; err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.hold, s.play = nil, answers("going on")
	s.mu.Unlock()
	if turn := s.Complete(s.id, "and now"); turn.Result != "going on" {
		t.Errorf("after the cancel the result is %q", turn.Result)
	}
	if running.Load() {
		t.Error("the cancelled turn runs on in OpenCode")
	}
}

func TestEnricherThatFails(t *testing.T) {
	t.Parallel()
	var enrichers prompt.Enrichers
	err := enrichers.Register("weather", func(context.Context, prompt.Subject) (string, error) { return "", errors.New("no sky") })
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, Options{Prompts: &enrichers})
	s.fails(t, "go", "weather", "no sky")
	if len(s.prompts) != 0 {
		t.Error("OpenCode was prompted all the same")
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	if _, err := newAgent(nil, Options{}); !errors.Is(err, ErrNoModel) {
		t.Errorf("newAgent() without a model = %v, want ErrNoModel", err)
	}
	for name, o := range map[string]Options{
		"Model":       {Model: opencode.Model{ProviderID: "x"}},
		"MaxRetries":  {MaxRetries: -1},
		"RetryWithin": {RetryWithin: -1},
	} {
		if _, err := newAgent(nil, o); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), name) {
			t.Errorf("newAgent() with a bad %s = %v, want ErrInvalid", name, err)
		}
	}
	if err := Register(&actors.Agents{}, nil, Options{}); !errors.Is(err, ErrInvalid) {
		t.Errorf("Register() without a bridge = %v, want ErrInvalid", err)
	}
}

// One turn at a time is in a session, and sessions that nobody is in are forgotten when there are too many.
func TestRooms(t *testing.T) {
	t.Parallel()
	var rs rooms
	first, leave, err := rs.enter(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if _, _, err := rs.enter(ctx, "a"); !errors.Is(err, cause) {
		t.Errorf("enter() of a taken room = %v, want the cause", err)
	}
	for i := range 2 * maxRooms {
		_, leaveOther, err := rs.enter(t.Context(), messages.SessionID(fmt.Sprint("other-", i)))
		if err != nil {
			t.Fatal(err)
		}
		leaveOther()
	}
	if n := len(rs.bySession); n > maxRooms {
		t.Errorf("%d rooms are kept, want at most %d", n, maxRooms)
	}
	leave()
	again, leave, err := rs.enter(t.Context(), "a")
	if err != nil || again != first {
		t.Errorf("enter() = %p, %v, want the same room", again, err)
	}
	leave()
}

func TestLongTexts(t *testing.T) {
	t.Parallel()
	if got := cutTo(strings.Repeat("é", 1000), 501); len(got) > 501 || !strings.Contains(got, "left out") || !strings.HasPrefix(got, "éé") {
		t.Errorf("cutTo() has %d bytes: %.40q", len(got), got)
	}
	if got := cutTo("short", 5); got != "short" {
		t.Errorf("cutTo() = %q", got)
	}
	if id := itemID("itm-x-", "bad\nid"); id.Validate() != nil {
		t.Errorf("itemID() = %q, which is no id", id)
	}
}
