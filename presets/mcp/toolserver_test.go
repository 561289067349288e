package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentd/messages"
	"agentd/presets"
)

// overStdio starts a tool server over stdio with a turn bound, and connects the SDK's client.
func overStdio(tb testing.TB, w *world, version string, opts *ToolServerOptions, client *sdk.ClientOptions, receiving ...sdk.Middleware) (*testClient, *ToolServer) {
	tb.Helper()
	tools, err := NewToolServer(w.surface, presets.Caller{SessionID: testSession}, opts)
	if err != nil {
		tb.Fatal(err)
	}
	if err := tools.Start(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	if _, err := tools.Bind(w.turn()); err != nil {
		tb.Fatal(err)
	}
	in, clientOut := io.Pipe()
	clientIn, out := io.Pipe()
	result := make(chan error, 1)
	go func() { result <- tools.RunStdio(context.Background(), in, out, nil) }()
	c := &testClient{tb: tb}
	made := sdk.NewClient(&sdk.Implementation{Name: "test client", Version: "1"}, client)
	made.AddReceivingMiddleware(receiving...)
	c.session, err = made.Connect(tb.Context(), &sdk.IOTransport{Reader: clientIn, Writer: clientOut}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		c.close()
		if err := <-result; err != nil {
			tb.Errorf("RunStdio() = %v, want nil", err)
		}
		tools.Stop()
	})
	return c, tools
}

func TestToolServerOverStdio(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, presets.Gated)
			client, _ := overStdio(t, w, version, nil, nil)
			if diff := cmp.Diff([]string{presets.RequestToolName, "space_echo", "space_hold", "space_panics", "space_run"}, client.names()); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			go w.answer(presets.ApproveOnce)
			if result, err := client.call(t.Context(), "space_run", map[string]any{"cmd": "ls"}); err != nil || result.IsError {
				t.Errorf("approved call = %s, %v", text(result), err)
			}
			// The client goes while a call waits.
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = client.call(ctx, "space_run", nil)
			}()
			request := w.question()
			cancel()
			<-done
			eventually(t, "the request is withdrawn", func() bool {
				pending, _ := w.approvals.Pending(context.Background())
				return !slices.ContainsFunc(pending, func(p presets.Request) bool { return p.ID == request.ID })
			})
			if diff := cmp.Diff([]string{`space_run {"cmd":"ls"}`}, w.runs()); diff != "" {
				t.Errorf("what ran (-want +got):\n%s", diff)
			}
		})
	}
}

// What a client sees of a tool: its risk and what it is made of, in the protocol's words and in our own.
func TestToolServerListsRisks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, presets.Gated)
	w.adapter("files.read", "space_read", messages.RiskFilesystemRead, nil)
	w.preset("files", messages.RiskFilesystemRead, "files.read")
	client, _ := overStdio(t, w, "2025-11-25", nil, nil)
	list, err := client.session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	type seen struct {
		risk, source          any
		readOnly, destructive bool
	}
	got := make(map[string]seen)
	for _, tool := range list.Tools {
		got[tool.Name] = seen{tool.Meta[metaRisk], tool.Meta[metaSource], tool.Annotations.ReadOnlyHint, *tool.Annotations.DestructiveHint}
	}
	want := map[string]seen{
		"space_echo": {"normal", "plain.echo", false, false}, "space_run": {"shell", "shell.run", false, true}, "space_read": {"filesystem-read", "files.read", true, false},
	}
	for name, tool := range want {
		if got[name] != tool {
			t.Errorf("%s = %+v, want %+v", name, got[name], tool)
		}
	}
}

func TestToolServerReportsProgress(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, presets.Gated)
			var mu sync.Mutex
			var reports []float64
			client, _ := overStdio(t, w, version, &ToolServerOptions{ProgressInterval: time.Millisecond}, &sdk.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
					mu.Lock()
					defer mu.Unlock()
					if req.Params.ProgressToken == "tok" {
						reports = append(reports, req.Params.Progress)
					}
				},
			})
			go func() {
				request := w.question()
				eventually(t, "three reports", func() bool {
					mu.Lock()
					defer mu.Unlock()
					return len(reports) >= 3
				})
				_ = w.approvals.Decide(context.Background(), request.ID, presets.Answer{Verb: presets.ApproveOnce})
			}()
			params := &sdk.CallToolParams{Name: "space_run"}
			params.SetProgressToken("tok")
			if result, err := client.session.CallTool(t.Context(), params); err != nil || result.IsError {
				t.Errorf("call = %s, %v", text(result), err)
			}
			mu.Lock()
			defer mu.Unlock()
			for i, report := range reports {
				if report != float64(i+1) {
					t.Errorf("reports = %v, want 1, 2, 3, ...", reports)
					break
				}
			}
		})
	}
}

