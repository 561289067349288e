package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"agentd/messages"
	"agentd/presets"
	"agentd/presets/mcp"
	"agentd/providers/opencode/bridge"
)

// patience is how long anything may take that takes a second on an idle machine.
const patience = 2 * time.Minute

// desk is a [presets.Approvals] that approves what is normal and nothing else.
type desk struct{}

var errNoDesk = errors.New("nobody decides here")

func (desk) Check(_ context.Context, q presets.Query) (presets.Verdict, error) {
	if q.Risk == messages.RiskNormal {
		return presets.Verdict{State: presets.StateApproved, Via: presets.ViaPolicy}, nil
	}
	return presets.Verdict{State: presets.StateNeedsApproval}, nil
}

func (desk) Standing(context.Context, presets.Caller) (presets.Standing, error) {
	return presets.Standing{Policy: presets.DefaultPolicy()}, nil
}

func (desk) Request(_ context.Context, ask presets.Ask) (presets.Decision, error) {
	out := presets.Decision{
		Caller: ask.Caller, CallID: ask.CallID, ToolID: ask.ToolID, Name: ask.Name, Risk: ask.Risk, Fingerprint: ask.Fingerprint,
		Outcome: presets.OutcomeDenied, Via: presets.ViaPolicy,
	}
	if ask.Risk == messages.RiskNormal {
		out.Outcome = presets.OutcomeApproved
	}
	return out, nil
}
func (desk) Decide(context.Context, messages.RequestID, presets.Answer) error { return errNoDesk }
func (desk) Pending(context.Context) ([]presets.Request, error)               { return nil, nil }
func (desk) Grants(context.Context) ([]presets.Grant, error)                  { return nil, nil }
func (desk) Revoke(context.Context, presets.GrantID) error                    { return errNoDesk }
func (desk) Release(context.Context, presets.Caller) error                    { return nil }

// world is a bridge over a surface with the presets "plain" (echo) and "extra" (more), of which the second one is off, and "shell" (run), which is
// on but not approved.
type world struct {
	t *testing.T
	// takes is how long a tool runs.
	takes   time.Duration
	manager *presets.Manager
	surface *presets.Surface
	home    string

	mu  sync.Mutex
	ran []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, home: filepath.Join(t.TempDir(), "agent-opencode")}
	var err error
	if w.manager, err = presets.NewManager(nil); err != nil {
		t.Fatal(err)
	}
	w.tool("plain", "space_echo", messages.RiskNormal)
	w.tool("extra", "space_more", messages.RiskNormal)
	w.tool("shell", "space_run", messages.RiskShell)
	w.override("", "extra", presets.OverrideOff)
	if w.surface, err = presets.NewSurface(w.manager, desk{}, nil); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) tool(preset, name string, risk messages.Risk) {
	w.t.Helper()
	id := preset + ".tool"
	err := errors.Join(
		w.manager.RegisterAdapter(presets.Adapter{
			ID: id, Name: name, Description: "The tool of " + preset + ".", InputSchema: json.RawMessage(`{"type":"object"}`), Risk: risk,
			Make: func(env presets.Env) (presets.RunFunc, error) {
				return func(ctx context.Context, args json.RawMessage) (presets.Result, error) {
					select {
					case <-time.After(w.takes):
					case <-ctx.Done():
						return presets.Result{}, context.Cause(ctx)
					}
					w.mu.Lock()
					defer w.mu.Unlock()
					w.ran = append(w.ran, string(env.SessionID)+" "+name)
					return presets.Text("said " + string(args)), nil
				}, nil
			},
		}),
		w.manager.RegisterPreset(presets.Preset{Name: preset, Risk: risk, ToolIDs: []string{id}, Contexts: []presets.Pattern{{}}, Prompt: "Use it."}),
	)
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) override(session messages.SessionID, preset string, value presets.Override) {
	w.t.Helper()
	if err := w.manager.SetOverride(w.t.Context(), session, preset, value); err != nil {
		w.t.Fatal(err)
	}
}

// bridge returns a bridge that is stopped at the end, and leaves no process.
func (w *world) bridge(opts *bridge.Options) *bridge.Bridge {
	w.t.Helper()
	br, err := bridge.New(w.surface, bridge.Params{Home: w.home}, opts)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		pid := br.Status().OpenCode.PID
		if err := br.Stop(context.Background()); err != nil {
			w.t.Error(err)
		}
		if pid != 0 && alive(pid) {
			w.t.Errorf("OpenCode (process %d) lives on after Stop", pid)
		}
	})
	return br
}

func (w *world) started(opts *bridge.Options) *bridge.Bridge {
	w.t.Helper()
	br := w.bridge(opts)
	if err := br.Start(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return br
}

func (w *world) open(br *bridge.Bridge, session messages.SessionID) *bridge.Link {
	w.t.Helper()
	link, err := br.Open(w.t.Context(), caller(session))
	if err != nil {
		w.t.Fatal(err)
	}
	return link
}

func (w *world) bind(link *bridge.Link, session messages.SessionID) *mcp.Binding {
	w.t.Helper()
	c := caller(session)
	c.TurnID = "turn-1"
	binding, err := link.Bind(mcp.Turn{Caller: c})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(binding.Release)
	return binding
}

func caller(session messages.SessionID) presets.Caller {
	return presets.Caller{SessionID: session, AgentID: "space"}
}

// poll waits until ok returns true.
func poll(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited too long for %s", what)
		}
		<-time.After(10 * time.Millisecond)
	}
}
