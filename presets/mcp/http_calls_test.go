package mcp

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/messages"
	"agentd/presets"
)

func TestHTTPApprovals(t *testing.T) {
	t.Parallel()
	for _, kind := range transportKinds() {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, presets.Gated)
			client := connect(t, openEndpoint(t, w, startServer(t, w, nil)), kind, nil)
			defer client.close()
			go w.answer(presets.ApproveOnce)
			result, err := client.call(t.Context(), "space_run", map[string]any{"cmd": "ls"})
			if err != nil || result.IsError {
				t.Errorf("approved call = %s, %v", text(result), err)
			}
			go w.answer(presets.Deny)
			result, err = client.call(t.Context(), "space_run", map[string]any{"cmd": "rm"})
			if err != nil || !result.IsError || fields(t, result)["status"] != "denied" {
				t.Errorf("denied call = %s, %v", text(result), err)
			}
			if diff := cmp.Diff([]string{`space_run {"cmd":"ls"}`}, w.runs()); diff != "" {
				t.Errorf("what ran (-want +got):\n%s", diff)
			}
			want := []string{"requested", "decided approved", "started", "finished", "requested", "decided denied", "finished"}
			if diff := cmp.Diff(want, w.recorded()); diff != "" {
				t.Errorf("recorded (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHTTPApprovalRequiredIsStructured(t *testing.T) {
	t.Parallel()
	w := newWorld(t, presets.Gated)
	server := startServer(t, w, &HTTPOptions{Tools: ToolServerOptions{NoWait: true}})
	client := connect(t, openEndpoint(t, w, server), transportKinds()[1], nil)
	defer client.close()
	args := map[string]any{"cmd": "ls"}
	result, err := client.call(t.Context(), "space_run", args)
	if err != nil || !result.IsError {
		t.Fatalf("call = %s, %v, want an error result", text(result), err)
	}
	request := w.question()
	got := fields(t, result)
	want := map[string]any{
		"status": "approval_required", "tool": "space_run", "source": "shell.run", "risk": "shell",
		"request_id": string(request.ID), "args_hash": request.Fingerprint,
	}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s = %v, want %v", name, got[name], value)
		}
	}
	// The request tool and a direct call of the same arguments are one question.
	asked, err := client.call(t.Context(), presets.RequestToolName, map[string]any{"tool": "space_run", "arguments": args, "reason": "because"})
	if err != nil || fields(t, asked)["request_id"] != string(request.ID) {
		t.Errorf("request tool = %s, %v, want the request id %s", text(asked), err, request.ID)
	}
	if err := w.approvals.Decide(t.Context(), request.ID, presets.Answer{Verb: presets.ApproveOnce, Who: "ann"}); err != nil {
		t.Fatal(err)
	}
	// Approved once: the identical call runs, the next one asks again.
	for _, isError := range []bool{false, true} {
		if result, err := client.call(t.Context(), "space_run", args); err != nil || result.IsError != isError {
			t.Errorf("call after the approval = %s, %v, want an error: %t", text(result), err, isError)
		}
	}
	if got := len(w.runs()); got != 1 {
		t.Errorf("it ran %d times, want once", got)
	}
}

// A call that waits for a person is never run once its caller has gone, however it went.
func TestHTTPCallerGoneBeforeTheApproval(t *testing.T) {
	t.Parallel()
	ways := map[string]func(client *testClient, cancel context.CancelFunc, endpoint *Endpoint, binding *Binding){
		"cancels":       func(_ *testClient, cancel context.CancelFunc, _ *Endpoint, _ *Binding) { cancel() },
		"disconnects":   func(client *testClient, _ context.CancelFunc, _ *Endpoint, _ *Binding) { client.wire.cut() },
		"its turn ends": func(_ *testClient, _ context.CancelFunc, _ *Endpoint, binding *Binding) { binding.Release() },
		"its endpoint closes": func(_ *testClient, _ context.CancelFunc, endpoint *Endpoint, _ *Binding) {
			_ = endpoint.Close(context.Background())
		},
	}
	for _, kind := range transportKinds() {
		for name, leave := range ways {
			t.Run(kind.name+" "+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, presets.Gated)
				endpoint := openEndpoint(t, w, startServer(t, w, nil))
				binding, err := endpoint.Bind(w.turn())
				if err != nil {
					t.Fatal(err)
				}
				client := connect(t, endpoint, kind, nil)
				defer client.close()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				done := make(chan struct{})
				go func() {
					defer close(done)
					_, _ = client.call(ctx, "space_run", nil) // How it is told depends on how it went.
				}()
				request := w.question()
				leave(client, cancel, endpoint, binding)
				w.withdrawn(request)
				<-done
				eventually(t, "the call is recorded as ended", func() bool {
					steps := w.recorded()
					return steps[len(steps)-1] == "finished"
				})
				if got := w.runs(); len(got) != 0 {
					t.Errorf("it ran: %v", got)
				}
			})
		}
	}
}

