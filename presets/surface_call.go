package presets

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"agentd/messages"
)

// Call makes one call and returns what the model is told. It may wait for a person, and runs the tool on this goroutine. The
// error says that a step could not be recorded or that approvals could not be asked; everything else is a result.
func (s *Surface) Call(ctx context.Context, call Call) (Result, error) {
	run, err := s.begin(call)
	if err != nil {
		return run.finish(ctx, failed(messages.CallFailed, err))
	}
	if run.tool.ID == requestToolID {
		return run.requestApproval(ctx)
	}
	refusal, err := run.decide(ctx)
	if err != nil {
		return run.giveUp(ctx, err)
	}
	if refusal != nil {
		return run.finish(ctx, *refusal)
	}
	result, err := run.execute(ctx)
	if err != nil {
		return run.giveUp(ctx, err)
	}
	return run.finish(ctx, result)
}

// Check says what would come of the call now. It asks nobody and uses nothing up. The error is [ErrUnknownTool],
// [ErrArguments] or that of the approvals.
func (s *Surface) Check(ctx context.Context, call Call) (Verdict, error) {
	run, err := s.begin(call)
	if err != nil {
		return Verdict{}, err
	}
	if run.tool.Risk == messages.RiskNormal {
		return Verdict{State: StateApproved, Via: ViaNormal}, nil
	}
	verdict, err := s.approvals.Check(ctx, Query{
		Caller: call.Caller, ToolID: run.tool.ID, Risk: run.tool.Risk, Fingerprint: run.fingerprint,
	})
	if err != nil {
		return Verdict{}, fmt.Errorf("checking a call of %q: %w", call.Name, err)
	}
	return verdict, nil
}

// running is one call on its way through the steps.
type running struct {
	surface     *Surface
	call        Call
	tool        Tool
	entry       *adapterEntry
	args        exactArguments
	fingerprint string
}

// begin finds the tool and reads the arguments. What it returns can record its end even if there is an error.
func (s *Surface) begin(call Call) (*running, error) {
	if call.CallID == "" {
		call.CallID = messages.NewCallID()
	}
	run := &running{surface: s, call: call}
	if err := call.CallID.Validate(); err != nil {
		return run, fmt.Errorf("%w: %w", ErrArguments, err)
	}
	var err error
	if run.tool, run.entry, err = s.find(call.SessionID, call.Name); err != nil {
		return run, err
	}
	if run.args, err = readArguments(call.Arguments); err != nil {
		return run, fmt.Errorf("calling %q: %w", call.Name, err)
	}
	run.fingerprint = messages.Fingerprint(run.tool.ID, run.args.canonical)
	if err := checkAgainst(run.entry.schema, run.args); err != nil {
		return run, fmt.Errorf("calling %q: %w", call.Name, err)
	}
	return run, nil
}

// find returns a tool that is active for the session, approved or not.
func (s *Surface) find(session messages.SessionID, name string) (Tool, *adapterEntry, error) {
	if name == RequestToolName {
		return s.request, s.entry, nil
	}
	state := s.manager.state.Load()
	tool, active := state.resolution(session).Tools.Find(name)
	if !active {
		return Tool{}, nil, fmt.Errorf("%w %.80q: use one of those that are listed", ErrUnknownTool, name)
	}
	return tool, state.registry.adapters[tool.ID], nil
}

func (r *running) ask() Ask {
	ask := Ask{
		Caller: r.call.Caller, CallID: r.call.CallID, ToolID: r.tool.ID, Name: r.tool.Name, Risk: r.tool.Risk,
		Reason: cleanReason(r.call.Reason), Fingerprint: r.fingerprint, Preview: r.args.preview(),
	}
	if ask.Reason == "" {
		ask.Reason = fmt.Sprintf("The agent wants to call %s, whose risk is %s.", r.tool.Name, r.tool.Risk)
	}
	switch {
	case r.surface.options.Exposure == Hidden:
		ask.Mode = AskTry
	case r.call.NoWait:
		ask.Mode = AskLater
	}
	return ask
}

// decide gets a decision that covers this call, or the result that says why there is none. An error means that nothing
// could be decided or recorded.
func (r *running) decide(ctx context.Context) (refusal *Result, err error) {
	if r.tool.Risk == messages.RiskNormal {
		return nil, nil //nolint:nilnil // No refusal and no fault: the call may run.
	}
	ask := r.ask()
	decision, err := r.request(ctx, ask)
	switch {
	case err != nil && ctx.Err() != nil && !errors.Is(err, ErrNotRecorded):
		result := cancelled(ctx)
		return &result, nil
	case err != nil:
		return nil, err
	case decision.Outcome == OutcomePending:
		result := approvalRequired(ask, decision.RequestID)
		return &result, nil
	}
	if err := r.record(ctx, Step{Kind: StepDecided, Decision: &decision}); err != nil {
		return nil, err
	}
	if decision.Outcome != OutcomeApproved {
		result := refused(ask, decision)
		return &result, nil
	}
	if !decision.Covers(ask) {
		return nil, fmt.Errorf("calling %q: the decision on %q does not cover this call", r.call.Name, decision.CallID)
	}
	return nil, nil //nolint:nilnil // As above.
}

