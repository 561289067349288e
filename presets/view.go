package presets

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"agentd/messages"
)

// ViewParams say for whom a view is.
type ViewParams struct {
	// Manager and Approvals are required.
	Manager   *Manager
	Approvals Approvals
	// Caller is whose presets are seen, and on whose behalf is asked.
	Caller Caller
	// Recorder is told of requests and decisions. Nil means that nobody keeps them.
	Recorder Recorder
}

// View is an agent's face of the presets: it reads, and may ask. Only a [Manager], which is a person's face, can override.
type View struct {
	params ViewParams
}

// NewView returns a view, which may lie where its owner wants it. The error names the service that is missing.
func NewView(params ViewParams) (View, error) {
	if params.Manager == nil {
		return View{}, errors.New("preset view: the preset manager is missing")
	}
	if params.Approvals == nil {
		return View{}, errors.New("preset view: the approvals are missing")
	}
	return View{params: params}, nil
}

// Resolve returns what is active for the caller's session.
func (v *View) Resolve() Resolution { return v.params.Manager.Resolve(v.params.Caller.SessionID) }

// Context returns where the person is, as the caller's session sees it.
func (v *View) Context() Context { return v.params.Manager.Context(v.params.Caller.SessionID) }

// List returns every registered preset with its state for the caller's session.
func (v *View) List() []Status { return v.params.Manager.List(v.params.Caller.SessionID) }

// Status is one registered preset as it stands for a session.
type Status struct {
	Preset Preset `json:"preset"`
	// Active says whether it is active, and Cause why or why not.
	Active bool  `json:"active"`
	Cause  Cause `json:"reason"`
	// Override is the person's word that holds for the session.
	Override Override `json:"override"`
}

// List returns every registered preset with its state for a session (or, with an empty id, for those without settings of
// their own), in the order of registration.
func (m *Manager) List(session messages.SessionID) []Status {
	state := m.state.Load()
	where := state.place(session)
	out := make([]Status, len(state.registry.presets))
	for i, preset := range state.registry.presets {
		active, cause := where.decide(preset)
		out[i] = Status{Preset: preset.Clone(), Active: active, Cause: cause, Override: where.override(preset.Name)}
	}
	return out
}

// enableToolID is what a request to enable a preset is filed under. No tool has it.
const enableToolID = reservedIDPrefix + "enable-preset"

// RequestEnable asks for a preset to be turned on for the caller's session, by the preset's strictest risk: normal is granted at once, everything else by
// the policy, a grant or a person, for whom it waits. An approval once is used up by this one turning on. The decision says how
// it went; the error is [ErrUnknownPreset], [ErrConflict], that of the approvals, the recorder or the store, or wraps context.Cause.
func (v *View) RequestEnable(ctx context.Context, preset, reason string) (Decision, error) {
	if v.params.Caller.SessionID == "" { // Without one, it would be turned on for everybody.
		return Decision{}, fmt.Errorf("asking to enable the preset %q: %w: the view has no session", preset, ErrInvalid)
	}
	ask, err := v.enableAsk(preset, reason)
	if err != nil {
		return Decision{}, err
	}
	ask.OnPending = func(request Request) error {
		return v.record(ctx, Step{Kind: StepRequested, Request: &request}, ask)
	}
	decision, err := v.params.Approvals.Request(ctx, ask)
	if err != nil {
		return Decision{}, fmt.Errorf("asking to enable the preset %q: %w", preset, err)
	}
	if err := v.record(ctx, Step{Kind: StepDecided, Decision: &decision}, ask); err != nil {
		return Decision{}, err
	}
	if decision.Covers(ask) {
		err = v.params.Manager.SetOverride(ctx, ask.SessionID, preset, OverrideOn)
	}
	return decision, err
}

func (v *View) enableAsk(name, reason string) (Ask, error) {
	statuses := v.List()
	i := slices.IndexFunc(statuses, func(s Status) bool { return s.Preset.Name == name })
	if i < 0 {
		return Ask{}, fmt.Errorf("preset %q: %w", name, ErrUnknownPreset)
	}
	risk := statuses[i].Preset.Risk
	registry := v.params.Manager.state.Load().registry
	for _, id := range statuses[i].Preset.ToolIDs {
		risk = messages.Stricter(risk, registry.risk(id))
	}
	canonical, err := JSON(map[string]string{"preset": name})
	if err != nil {
		return Ask{}, err
	}
	return Ask{
		Caller: v.params.Caller, CallID: messages.NewCallID(), ToolID: enableToolID, Name: "enable preset " + name, Risk: risk,
		Reason: cleanReason(reason), Fingerprint: messages.Fingerprint(enableToolID, []byte(canonical.Text)), Preview: canonical.Text,
	}, nil
}

func (v *View) record(ctx context.Context, step Step, ask Ask) error {
	if v.params.Recorder == nil {
		return nil
	}
	step.Caller, step.CallID, step.ToolID, step.Name = ask.Caller, ask.CallID, ask.ToolID, ask.Name
	step.Risk, step.Fingerprint, step.Arguments = ask.Risk, ask.Fingerprint, []byte(ask.Preview)
	if err := v.params.Recorder.Record(ctx, step); err != nil {
		return fmt.Errorf("%w: %s of %q: %w", ErrNotRecorded, step.Kind, ask.Name, err)
	}
	return nil
}
