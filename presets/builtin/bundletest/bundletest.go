package bundletest

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"agentd/messages"
	"agentd/presets"
)

// Bench is a surface over some bundles, and the folders that their tools get.
type Bench struct {
	tb      testing.TB
	Surface *presets.Surface
	// ArtifactDir does not exist at first. WorkspaceRoot is empty.
	ArtifactDir, WorkspaceRoot string
}

// New returns a bench. Its folders go with the test.
func New(tb testing.TB, bundles ...presets.Bundle) *Bench {
	tb.Helper()
	manager, err := presets.NewManager(nil)
	if err != nil {
		tb.Fatal(err)
	}
	if err := manager.Install(bundles...); err != nil {
		tb.Fatal(err)
	}
	surface, err := presets.NewSurface(manager, consent{}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return &Bench{
		tb: tb, Surface: surface, ArtifactDir: filepath.Join(tb.TempDir(), "artifacts", "s1"), WorkspaceRoot: tb.TempDir(),
	}
}

// Call calls a tool and returns its result, good or bad.
func (b *Bench) Call(ctx context.Context, name, arguments string) presets.Result {
	b.tb.Helper()
	result, err := b.Surface.Call(ctx, presets.Call{
		Caller: presets.Caller{SessionID: "s1", TurnID: "t1", AgentID: "a1"}, Name: name, Arguments: json.RawMessage(arguments),
		ArtifactDir: b.ArtifactDir, WorkspaceRoot: b.WorkspaceRoot,
	})
	if err != nil {
		b.tb.Fatalf("Call(%s, %s) = %v", name, arguments, err)
	}
	return result
}

// Good calls a tool that must succeed, and decodes its answer.
func (b *Bench) Good(name, arguments string) map[string]any {
	b.tb.Helper()
	result := b.Call(b.tb.Context(), name, arguments)
	if result.IsError {
		b.tb.Fatalf("%s %s = %s", name, arguments, result.Text)
	}
	var answer map[string]any
	if err := json.Unmarshal([]byte(result.Text), &answer); err != nil {
		b.tb.Fatalf("%s %s: the answer is not a JSON object: %v\n%s", name, arguments, err, result.Text)
	}
	return answer
}

// Bad calls a tool that must fail, in words that hold want, and returns the result.
func (b *Bench) Bad(name, arguments, want string) presets.Result {
	b.tb.Helper()
	result := b.Call(b.tb.Context(), name, arguments)
	if !result.IsError || !strings.Contains(result.Text, want) {
		b.tb.Errorf("%s %s = %s, want an error with %q", name, arguments, result.Text, want)
	}
	return result
}

// consent approves everything.
type consent struct{}

func (consent) Check(context.Context, presets.Query) (presets.Verdict, error) {
	return presets.Verdict{State: presets.StateApproved, Via: presets.ViaPolicy}, nil
}

func (consent) Standing(context.Context, presets.Caller) (presets.Standing, error) {
	policy := presets.Policy{}
	for _, risk := range messages.Risks() {
		policy[risk] = presets.RuleAuto
	}
	return presets.Standing{Policy: policy}, nil
}

func (consent) Request(_ context.Context, ask presets.Ask) (presets.Decision, error) {
	return presets.Decision{
		Outcome: presets.OutcomeApproved, Via: presets.ViaPolicy, Caller: ask.Caller, CallID: ask.CallID,
		ToolID: ask.ToolID, Name: ask.Name, Risk: ask.Risk, Fingerprint: ask.Fingerprint,
	}, nil
}

func (consent) Decide(context.Context, messages.RequestID, presets.Answer) error {
	return presets.ErrUnknownRequest
}
func (consent) Pending(context.Context) ([]presets.Request, error) { return nil, nil }
func (consent) Grants(context.Context) ([]presets.Grant, error)    { return nil, nil }
func (consent) Revoke(context.Context, presets.GrantID) error      { return presets.ErrUnknownGrant }
func (consent) Release(context.Context, presets.Caller) error      { return nil }