// A person in front of the client decides, if the client can ask one.
func TestToolServerElicits(t *testing.T) {
	t.Parallel()
	accept := func(decision string) *sdk.ElicitResult {
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": decision, "reason": "I say so"}}
	}
	tests := []struct {
		name   string
		answer *sdk.ElicitResult
		runs   int // of two identical calls
		asked  int
	}{
		{"approves once", accept(sayOnce), 2, 2},
		{"approves always", accept(sayAlways), 2, 1},
		{"denies", accept(sayDeny), 0, 2},
		{"declines", &sdk.ElicitResult{Action: "decline"}, 0, 2},
		{"dismisses", &sdk.ElicitResult{Action: "cancel"}, 0, 2},
	}
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		for _, tc := range tests {
			t.Run(version+" "+tc.name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, presets.Gated)
				var mu sync.Mutex
				var asked []string
				client, _ := overStdio(t, w, version, &ToolServerOptions{Elicit: w.approvals}, &sdk.ClientOptions{
					ElicitationHandler: func(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
						mu.Lock()
						defer mu.Unlock()
						asked = append(asked, req.Params.Message)
						// The SDK writes into what it is given, and the two versions share the case.
						return &sdk.ElicitResult{Action: tc.answer.Action, Content: maps.Clone(tc.answer.Content)}, nil
					},
				})
				for range 2 {
					result, err := client.call(t.Context(), "space_run", map[string]any{"cmd": "ls"})
					if err != nil || result.IsError != (tc.runs == 0) {
						t.Errorf("call = %s, %v", text(result), err)
					}
				}
				if got := len(w.runs()); got != tc.runs {
					t.Errorf("it ran %d times, want %d", got, tc.runs)
				}
				mu.Lock()
				defer mu.Unlock()
				if len(asked) != tc.asked || !strings.Contains(asked[0], "space_run") || !strings.Contains(asked[0], "shell") || !strings.Contains(asked[0], `"ls"`) {
					t.Errorf("the person was asked %q, want %d times, with tool, risk and arguments", asked, tc.asked)
				}
				if got := w.recorded(); tc.runs == 0 && !strings.Contains(strings.Join(got, " "), "decided denied") {
					t.Errorf("recorded %v, want the denial", got)
				}
				// What needs nobody asks nobody.
				if result, err := client.call(t.Context(), "space_echo", nil); err != nil || result.IsError || len(asked) != tc.asked {
					t.Errorf("normal call = %s, %v, asked %d times", text(result), err, len(asked))
				}
			})
		}
	}
}

// A client whose answer is not of the form that was asked for, or that fails to ask, has not allowed the call: that is a result for its model, not
// a fault of the server.
func TestToolServerElicitsBadAnswers(t *testing.T) {
	t.Parallel()
	answers := map[string]any{
		"a made-up decision":     &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "maybe"}},
		"a decision of no words": &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": 1}},
		"no decision":            &sdk.ElicitResult{Action: "accept", Content: map[string]any{"reason": "hm"}},
		"no content":             &sdk.ElicitResult{Action: "accept"},
		"a made-up action":       &sdk.ElicitResult{Action: "perhaps", Content: map[string]any{"decision": sayOnce}},
		"a fault of the client":  errTest,
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, presets.Gated)
			// The client checks its own answers, so they are put in behind the check.
			unchecked := func(next sdk.MethodHandler) sdk.MethodHandler {
				return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
					if method != "elicitation/create" {
						return next(ctx, method, req)
					}
					if result, ok := answer.(*sdk.ElicitResult); ok {
						return result, nil
					}
					return nil, errTest
				}
			}
			client, _ := overStdio(t, w, "2025-11-25", &ToolServerOptions{Elicit: w.approvals, NoWait: true}, &sdk.ClientOptions{
				ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) { panic("not reached") },
			}, unchecked)
			result, err := client.call(t.Context(), "space_run", map[string]any{"cmd": "ls"})
			if err != nil || !result.IsError || fields(t, result)["status"] != "denied" {
				t.Errorf("call = %s, %v, want a denial", text(result), err)
			}
			if got := w.runs(); len(got) != 0 {
				t.Errorf("it ran: %q", got)
			}
			if got := strings.Join(w.recorded(), " "); !strings.Contains(got, "decided denied") {
				t.Errorf("recorded %s, want the denial", got)
			}
		})
	}
}

