//go:build e2e

package opencode_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agentd/providers/opencode"
	ms "agentd/testkit/modelserver"
)

// on is a step for a prompt, at a step of its turn.
func on(prompt string, turnStep int, reply ms.Reply) ms.Step {
	return ms.Step{When: ms.Match{Prompt: prompt, TurnStep: turnStep}, Reply: reply, Times: ms.Always}
}

func TestE2ETurns(t *testing.T) {
	w := newWorld(t,
		on("think", 1, ms.Reply{Reasoning: "let me think about it for a while", Text: "thought about it", Usage: &ms.Usage{Input: 100, Output: 20, Reasoning: 5}}),
		on("", 1, ms.Say("a plain answer in several pieces")),
	)
	t.Logf("OpenCode %s", w.server.Version())
	events := w.events()
	id := w.session()

	m, err := w.client.Prompt(t.Context(), id, opencode.PromptParams{Text: "hello", Model: fake, System: "the system text of the test"})
	if err != nil {
		t.Fatal(err)
	}
	if m.Text() != "a plain answer in several pieces" || m.ProviderID != "fake" || m.ModelID != "fake-1" || m.Tokens.Input == 0 || m.Finish != "stop" {
		t.Errorf("Prompt() = %q by %s/%s, %+v, %q", m.Text(), m.ProviderID, m.ModelID, m.Tokens, m.Finish)
	}
	var streamed strings.Builder
	for _, e := range until(t, events, idleOf(id)) {
		if d, ok := e.Body.(opencode.PartDelta); ok && e.SessionID == id && d.Field == "text" {
			streamed.WriteString(d.Delta)
		}
	}
	if streamed.String() != m.Text() {
		t.Errorf("streamed %q, want %q", streamed.String(), m.Text())
	}
	if request := w.model.Turns()[0]; !strings.HasSuffix(strings.TrimSpace(request.System), "the system text of the test") || request.Prompt() != "hello" {
		t.Errorf("the model got the prompt %q, and a system text without ours at its end", request.Prompt())
	}

	m, err = w.client.Prompt(t.Context(), id, opencode.PromptParams{Text: "think", Model: fake})
	if err != nil {
		t.Fatal(err)
	}
	reasoning := slices.IndexFunc(m.Parts, func(p opencode.Part) bool { return p.Type == opencode.ReasoningPart })
	if reasoning < 0 || m.Parts[reasoning].Text != "let me think about it for a while" || m.Text() != "thought about it" {
		t.Errorf("Prompt() = %+v, want reasoning and text", m.Parts)
	}
	if m.Tokens.Input+m.Tokens.CacheRead != 100 || m.Tokens.Output+m.Tokens.Reasoning < 20 {
		t.Errorf("tokens = %+v, want the model's", m.Tokens)
	}
	answers, err := w.client.Answers(t.Context(), id, m.ParentID)
	if err != nil || len(answers) != 1 || answers[0].ID != m.ID {
		t.Errorf("Answers() = %d messages, %v, want the one", len(answers), err)
	}
	if n := len(w.model.Turns()[1].Messages); n != 3 {
		t.Errorf("the second turn had %d messages, want the history of 3", n)
	}

	stored, err := w.client.Prompt(t.Context(), id, opencode.PromptParams{Text: "only a note", Model: fake, NoReply: true})
	if err != nil || stored.Role != opencode.UserRole || stored.Text() != "only a note" {
		t.Errorf("Prompt(NoReply) = %s %q, %v", stored.Role, stored.Text(), err)
	}
	sessions, err := w.client.Sessions(t.Context(), 5)
	if err != nil || !slices.ContainsFunc(sessions, func(s opencode.Session) bool { return s.ID == id && s.Title == "test" }) {
		t.Errorf("Sessions() = %+v, %v, want ours among them", sessions, err)
	}
	if err := w.client.DeleteSession(t.Context(), id); err != nil {
		t.Error(err)
	}
	if err := w.client.DeleteSession(t.Context(), id); !errors.Is(err, opencode.ErrSessionNotFound) {
		t.Errorf("second DeleteSession() = %v, want ErrSessionNotFound", err)
	}
}