// request asks, and records a request that has to wait for a person.
func (r *running) request(ctx context.Context, ask Ask) (Decision, error) {
	ask.OnPending = func(request Request) error {
		return r.record(ctx, Step{Kind: StepRequested, Request: &request})
	}
	decision, err := r.surface.approvals.Request(ctx, ask)
	if err != nil {
		return Decision{}, fmt.Errorf("asking to approve a call of %q: %w", ask.Name, err)
	}
	return decision, nil
}

// execute runs the decided call. It looks at the tool once more, since the person may have taken long. An error
// means that the start could not be recorded, and nothing ran.
func (r *running) execute(ctx context.Context) (Result, error) {
	run, refusal := r.prepare(ctx)
	if refusal != nil {
		return *refusal, nil
	}
	if err := r.record(ctx, Step{Kind: StepStarted}); err != nil {
		return Result{}, err
	}
	result, fault := r.invoke(ctx, run)
	return outcome(ctx, result, fault), nil
}

// prepare builds the tool, or returns the result that says why it cannot run.
func (r *running) prepare(ctx context.Context) (RunFunc, *Result) {
	refuse := func(result Result) (RunFunc, *Result) { return nil, &result }
	if ctx.Err() != nil {
		return refuse(cancelled(ctx))
	}
	tool, entry, fault := r.surface.find(r.call.SessionID, r.call.Name)
	if fault != nil || entry != r.entry || tool.Risk != r.tool.Risk {
		return refuse(failed(messages.CallFailed, fmt.Errorf("%w %q: its preset was changed or turned off meanwhile", ErrUnknownTool, r.call.Name)))
	}
	run, fault := r.build()
	if fault != nil {
		return refuse(failed(messages.CallFailed, fault))
	}
	return run, nil
}

// outcome is the result of a call whose tool has run. Its fault is one for the model, not for the program.
func outcome(ctx context.Context, result Result, fault error) Result {
	switch {
	case fault != nil && ctx.Err() != nil:
		fault = fmt.Errorf("%w while it ran, its effects are unknown: %w: %w", ErrInterrupted, context.Cause(ctx), fault)
		return failed(messages.CallInterrupted, fault)
	case fault != nil:
		return failed(messages.CallFailed, fault)
	case result.IsError:
		result.Status = messages.CallFailed
		if result.Cause == nil {
			result.Cause = ErrToolFailed
		}
	default:
		result.Status = messages.CallCompleted
	}
	return result
}

// build makes the tool for this call.
func (r *running) build() (run RunFunc, err error) {
	defer r.recoverInto(&err, "building")
	run, err = r.entry.Make(Env{
		Caller: r.call.Caller, CallID: r.call.CallID, ArtifactDir: r.call.ArtifactDir, WorkspaceRoot: r.call.WorkspaceRoot,
	})
	if err == nil && run == nil {
		err = errors.New("its adapter made nothing")
	}
	if err != nil {
		err = fmt.Errorf("building %q: %w: %w", r.call.Name, ErrToolFailed, err)
	}
	return run, err
}

func (r *running) invoke(ctx context.Context, run RunFunc) (result Result, err error) {
	defer r.recoverInto(&err, "running")
	result, err = run(ctx, r.args.plain)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrToolFailed, err)
	}
	return result, err
}

// recoverInto turns a panic of a tool into an error. The model is not told what the panic said; the log is.
func (r *running) recoverInto(err *error, doing string) {
	fault := recover()
	if fault == nil {
		return
	}
	r.surface.options.Logger.Error("A tool panicked.", slog.String("tool", r.tool.ID), slog.String("doing", doing),
		slog.String("panic", fmt.Sprint(fault)), slog.String("stack", string(debug.Stack())))
	*err = fmt.Errorf("%w: %w while %s %q", ErrToolFailed, ErrPanicked, doing, r.call.Name)
}

// finish bounds the result and records it.
func (r *running) finish(ctx context.Context, result Result) (Result, error) {
	result = bound(result, r.surface.options.MaxResultBytes)
	result.CallID = r.call.CallID
	err := r.record(context.WithoutCancel(ctx), Step{Kind: StepFinished, Result: &result})
	return result, err
}

// giveUp ends a call that came to nothing because of a fault that is not its own. Its end is recorded, unless it was
// the recorder that failed.
func (r *running) giveUp(ctx context.Context, cause error) (Result, error) {
	result := failed(messages.CallFailed, fmt.Errorf("%w: it did not run: %w", ErrToolFailed, cause))
	if errors.Is(cause, ErrNotRecorded) {
		return result, cause
	}
	result, err := r.finish(ctx, result)
	return result, errors.Join(cause, err)
}

func (r *running) record(ctx context.Context, step Step) error {
	if r.call.Recorder == nil {
		return nil
	}
	step.Caller, step.CallID = r.call.Caller, r.call.CallID
	step.ToolID, step.Name, step.Risk, step.Idempotent = r.tool.ID, r.call.Name, r.tool.Risk, r.tool.Idempotent
	step.Arguments, step.Fingerprint = r.args.raw, r.fingerprint
	if err := r.call.Recorder.Record(ctx, step); err != nil {
		return fmt.Errorf("%w: %s of a call of %q: %w", ErrNotRecorded, step.Kind, r.call.Name, err)
	}
	return nil
}
