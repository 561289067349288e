package presets

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"agentd/messages"
)

// Checklist 60 and W23: an agent cannot enable a risky preset without approval; after approval, for its session only.
func TestRequestEnable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		preset  string
		policy  Rule
		person  Outcome
		enabled bool
		steps   string
	}{
		{"normal", "plain", RuleAsk, "", true, "decided"},
		{"policy auto", "risky", RuleAuto, "", true, "decided"},
		{"policy deny", "risky", RuleDeny, "", false, "decided"},
		{"approved", "risky", RuleAsk, OutcomeApproved, true, "requested decided"},
		{"denied", "risky", RuleAsk, OutcomeDenied, false, "requested decided"},
		{"a normal preset with a risky tool", "laundry", RuleAsk, OutcomeDenied, false, "requested decided"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := setupManager(t, nil)
			floor := goodAdapter("floor", "space_floor")
			floor.Risk = messages.RiskShell
			must(t, m.RegisterAdapter(floor))
			risky, plain, laundry := preset("risky", "a"), preset("plain", "b"), preset("laundry", "x")
			risky.Risk, laundry.ToolIDs = messages.RiskShell, []string{"floor"}
			for _, p := range []Preset{risky, plain, laundry} {
				p.Default = DefaultOff
				must(t, m.RegisterPreset(p))
			}
			approvals := &fakeApprovals{policy: Policy{messages.RiskShell: test.policy}}
			if test.person != "" {
				approvals.request = personSays(test.person)
			}
			var steps []string
			view, err := NewView(ViewParams{
				Manager: m.Manager, Approvals: approvals, Caller: Caller{SessionID: "s1", AgentID: "a1"},
				Recorder: RecorderFunc(func(_ context.Context, step Step) error { steps = append(steps, string(step.Kind)); return nil }),
			})
			must(t, err)
			decision, err := view.RequestEnable(t.Context(), test.preset, "for the task")
			must(t, err)
			if got := decision.Outcome == OutcomeApproved; got != test.enabled {
				t.Errorf("decision = %+v", decision)
			}
			if got := activeNames(m.Manager, "s1") == test.preset+":override"; got != test.enabled {
				t.Errorf("active in the session: %q", activeNames(m.Manager, "s1"))
			}
			if got := activeNames(m.Manager, "") + activeNames(m.Manager, "s2"); got != "" {
				t.Errorf("active elsewhere: %q", got)
			}
			if got := strings.Join(steps, " "); got != test.steps {
				t.Errorf("steps = %q, want %q", got, test.steps)
			}
		})
	}
}

func TestRequestEnableRefusals(t *testing.T) {
	t.Parallel()
	m := setupManager(t, nil)
	must(t, m.RegisterPreset(preset("one", "a")))
	approvals := &fakeApprovals{policy: DefaultPolicy()}
	view, err := NewView(ViewParams{Manager: m.Manager, Approvals: approvals, Caller: Caller{SessionID: "s1"}})
	must(t, err)
	if _, err := view.RequestEnable(t.Context(), "nope", ""); !errors.Is(err, ErrUnknownPreset) {
		t.Errorf("an unknown preset = %v", err)
	}
	nobody, err := NewView(ViewParams{Manager: m.Manager, Approvals: approvals})
	must(t, err)
	if _, err := nobody.RequestEnable(t.Context(), "one", ""); !errors.Is(err, ErrInvalid) {
		t.Errorf("without a session = %v", err)
	}
	if _, err := NewView(ViewParams{Approvals: approvals}); err == nil || !strings.Contains(err.Error(), "manager") {
		t.Errorf("NewView without a manager = %v", err)
	}
	if _, err := NewView(ViewParams{Manager: m.Manager}); err == nil || !strings.Contains(err.Error(), "approvals") {
		t.Errorf("NewView without approvals = %v", err)
	}
}

// W23: nothing in the agents' face can override.
func TestViewHasNoOverride(t *testing.T) {
	t.Parallel()
	view := reflect.TypeFor[*View]()
	allowed := map[string]bool{"Resolve": true, "Context": true, "List": true, "RequestEnable": true}
	for i := range view.NumMethod() {
		if name := view.Method(i).Name; !allowed[name] {
			t.Errorf("View has the method %s: is it one that an agent may use?", name)
		}
	}
	for i := range view.Elem().NumField() {
		if field := view.Elem().Field(i); field.IsExported() {
			t.Errorf("View exports the field %s", field.Name)
		}
	}
}
