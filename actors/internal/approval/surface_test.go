package approval_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"agentd/actors/internal/approval"
	"agentd/messages"
	"agentd/presets"
)

// house is a surface over the real rules, with one risky tool, and what ran.
type house struct {
	*presets.Surface
	desk    *desk
	manager *presets.Manager

	mu    sync.Mutex
	runs  []string // the arguments of what ran
	steps []presets.Step
}

const tool = "space_risky"

func newHouse(t *testing.T, exposure presets.Exposure, params approval.Params) *house {
	t.Helper()
	manager, err := presets.NewManager(nil)
	must(t, err)
	h := &house{desk: newDesk(t, params), manager: manager}
	must(t, manager.Install(presets.Bundle{
		Preset: presets.Preset{Name: "risky", Risk: messages.RiskShell, Contexts: []presets.Pattern{{}}, ToolIDs: []string{"risky.run"}},
		Adapters: []presets.Adapter{{
			ID: "risky.run", Name: tool, Description: "Does it.", InputSchema: json.RawMessage(`{"type":"object"}`),
			Make: func(presets.Env) (presets.RunFunc, error) {
				return func(_ context.Context, arguments json.RawMessage) (presets.Result, error) {
					h.mu.Lock()
					defer h.mu.Unlock()
					h.runs = append(h.runs, string(arguments))
					return presets.Text("done"), nil
				}, nil
			},
		}},
	}))
	h.Surface, err = presets.NewSurface(manager, h.desk, &presets.SurfaceOptions{Exposure: exposure, RequestWait: -1})
	must(t, err)
	return h
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (h *house) call(ctx context.Context, t *testing.T, name, arguments string, noWait bool) presets.Result {
	t.Helper()
	result, err := h.Call(ctx, presets.Call{
		Caller: presets.Caller{SessionID: "s1", TurnID: "t1", AgentID: "a1"}, Name: name, Arguments: json.RawMessage(arguments), NoWait: noWait,
		Recorder: presets.RecorderFunc(func(_ context.Context, step presets.Step) error {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.steps = append(h.steps, step)
			return nil
		}),
	})
	if err != nil {
		t.Errorf("Call(%s, %s) = %v", name, arguments, err)
	}
	return result
}

func (h *house) ran() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.runs)
}

func (h *house) listed(t *testing.T) bool {
	t.Helper()
	tools, err := h.Tools(t.Context(), presets.Caller{SessionID: "s1", AgentID: "a1"})
	must(t, err)
	_, found := tools.Find(tool)
	return found
}

func (h *house) pending(t *testing.T) []presets.Request {
	t.Helper()
	open, err := h.desk.Pending(t.Context())
	must(t, err)
	return open
}

// Checklist 50, 51 and 52: list but gate, approve, run once, ask again.
func TestGatedCallWithoutWaiting(t *testing.T) {
	t.Parallel()
	h := newHouse(t, presets.Gated, approval.Params{})
	if !h.listed(t) {
		t.Error("a gated tool is not listed")
	}
	first := h.call(t.Context(), t, tool, `{"a":1,"b":2}`, true)
	open := h.pending(t)
	if !errors.Is(first.Cause, presets.ErrApprovalRequired) || len(open) != 1 || open[0].ID != first.RequestID || h.ran() != 0 {
		t.Fatalf("result %+v, pending %+v, ran %d", first, open, h.ran())
	}
	if !strings.Contains(first.Text, `"args_hash":"`+open[0].Fingerprint+`"`) || !strings.Contains(first.Text, string(open[0].ID)) {
		t.Errorf("the answer %s does not name the request", first.Text)
	}
	if again := h.call(t.Context(), t, tool, `{"b":2,"a":1}`, true); again.RequestID != first.RequestID {
		t.Errorf("the same call again: request %q, want %q", again.RequestID, first.RequestID)
	}
	if other := h.call(t.Context(), t, tool, `{"a":1,"b":3}`, true); other.RequestID == first.RequestID || other.RequestID == "" {
		t.Errorf("another call: request %q", other.RequestID)
	}
	must(t, h.desk.Decide(t.Context(), first.RequestID, presets.Answer{Verb: presets.ApproveOnce}))
	if result := h.call(t.Context(), t, tool, `{"b":2,"a":1}`, true); result.IsError || h.ran() != 1 {
		t.Errorf("after the approval: %+v, ran %d", result, h.ran())
	}
	if result := h.call(t.Context(), t, tool, `{"b":2,"a":1}`, true); !errors.Is(result.Cause, presets.ErrApprovalRequired) || h.ran() != 1 {
		t.Errorf("the third time: %+v, ran %d", result, h.ran())
	}
}

