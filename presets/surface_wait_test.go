package presets

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentd/messages"
)

// Checklist 56: cancelled while it waits, it never runs; cancelled while it runs, its effects are unknown.
func TestCancellation(t *testing.T) {
	t.Parallel()
	left := errors.New("user pressed stop")
	t.Run("while it waits", func(t *testing.T) {
		t.Parallel()
		b := setupSurface(t, &SurfaceOptions{Exposure: Gated})
		ctx, cancel := context.WithCancelCause(t.Context())
		b.approvals.request = func(ctx context.Context, _ Ask) (Decision, error) {
			cancel(left)
			<-ctx.Done()
			return Decision{}, context.Cause(ctx)
		}
		result, err := b.Call(ctx, b.callOf("space_wild", `{}`))
		if err != nil || result.Status != messages.CallCancelled || !errors.Is(result.Cause, ErrCancelled) || !errors.Is(result.Cause, left) || len(b.runs) > 0 || b.kinds() != "finished" {
			t.Errorf("Call() = %+v, %v; runs %v, steps %q", result, err, b.runs, b.kinds())
		}
	})
	t.Run("approved and cancelled at once", func(t *testing.T) {
		t.Parallel()
		b := setupSurface(t, &SurfaceOptions{Exposure: Gated})
		ctx, cancel := context.WithCancelCause(t.Context())
		approve := personSays(OutcomeApproved)
		b.approvals.request = func(ctx context.Context, ask Ask) (Decision, error) {
			cancel(left)
			return approve(ctx, ask)
		}
		result, err := b.Call(ctx, b.callOf("space_wild", `{}`))
		if err != nil || result.Status != messages.CallCancelled || len(b.runs) > 0 {
			t.Errorf("Call() = %+v, %v; runs %v", result, err, b.runs)
		}
	})
	t.Run("while it runs", func(t *testing.T) {
		t.Parallel()
		b := setupSurface(t, nil)
		ctx, cancel := context.WithCancelCause(t.Context())
		b.run = func(ctx context.Context) (Result, error) {
			cancel(left)
			<-ctx.Done()
			return Result{}, ctx.Err()
		}
		result, err := b.Call(ctx, b.callOf("space_calm", `{}`))
		if err != nil || result.Status != messages.CallInterrupted || !errors.Is(result.Cause, ErrInterrupted) || !errors.Is(result.Cause, left) {
			t.Errorf("Call() = %+v, %v", result, err)
		}
	})
	t.Run("after it has finished its work", func(t *testing.T) {
		t.Parallel()
		b := setupSurface(t, nil)
		ctx, cancel := context.WithCancelCause(t.Context())
		b.run = func(context.Context) (Result, error) { cancel(left); return Text("done"), nil }
		if result, err := b.Call(ctx, b.callOf("space_calm", `{}`)); err != nil || result.Status != messages.CallCompleted {
			t.Errorf("Call() = %+v, %v", result, err)
		}
	})
}

// The person may take long: what was turned off meanwhile does not run.
func TestPresetTurnedOffWhileWaiting(t *testing.T) {
	t.Parallel()
	b := setupSurface(t, &SurfaceOptions{Exposure: Gated})
	approve := personSays(OutcomeApproved)
	b.approvals.request = func(ctx context.Context, ask Ask) (Decision, error) {
		must(t, b.manager.SetOverride(ctx, "", "wild", OverrideOff))
		return approve(ctx, ask)
	}
	if result := b.call(t, "space_wild", `{}`); !errors.Is(result.Cause, ErrUnknownTool) || len(b.runs) > 0 {
		t.Errorf("result = %+v, runs %v", result, b.runs)
	}
}