func TestE2ETools(t *testing.T) {
	// The configuration is what hides the built-in tools in every version; of the two rules the last that matches counts.
	w := newWorldWith(t, map[string]string{"*": "deny", "space_*": "allow"},
		on("echo it", 1, ms.Call("space_echo", map[string]string{"text": "token-17"})),
		ms.Step{When: ms.Match{Prompt: "echo it", TurnStep: 2}, Make: func(r ms.Request) ms.Reply { return ms.Say("it said " + r.Last().Text) }},
		on("wait for it", 1, ms.Call("space_wait", nil)),
		on("what now", 1, ms.Say("going on")),
	)
	ts := newTools(t, "secret")
	if status, err := w.client.AddMCP(t.Context(), "locked", opencode.MCPRemote{URL: ts.url}); err != nil || status.State != opencode.MCPFailed || status.Error == "" {
		t.Errorf("AddMCP() without the token = %+v, %v, want failed with a reason", status, err)
	}
	w.connect(ts, "secret")
	events := w.events()
	id := w.session()

	m, err := w.answer(w.ask(id, "echo it", onlySpace))
	if err != nil || m.Text() != "it said echo: token-17" {
		t.Errorf("Prompt() = %q, %v", m.Text(), err)
	}
	if n := ts.calls.Load(); n != 1 {
		t.Errorf("the tool ran %d times, want once", n)
	}
	if got, want := w.model.Turns()[0].ToolNames(), []string{"space_echo", "space_wait"}; !slices.Equal(got, want) {
		t.Errorf("the model was offered %q, want %q", got, want)
	}
	statuses := toolStatuses(until(t, events, idleOf(id)))
	if want := []opencode.ToolStatus{opencode.ToolPending, opencode.ToolRunning, opencode.ToolCompleted}; !slices.Equal(statuses, want) {
		t.Errorf("the call went %q, want %q", statuses, want)
	}
	answers, err := w.client.Answers(t.Context(), id, m.ParentID)
	if err != nil || len(answers) != 2 {
		t.Fatalf("Answers() = %d messages, %v, want two steps", len(answers), err)
	}
	call := answers[0].Parts[slices.IndexFunc(answers[0].Parts, func(p opencode.Part) bool { return p.Type == opencode.ToolPart })]
	if call.Tool != "space_echo" || call.State.Output != "echo: token-17" || !strings.Contains(call.State.Input, "token-17") || !call.State.Done() {
		t.Errorf("the stored call is %+v", call)
	}

	// A new tool is seen by the next turn, and an event tells of it.
	ts.server.RemoveTools("echo")
	until(t, events, func(e opencode.Event) bool { _, ok := e.Body.(opencode.ToolsChanged); return ok })

	a := w.ask(id, "wait for it", onlySpace)
	<-ts.waiting
	if err := w.client.Abort(t.Context(), id); err != nil {
		t.Error(err)
	}
	select {
	case <-ts.cancelled:
	case <-time.After(patience):
		t.Error("the tool call was not cancelled")
	}
	if m, err = w.answer(a); !errors.Is(err, opencode.ErrAborted) {
		t.Errorf("Prompt() = %v, want ErrAborted", err)
	}
	if m, err = w.answer(w.ask(id, "what now", onlySpace)); err != nil || m.Text() != "going on" {
		t.Errorf("after the abort: Prompt() = %q, %v", m.Text(), err)
	}
	turns := w.model.Turns()
	if got, want := turns[len(turns)-1].ToolNames(), []string{"space_wait"}; !slices.Equal(got, want) {
		t.Errorf("after the change the model was offered %q, want %q", got, want)
	}
	if err := w.client.DisconnectMCP(t.Context(), "space"); err != nil {
		t.Error(err)
	}
	err = w.client.ConnectMCP(t.Context(), "nobody")
	if !w.older() && !errors.Is(err, opencode.ErrMCPServerNotFound) {
		t.Errorf("ConnectMCP() of an unknown server = %v, want ErrMCPServerNotFound", err)
	}
	if _, err := w.client.MCPServers(t.Context()); err != nil {
		t.Error(err)
	}
}