// An answer counts for the call that was shown, once, and only if it was asked for.
func TestElicitorTakesAnAnswerOnce(t *testing.T) {
	t.Parallel()
	e := newElicitor(newDesk())
	state := e.put("a call")
	if e.take("guess", "a call") || e.take("", "a call") {
		t.Error("an answer to no question was taken")
	}
	if e.take(state, "another call") {
		t.Error("an answer was taken for another call")
	}
	if e.take(state, "a call") {
		t.Error("an answer was taken after it was used up")
	}
	if state = e.put("a call"); !e.take(state, "a call") || e.take(state, "a call") {
		t.Error("an answer was not taken exactly once")
	}
	first := e.put("first")
	for range maxQuestions {
		e.put("more")
	}
	if e.take(first, "first") || len(e.open) != maxQuestions || len(e.order) != maxQuestions {
		t.Errorf("%d questions are open, want %d and not the oldest", len(e.open), maxQuestions)
	}
}

// A client that cannot ask anybody waits for a person elsewhere.
func TestToolServerElicitsOnlyWhereItCan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, presets.Gated)
	client, _ := overStdio(t, w, "2025-11-25", &ToolServerOptions{Elicit: w.approvals}, nil)
	go w.answer(presets.ApproveOnce)
	if result, err := client.call(t.Context(), "space_run", nil); err != nil || result.IsError {
		t.Errorf("call = %s, %v", text(result), err)
	}
}

func TestAnswerShapes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		result     presets.Result
		structured any
	}{
		{"a text", presets.Result{Text: "hello"}, nil},
		{"nothing", presets.Result{}, nil},
		{"an object", presets.Result{Text: `{"a":1}`}, json.RawMessage(`{"a":1}`)},
		{"an error", presets.Result{Text: `{"ok":false}`, IsError: true}, json.RawMessage(`{"ok":false}`)},
		{"an array", presets.Result{Text: `[1]`}, nil},
		{"what only begins like an object", presets.Result{Text: `{"a":1} and more`}, nil},
		{"a long object", presets.Result{Text: `{"a":"` + strings.Repeat("x", maxStructuredBytes) + `"}`}, nil},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := answer(tc.result)
			if diff := cmp.Diff(tc.structured, got.StructuredContent); diff != "" || text(got) != tc.result.Text || got.IsError != tc.result.IsError {
				t.Errorf("answer() = %+v, want the text and structured content (-want +got):\n%s", got, diff)
			}
		})
	}
}

func TestBindingEndsWithItsCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBinding(Turn{})
		ctx, leave, ok := b.enter(t.Context())
		if !ok {
			t.Fatal("enter() of a fresh binding = false")
		}
		b.Release()
		synctest.Wait()
		if !errors.Is(context.Cause(ctx), ErrNoTurn) {
			t.Errorf("the call ended with %v, want ErrNoTurn", context.Cause(ctx))
		}
		if _, _, ok := b.enter(t.Context()); ok {
			t.Error("enter() of a released binding = true")
		}
		select {
		case <-b.Done():
			t.Error("it is done while a call is in it")
		default:
		}
		leave()
		<-b.Done()
		b.Release()
	})
}

// A drain lets calls under way end, and cancels those that do not.
func TestBindingDrains(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBinding(Turn{})
		short, leaveShort, _ := b.enter(t.Context())
		long, leaveLong, _ := b.enter(t.Context())
		time.AfterFunc(time.Second, leaveShort)
		within, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		time.AfterFunc(500*time.Millisecond, func() {
			if _, _, ok := b.enter(t.Context()); ok {
				t.Error("enter() while it drains = true")
			}
			if short.Err() != nil || long.Err() != nil {
				t.Error("a call was cancelled while there was time")
			}
		})
		begun := time.Now()
		b.Drain(within)
		if took := time.Since(begun); took != 2*time.Second {
			t.Errorf("Drain() took %s, want all of 2s", took)
		}
		synctest.Wait()
		if !errors.Is(context.Cause(long), ErrNoTurn) {
			t.Errorf("the call that was left ended with %v, want ErrNoTurn", context.Cause(long))
		}
		leaveLong()
		<-b.Done()

		b = newBinding(Turn{})
		_, leave, _ := b.enter(t.Context())
		time.AfterFunc(time.Second, leave)
		begun = time.Now()
		b.Drain(t.Context())
		if took := time.Since(begun); took != time.Second {
			t.Errorf("Drain() took %s, want the second that the call takes", took)
		}
	})
}