func TestRequestTool(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		arguments string
		person    Outcome
		status    string // in the answer; empty: an error
		cause     error
		steps     string
	}{
		{"approved", `{"tool":"space_wild","arguments":{"n":1},"reason":"to  look"}`, OutcomeApproved, "approved", nil, "requested decided finished"},
		{"denied", `{"tool":"space_wild","arguments":{"n":1}}`, OutcomeDenied, "denied", nil, "requested decided finished"},
		{"open", `{"tool":"space_wild","arguments":{"n":1}}`, OutcomePending, "approval_required", nil, "requested finished"},
		{"normal needs none", `{"tool":"space_calm","arguments":{}}`, "", "approved", nil, "finished"},
		{"unknown tool", `{"tool":"space_nope","arguments":{}}`, "", "", ErrUnknownTool, "finished"},
		{"itself", `{"tool":"` + RequestToolName + `","arguments":{}}`, "", "", ErrArguments, "finished"},
		{"bad arguments of the tool", `{"tool":"space_wild","arguments":{"n":"x"}}`, "", "", ErrArguments, "finished"},
		{"arguments that are no object", `{"tool":"space_wild","arguments":[1]}`, "", "", ErrArguments, "finished"},
		{"no arguments", `{"tool":"space_wild"}`, "", "", ErrArguments, "finished"},
		{"a reason that is no text", `{"tool":"space_wild","arguments":{},"reason":1}`, "", "", ErrArguments, "finished"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := setupSurface(t, nil)
			if test.person != "" {
				b.approvals.request = personSays(test.person)
			}
			result := b.call(t, RequestToolName, test.arguments)
			if !errors.Is(result.Cause, test.cause) || result.IsError != (test.cause != nil) || b.kinds() != test.steps || len(b.runs) > 0 {
				t.Fatalf("result = %+v, steps %q, runs %v", result, b.kinds(), b.runs)
			}
			var answer struct{ Status string }
			if must(t, json.Unmarshal([]byte(result.Text), &answer)); answer.Status != test.status {
				t.Errorf("status = %q, want %q", answer.Status, test.status)
			}
			if test.person == "" {
				return
			}
			ask := b.approvals.asked[0]
			if !ask.Ahead || ask.Mode != AskWait || ask.ToolID != "test.wild" || ask.Fingerprint != messages.Fingerprint("test.wild", []byte(`{"n":1}`)) {
				t.Errorf("asked %+v", ask)
			}
		})
	}
}

// The request tool waits a while, then says that the request is open.
func TestRequestToolWaitsABoundedTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setupSurface(t, nil)
		b.approvals.request = func(ctx context.Context, ask Ask) (Decision, error) {
			must(t, ask.OnPending(Request{ID: "r9"}))
			<-ctx.Done()
			return Decision{}, context.Cause(ctx)
		}
		start := time.Now()
		result := b.call(t, RequestToolName, `{"tool":"space_wild","arguments":{}}`)
		if result.RequestID != "r9" || result.IsError || time.Since(start) != DefaultRequestWait {
			t.Errorf("after %s: %+v", time.Since(start), result)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		cancelled, err := b.Call(ctx, b.callOf(RequestToolName, `{"tool":"space_wild","arguments":{}}`))
		if err != nil || cancelled.Status != messages.CallCancelled {
			t.Errorf("cancelled = %+v, %v", cancelled, err)
		}
	})
}

func TestFragments(t *testing.T) {
	t.Parallel()
	b := setupSurface(t, nil)
	for policy, want := range map[Rule]string{
		RuleAuto: "calm: use calm|wild: use wild",
		RuleDeny: "calm: use calm",
	} {
		b.approvals.policy = Policy{messages.RiskShell: policy}
		fragments, err := b.Fragments(t.Context(), Caller{})
		must(t, err)
		var got []string
		for _, fragment := range fragments {
			got = append(got, fragment.Preset+": "+fragment.Prompt)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: fragments = %q, want %q", policy, strings.Join(got, "|"), want)
		}
	}
	b.approvals.policy = DefaultPolicy()
	fragments, err := b.Fragments(t.Context(), Caller{})
	must(t, err)
	if got := fragments[1].Prompt; !strings.HasPrefix(got, "use wild\n\n") || !strings.Contains(got, RequestToolName) || !strings.Contains(got, "space_wild") {
		t.Errorf("the fragment of a hidden preset = %q", got)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	b := setupSurface(t, nil)
	for name, want := range map[string]State{"space_calm": StateApproved, "space_wild": StateNeedsApproval} {
		if got, err := b.Check(t.Context(), b.callOf(name, `{}`)); err != nil || got.State != want {
			t.Errorf("Check(%s) = %+v, %v; want %s", name, got, err, want)
		}
	}
	if _, err := b.Check(t.Context(), b.callOf("space_nope", `{}`)); !errors.Is(err, ErrUnknownTool) {
		t.Errorf("Check(space_nope) = %v, want ErrUnknownTool", err)
	}
	if len(b.approvals.asked) > 0 || len(b.steps) > 0 {
		t.Error("Check asked or recorded something")
	}
}