// Checklist 49 and the way out of it: hidden, asked for, approved, listed, run once, hidden again.
func TestHiddenToolByRequest(t *testing.T) {
	t.Parallel()
	h := newHouse(t, presets.Hidden, approval.Params{})
	if h.listed(t) {
		t.Error("an unapproved risky tool is listed")
	}
	if result := h.call(t.Context(), t, tool, `{"a":1}`, false); !result.IsError || h.ran() != 0 || len(h.pending(t)) != 0 {
		t.Errorf("a hidden call: %+v, ran %d, pending %v", result, h.ran(), h.pending(t))
	}
	asked := h.call(t.Context(), t, presets.RequestToolName, `{"tool":"`+tool+`","arguments":{"a":1},"reason":"to see"}`, false)
	if open := h.pending(t); len(open) != 1 || open[0].ID != asked.RequestID || open[0].Reason != "to see" || open[0].Preview != `{"a":1}` {
		t.Fatalf("asked %+v, pending %+v", asked, open)
	}
	must(t, h.desk.Decide(t.Context(), asked.RequestID, presets.Answer{Verb: presets.ApproveOnce}))
	if !h.listed(t) {
		t.Error("an approved tool is not listed")
	}
	if result := h.call(t.Context(), t, tool, `{"a":2}`, false); !result.IsError || h.ran() != 0 {
		t.Errorf("other arguments: %+v, ran %d", result, h.ran())
	}
	if result := h.call(t.Context(), t, tool, `{"a":1}`, false); result.IsError || h.ran() != 1 {
		t.Errorf("the approved call: %+v, ran %d", result, h.ran())
	}
	if h.listed(t) {
		t.Error("the tool is still listed after its approval was used")
	}
}

// Checklist 55: the request tool, then a direct identical call: one request.
func TestRequestToolThenCall(t *testing.T) {
	t.Parallel()
	h := newHouse(t, presets.Gated, approval.Params{})
	asked := h.call(t.Context(), t, presets.RequestToolName, `{"tool":"`+tool+`","arguments":{"a":1}}`, false)
	direct := h.call(t.Context(), t, tool, `{"a":1.0}`, true)
	if asked.RequestID == "" || asked.RequestID != direct.RequestID || len(h.pending(t)) != 1 {
		t.Errorf("requests %q and %q, want one", asked.RequestID, direct.RequestID)
	}
}

// Checklist 56, 57 and 58: a waiting call, approved, denied or cancelled.
func TestWaitingCall(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		act    func(ctx context.Context, d *desk, id messages.RequestID, cancel func()) error
		status messages.CallStatus
		steps  string
	}{
		{"approved", func(ctx context.Context, d *desk, id messages.RequestID, _ func()) error {
			return d.Decide(ctx, id, presets.Answer{Verb: presets.ApproveOnce, Who: "ann"})
		}, messages.CallCompleted, "requested decided started finished"},
		{"denied", func(ctx context.Context, d *desk, id messages.RequestID, _ func()) error {
			return d.Decide(ctx, id, presets.Answer{Verb: presets.Deny, Who: "ann", Reason: "no"})
		}, messages.CallDenied, "requested decided finished"},
		{"cancelled", func(_ context.Context, _ *desk, _ messages.RequestID, cancel func()) error {
			cancel()
			return nil
		}, messages.CallCancelled, "requested finished"},
		{"released", func(ctx context.Context, d *desk, _ messages.RequestID, _ func()) error {
			return d.Release(ctx, presets.Caller{SessionID: "s1", TurnID: "t1"})
		}, messages.CallCancelled, "requested decided finished"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, presets.Gated, approval.Params{})
			h.desk.opened = make(chan messages.RequestID, 16)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			results := make(chan presets.Result, 1)
			go func() { results <- h.call(ctx, t, tool, `{}`, false) }()
			must(t, test.act(t.Context(), h.desk, <-h.desk.opened, cancel))
			result := <-results
			if result.Status != test.status || (h.ran() == 1) != (test.status == messages.CallCompleted) || len(h.pending(t)) != 0 {
				t.Errorf("result %+v, ran %d, pending %v", result, h.ran(), h.pending(t))
			}
			var kinds []string
			for _, step := range h.steps {
				kinds = append(kinds, string(step.Kind))
				if d := step.Decision; d != nil && (d.ToolID != "risky.run" || d.Risk != messages.RiskShell || d.Asked == "" || d.At != 1000 || d.Who == "") {
					t.Errorf("the recorded decision %+v does not say who, what, risk, reason and when", d)
				}
			}
			got := strings.Join(kinds, " ")
			if test.name == "cancelled" { // It may be cancelled before the request is recorded.
				got = strings.Replace("requested "+got, "requested requested", "requested", 1)
			}
			if got != test.steps {
				t.Errorf("steps = %q, want %q", got, test.steps)
			}
			if verdict, err := h.Check(t.Context(), presets.Call{Caller: presets.Caller{SessionID: "s1", AgentID: "a1"}, Name: tool}); err != nil || verdict.State != presets.StateNeedsApproval {
				t.Errorf("something is left behind: %+v, %v", verdict, err)
			}
		})
	}
}