// A call that runs is ended when its caller goes.
func TestHTTPCallerGoneWhileItRuns(t *testing.T) {
	t.Parallel()
	for _, kind := range transportKinds() {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, presets.Gated)
			client := connect(t, openEndpoint(t, w, startServer(t, w, nil)), kind, nil)
			defer client.close()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			go func() {
				_, err := client.call(ctx, "space_hold", nil)
				done <- err
			}()
			<-w.begun
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled call = %v, want cancelled", err)
			}
			eventually(t, "the tool ends", func() bool { steps := w.recorded(); return steps[len(steps)-1] == "finished" })
			w.mu.Lock()
			defer w.mu.Unlock()
			if got := w.steps[len(w.steps)-1].Result.Status; got != messages.CallInterrupted {
				t.Errorf("status = %s, want interrupted", got)
			}
		})
	}
}

func TestHTTPTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, presets.Gated)
	server := startServer(t, w, nil)
	endpoint, err := server.Open(t.Context(), presets.Caller{SessionID: testSession, AgentID: "space"})
	if err != nil {
		t.Fatal(err)
	}
	client := connect(t, endpoint, transportKinds()[1], nil)
	defer client.close()
	refused := func(when string) {
		t.Helper()
		result, err := client.call(t.Context(), "space_echo", nil)
		if err != nil || !result.IsError || !strings.Contains(text(result), "no_active_turn") {
			t.Errorf("call %s = %s, %v, want no_active_turn", when, text(result), err)
		}
	}
	refused("before a turn")
	if _, err := endpoint.Bind(Turn{Caller: presets.Caller{SessionID: "agt-ses-2"}}); !errors.Is(err, ErrInvalid) {
		t.Errorf("Bind() of another session = %v, want ErrInvalid", err)
	}
	first, err := endpoint.Bind(w.turn())
	if err != nil {
		t.Fatal(err)
	}
	if result, err := client.call(t.Context(), "space_echo", nil); err != nil || result.IsError {
		t.Errorf("call in a turn = %s, %v", text(result), err)
	}
	// The next turn ends what the first one still does, and may call in its own way.
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = client.call(t.Context(), "space_hold", nil)
	}()
	<-w.begun
	var calls []presets.Call
	second, err := endpoint.Bind(Turn{
		Caller: presets.Caller{SessionID: testSession, TurnID: "turn-2"}, ArtifactDir: "/a", WorkspaceRoot: "/w",
		Call: func(_ context.Context, call presets.Call) (presets.Result, error) {
			calls = append(calls, call)
			return presets.Text("its own"), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	<-ended
	<-first.Done()
	result, err := client.call(t.Context(), "space_echo", map[string]any{"x": 1})
	if err != nil || text(result) != "its own" || len(calls) != 1 {
		t.Fatalf("call in the second turn = %s, %v, made %d times", text(result), err, len(calls))
	}
	if got := calls[0]; got.TurnID != "turn-2" || got.Name != "space_echo" || string(got.Arguments) != `{"x":1}` || got.ArtifactDir != "/a" || got.WorkspaceRoot != "/w" {
		t.Errorf("the turn was given %+v", got)
	}
	second.Release()
	second.Release()
	<-second.Done()
	refused("after the turn")
	if _, err := endpoint.Bind(Turn{Caller: presets.Caller{SessionID: testSession}, Recorder: w, Call: w.surface.Call}); !errors.Is(err, ErrInvalid) {
		t.Errorf("Bind() with Call and Recorder = %v, want ErrInvalid", err)
	}
}

// What cannot be recorded does not run, and the client is told.
func TestHTTPRecorderFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, presets.Gated)
	endpoint := openEndpoint(t, w, startServer(t, w, nil))
	turn := w.turn()
	turn.Recorder = presets.RecorderFunc(func(context.Context, presets.Step) error { return errTest })
	if _, err := endpoint.Bind(turn); err != nil {
		t.Fatal(err)
	}
	client := connect(t, endpoint, transportKinds()[0], nil)
	defer client.close()
	result, err := client.call(t.Context(), "space_echo", nil)
	if err != nil || !result.IsError || len(w.runs()) != 0 {
		t.Errorf("call = %s, %v, ran %v, want an error result and nothing run", text(result), err, w.runs())
	}
}