// A tool that a prompt switches off never runs, whether the model was offered it (in 1.2) or makes it up.
func TestE2ESwitchedOff(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.params.Dir, "written")
	if err := w.model.Add(
		on("run it", 1, ms.Call("bash", map[string]string{"command": "touch '" + path + "'", "description": "writes"})),
		on("run it", 2, ms.Say("it did not run")),
	); err != nil {
		t.Fatal(err)
	}
	if _, err := w.answer(w.ask(w.session(), "run it", onlySpace)); err != nil && !errors.Is(err, opencode.ErrIncomplete) {
		t.Errorf("Prompt() = %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the switched off tool ran")
	}
	if names := w.model.Turns()[0].ToolNames(); len(names) != 0 && !w.older() {
		t.Errorf("the model was offered %q, want nothing", names)
	}
}

// toolStatuses are the statuses that tool parts went through, repetitions left out.
func toolStatuses(events []opencode.Event) []opencode.ToolStatus {
	var out []opencode.ToolStatus
	for _, e := range events {
		if u, ok := e.Body.(opencode.PartUpdated); ok && u.Part.Type == opencode.ToolPart {
			out = append(out, u.Part.State.Status)
		}
	}
	return slices.Compact(out)
}

func TestE2EAbort(t *testing.T) {
	w := newWorld(t,
		on("say half", 1, ms.HangAfter("half of the answer")),
		on("say nothing", 1, ms.HangAfter("")),
		on("go on", 1, ms.Say("still here")),
	)
	id := w.session()
	events := w.events()
	for i, prompt := range []string{"say half", "say nothing"} {
		a := w.ask(id, prompt)
		if err := w.model.AwaitOutcome(w.patient(), ms.Hanging, 1); err != nil {
			t.Fatal(err)
		}
		if prompt == "say half" {
			// The text has arrived when its last delta has.
			var got string
			until(t, events, func(e opencode.Event) bool {
				if d, ok := e.Body.(opencode.PartDelta); ok {
					got += d.Delta
				}
				return got == "half of the answer"
			})
		}
		statuses, err := w.client.Statuses(t.Context())
		if err != nil || statuses[id].Kind != opencode.Busy {
			t.Errorf("Statuses() = %+v, %v, want busy", statuses, err)
		}
		if err := w.client.Abort(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if _, err := w.answer(a); !errors.Is(err, opencode.ErrAborted) {
			t.Errorf("%s: Prompt() = %v, want ErrAborted", prompt, err)
		}
		if err := w.model.AwaitOutcome(w.patient(), ms.ClientGone, i+1); err != nil {
			t.Errorf("%s: the call of the model was not ended: %v", prompt, err)
		}
	}
	if m, err := w.answer(w.ask(id, "go on")); err != nil || m.Text() != "still here" {
		t.Errorf("after the aborts: Prompt() = %q, %v", m.Text(), err)
	}
	if err := w.client.Abort(t.Context(), id); err != nil {
		t.Errorf("Abort() of an idle session = %v", err)
	}
}

func TestE2EShellsEnd(t *testing.T) {
	w := newWorld(t)
	start := func(w *world, name string) (*ask, int) {
		w.t.Helper()
		command, pid := w.shell(name)
		if err := w.model.Add(on("run "+name, 1, ms.Call("bash", map[string]string{"command": command, "description": name}))); err != nil {
			w.t.Fatal(err)
		}
		a := w.ask(w.session(opencode.Rule{Permission: "bash", Action: opencode.Allow}), "run "+name)
		poll(w.t, "the shell command", func() bool { return pid() != 0 })
		return a, pid()
	}
	t.Run("by an abort", func(t *testing.T) {
		w := w.in(t)
		a, pid := start(w, "first")
		statuses, err := w.client.Statuses(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for id := range statuses {
			if err := w.client.Abort(t.Context(), id); err != nil {
				t.Error(err)
			}
		}
		if _, err := w.answer(a); !errors.Is(err, opencode.ErrAborted) {
			t.Errorf("Prompt() = %v, want ErrAborted", err)
		}
		poll(t, "the shell command to end", func() bool { return !alive(pid) })
	})
	t.Run("by kill -9 of the server", func(t *testing.T) {
		w := w.in(t)
		events := w.events()
		a, pid := start(w, "second")
		if err := syscall.Kill(w.server.PID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if _, err := w.answer(a); !errors.Is(err, opencode.ErrServerExited) {
			t.Errorf("Prompt() = %v, want ErrServerExited", err)
		}
		<-w.server.Done()
		if alive(pid) {
			t.Errorf("the shell command (process %d) outlived its server", pid)
		}
		for range events.C() {
			continue // Only the end counts.
		}
		if err := events.Err(); !errors.Is(err, opencode.ErrServerExited) {
			t.Errorf("the events ended with %v, want ErrServerExited", err)
		}
		if err := w.server.Err(); !errors.Is(err, opencode.ErrServerExited) || !strings.Contains(err.Error(), "killed") {
			t.Errorf("Err() = %v, want the signal", err)
		}
	})
	t.Run("by a stop of the server", func(t *testing.T) {
		w := w.in(t)
		w.start()
		a, pid := start(w, "third")
		begun := time.Now()
		if err := w.server.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		t.Logf("stopped in %s", time.Since(begun))
		if alive(pid) {
			t.Errorf("the shell command (process %d) outlived its server", pid)
		}
		if _, err := w.answer(a); err == nil {
			t.Error("Prompt() = nil over a stop, want an error")
		}
	})
}

func TestE2EErrors(t *testing.T) {
	w := newWorld(t,
		on("fail 401", 1, ms.Fail(http.StatusUnauthorized, "bad key")),
		on("fail 400", 1, ms.Fail(http.StatusBadRequest, "no such thing")),
		on("fail 429", 1, ms.RateLimit(time.Second)),
		on("fail 500", 1, ms.Fail(http.StatusInternalServerError, "boom")),
		on("cut", 1, ms.CutAfter("some text")),
		on("fine", 1, ms.Say("all is well")),
	)
	id := w.session()
	for prompt, want := range map[string]error{"fail 401": opencode.ErrProviderAuth, "fail 400": opencode.ErrProvider} {
		m, err := w.answer(w.ask(id, prompt))
		failure := (*opencode.ModelError)(nil)
		if !errors.Is(err, want) || !errors.As(err, &failure) || failure.Message == "" || m.Error == nil {
			t.Errorf("%s: Prompt() = %v, want %v", prompt, err, want)
		}
	}
	// The server tries these again; how often depends on the version, and the person can end it at any time.
	for _, prompt := range []string{"fail 429", "fail 500", "cut"} {
		a := w.ask(id, prompt)
		poll(t, "the retry", func() bool {
			statuses, err := w.client.Statuses(t.Context())
			return err != nil || statuses[id].Kind == opencode.Retrying && statuses[id].Attempt > 0 && statuses[id].Message != ""
		})
		if err := w.client.Abort(t.Context(), id); err != nil {
			t.Error(err)
		}
		if _, err := w.answer(a); !errors.Is(err, opencode.ErrAborted) && !errors.Is(err, opencode.ErrIncomplete) {
			t.Errorf("%s: Prompt() = %v, want it aborted or without an end", prompt, err)
		}
	}
	if !w.older() && !strings.HasPrefix(w.server.Version(), "1.17.") {
		if _, err := w.answer(w.ask(id, "fail 429")); !errors.Is(err, opencode.ErrRateLimited) {
			t.Errorf("fail 429: Prompt() = %v, want ErrRateLimited at last", err)
		}
	}
	if m, err := w.answer(w.ask(id, "fine")); err != nil || m.Text() != "all is well" {
		t.Errorf("after the errors: Prompt() = %q, %v", m.Text(), err)
	}

	for name, tt := range map[string]struct {
		session string
		change  func(*opencode.PromptParams)
		want    error
	}{
		"session": {session: "ses_000000000000nosuchsession0", change: func(*opencode.PromptParams) {}, want: opencode.ErrSessionNotFound},
		"model":   {session: id, change: func(p *opencode.PromptParams) { p.Model.ModelID = "nope" }, want: opencode.ErrUnknownModel},
		"agent":   {session: id, change: func(p *opencode.PromptParams) { p.Agent = "nope" }, want: opencode.ErrUnknownAgent},
	} {
		if _, err := w.answer(w.ask(tt.session, "x", tt.change)); !errors.Is(err, tt.want) {
			t.Errorf("unknown %s: Prompt() = %v, want %v", name, err, tt.want)
		}
	}
	if _, err := w.client.Session(t.Context(), "ses_000000000000nosuchsession0"); !errors.Is(err, opencode.ErrSessionNotFound) {
		t.Errorf("Session() of an unknown one = %v", err)
	}
	if err := w.client.PromptAsync(t.Context(), "ses_000000000000nosuchsession0", opencode.PromptParams{Text: "x"}); !errors.Is(err, opencode.ErrSessionNotFound) {
		t.Errorf("PromptAsync() in an unknown session = %v", err)
	}
	if err := w.client.ReplyPermission(t.Context(), "per_nope", opencode.ReplyOnce, ""); !errors.Is(err, opencode.ErrPermissionNotFound) {
		t.Errorf("ReplyPermission() of an unknown one = %v", err)
	}
	if err := w.client.RejectQuestion(t.Context(), "que_nope"); !errors.Is(err, opencode.ErrQuestionNotFound) {
		t.Errorf("RejectQuestion() of an unknown one = %v", err)
	}
	stranger, err := opencode.NewClient(w.server.URL(), &opencode.ClientOptions{Password: "wrong"})
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	if _, err := stranger.Health(t.Context()); !errors.Is(err, opencode.ErrUnauthorized) {
		t.Errorf("Health() with a wrong password = %v", err)
	}
}

func TestE2EAsks(t *testing.T) {
	question := map[string]any{"questions": []any{map[string]any{
		"question": "Which one?", "header": "Choice", "options": []any{
			map[string]any{"label": "A", "description": "the first"}, map[string]any{"label": "B", "description": "the second"},
		},
	}}}
	w := newWorld(t,
		on("run", 1, ms.Call("bash", map[string]string{"command": "echo ran", "description": "runs"})),
		on("question", 1, ms.Call("question", question)),
		ms.Step{When: ms.Match{TurnStep: 2}, Make: func(r ms.Request) ms.Reply { return ms.Say("got " + r.Last().Text) }, Times: ms.Always},
	)
	id := w.session(opencode.Rule{Permission: "bash", Action: opencode.Ask})
	events := w.events()
	asked := func() opencode.Permission {
		seen := until(t, events, func(e opencode.Event) bool { _, ok := e.Body.(opencode.PermissionAsked); return ok })
		body, _ := seen[len(seen)-1].Body.(opencode.PermissionAsked)
		return body.Permission
	}

	a := w.ask(id, "run")
	p := asked()
	pending, err := w.client.Permissions(t.Context())
	if err != nil || len(pending) != 1 || pending[0].ID != p.ID || p.Permission != "bash" || p.SessionID != id || p.CallID == "" || !slices.Equal(p.Patterns, []string{"echo ran"}) {
		t.Errorf("Permissions() = %+v, %v, event %+v", pending, err, p)
	}
	if err := w.client.ReplyPermission(t.Context(), p.ID, opencode.ReplyOnce, ""); err != nil {
		t.Error(err)
	}
	if m, err := w.answer(a); err != nil || !strings.Contains(m.Text(), "ran") {
		t.Errorf("allowed: Prompt() = %q, %v", m.Text(), err)
	}

	a = w.ask(id, "run")
	if err := w.client.ReplyPermission(t.Context(), asked().ID, opencode.ReplyReject, "not today"); err != nil {
		t.Error(err)
	}
	if m, err := w.answer(a); err != nil || !strings.Contains(m.Text(), "not today") {
		t.Errorf("rejected with a message: Prompt() = %q, %v, want the model to be told", m.Text(), err)
	}

	a = w.ask(id, "question")
	seen := until(t, events, func(e opencode.Event) bool { _, ok := e.Body.(opencode.QuestionAsked); return ok })
	body, _ := seen[len(seen)-1].Body.(opencode.QuestionAsked)
	q := body.Question
	if len(q.Questions) != 1 || q.Questions[0].Text != "Which one?" || len(q.Questions[0].Options) != 2 || q.Questions[0].Options[1].Label != "B" {
		t.Errorf("question = %+v", q)
	}
	if err := w.client.AnswerQuestion(t.Context(), q.ID, [][]string{{"B"}}); err != nil {
		t.Error(err)
	}
	if m, err := w.answer(a); err != nil || !strings.Contains(m.Text(), "B") {
		t.Errorf("answered: Prompt() = %q, %v", m.Text(), err)
	}
}

func TestE2ERestart(t *testing.T) {
	w := newWorld(t, on("", 1, ms.Say("an answer")))
	id := w.session()
	if _, err := w.answer(w.ask(id, "before")); err != nil {
		t.Fatal(err)
	}
	if err := w.server.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.start()
	if s, err := w.client.Session(t.Context(), id); err != nil || s.Title != "test" {
		t.Fatalf("Session() after a restart = %+v, %v", s, err)
	}
	if _, err := w.answer(w.ask(id, "after")); err != nil {
		t.Fatal(err)
	}
	turns := w.model.Turns()
	if last := turns[len(turns)-1]; len(last.Messages) != 3 || last.Messages[0].Text != "before" {
		t.Errorf("after a restart the model got %+v, want the history", last.Messages)
	}
	// Silent and offline: nothing was installed into the configuration.
	if _, err := os.Stat(filepath.Join(w.params.ConfigHome, "opencode", "node_modules")); err == nil {
		t.Error("the server has installed packages")
	}
}

func TestE2ESeveralDirectories(t *testing.T) {
	w := newWorld(t, ms.Step{Make: func(r ms.Request) ms.Reply { return ms.Say("answer to " + r.Prompt()) }, Times: ms.Always})
	var group sync.WaitGroup
	for _, name := range []string{"one", "two", "three"} {
		c := w.client.In(folder(t, w.params.Dir, name))
		group.Go(func() {
			events, err := c.Events(t.Context(), nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer events.Close()
			s, err := c.CreateSession(t.Context(), opencode.NewSession{Title: name})
			if err != nil || filepath.Base(s.Directory) != name {
				t.Errorf("CreateSession() = %+v, %v", s, err)
				return
			}
			if err := c.PromptAsync(t.Context(), s.ID, opencode.PromptParams{Text: name, Model: fake}); err != nil {
				t.Error(err)
				return
			}
			var user string
			deadline := time.After(patience)
			for done := false; !done; {
				select {
				case e, ok := <-events.C():
					if !ok {
						t.Error(events.Err())
						return
					}
					if e.SessionID != "" && e.SessionID != s.ID {
						t.Errorf("an event of session %s came to %s", e.SessionID, name)
					}
					if u, ok := e.Body.(opencode.MessageUpdated); ok && u.Message.Role == opencode.UserRole {
						user = u.Message.ID
					}
					done = idleOf(s.ID)(e)
				case <-deadline:
					t.Errorf("the turn of %s does not end", name)
					return
				}
			}
			answers, err := c.Answers(t.Context(), s.ID, user)
			if err != nil || len(answers) != 1 || answers[0].Text() != "answer to "+name {
				t.Errorf("Answers() = %+v, %v, want the answer to %s", answers, err, name)
			}
		})
	}
	group.Wait()
}