// Checklist 53: always lasts, also after a restart, until it is revoked.
func TestAlways(t *testing.T) {
	t.Parallel()
	h := newHouse(t, presets.Gated, approval.Params{})
	asked := h.call(t.Context(), t, tool, `{"a":1}`, true)
	must(t, h.desk.Decide(t.Context(), asked.RequestID, presets.Answer{Verb: presets.ApproveAlways, Who: "ann"}))
	for range 3 {
		h.call(t.Context(), t, tool, `{"a":1}`, false)
	}
	text, err := presets.EncodeGrants(h.desk.stored)
	must(t, err)
	if strings.Contains(string(text), "secret") || h.ran() != 3 {
		t.Errorf("ran %d, stored %s", h.ran(), text)
	}
	stored, err := presets.DecodeGrants(text)
	must(t, err)
	again := newHouse(t, presets.Hidden, approval.Params{Grants: stored})
	if result := again.call(t.Context(), t, tool, `{"a":1}`, false); result.IsError || !again.listed(t) {
		t.Errorf("after a restart: %+v, listed %t", result, again.listed(t))
	}
	must(t, again.desk.Revoke(t.Context(), stored[0].ID))
	if result := again.call(t.Context(), t, tool, `{"a":1}`, false); !result.IsError || again.ran() != 1 || again.listed(t) {
		t.Errorf("after revoking: %+v, ran %d, listed %t", result, again.ran(), again.listed(t))
	}
}

// TestManyCallsAtOnce: goroutines call, a person clicks at random: what ran is exactly what was decided.
func TestManyCallsAtOnce(t *testing.T) {
	t.Parallel()
	const callers, calls = 8, 60
	h := newHouse(t, presets.Gated, approval.Params{})
	h.desk.opened = make(chan messages.RequestID, 100_000)
	approved := map[string]int{} // by arguments; owned by the person
	done, person := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(person)
		rng := rand.New(rand.NewPCG(1, 2))
		for {
			select {
			case id := <-h.desk.opened:
				verb := presets.Deny
				if rng.IntN(2) == 0 {
					verb = presets.ApproveOnce
				}
				preview := previewOf(h.desk, id)
				if h.desk.Decide(context.Background(), id, presets.Answer{Verb: verb}) == nil && verb == presets.ApproveOnce {
					approved[preview]++
				}
			case <-done:
				return
			}
		}
	}()
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 3))
			for range calls {
				ctx, cancel := context.WithCancel(context.Background())
				if rng.IntN(4) == 0 {
					cancel()
				}
				h.call(ctx, t, tool, fmt.Sprintf(`{"n":%d}`, rng.IntN(3)), false)
				cancel()
			}
		})
	}
	group.Wait()
	close(done)
	<-person
	ran := map[string]int{}
	for _, arguments := range h.runs {
		ran[arguments]++
	}
	for arguments, count := range ran {
		if count > approved[arguments] {
			t.Errorf("%s ran %d times, approved %d times", arguments, count, approved[arguments])
		}
	}
	if len(h.runs) == 0 {
		t.Error("nothing ran at all")
	}
}

func previewOf(d *desk, id messages.RequestID) string {
	open, _ := d.Pending(context.Background())
	for _, request := range open {
		if request.ID == id {
			return request.Preview
		}
	}
	return ""
}
