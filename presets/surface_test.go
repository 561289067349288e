package presets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/messages"
)

// surfaceBundle is a surface over a calm tool (normal) and a wild one (shell), and what they and the recorder saw.
type surfaceBundle struct {
	*Surface
	manager   *Manager
	approvals *fakeApprovals
	runs      []string // names and arguments of what ran
	steps     []Step
	run       func(ctx context.Context) (Result, error) // what the tools do, if not nil
	make      func() error                              // what building them does, if not nil
	record    func(Step) error                          // what recording does, if not nil
}

func setupSurface(t *testing.T, opts *SurfaceOptions) *surfaceBundle {
	t.Helper()
	manager, err := NewManager(nil)
	must(t, err)
	b := &surfaceBundle{manager: manager, approvals: &fakeApprovals{policy: DefaultPolicy()}}
	for _, name := range []string{"calm", "wild"} {
		must(t, manager.RegisterAdapter(b.adapter(name)))
		p := preset(name, "x")
		p.ToolIDs, p.Contexts = []string{"test." + name}, []Pattern{{}}
		if name == "wild" {
			p.Risk = messages.RiskShell
		}
		must(t, manager.RegisterPreset(p))
	}
	b.Surface, err = NewSurface(manager, b.approvals, opts)
	must(t, err)
	return b
}

func TestSurfaceKnows(t *testing.T) {
	t.Parallel()
	b := setupSurface(t, nil)
	must(t, b.manager.RegisterAdapter(b.adapter("spare"))) // No preset has it.
	for name, want := range map[string]bool{
		RequestToolName: true, ToolPrefix + "calm": true, ToolPrefix + "wild": true, ToolPrefix + "spare": true,
		"calm": false, "test.calm": false, ToolPrefix + "gone": false, "": false,
	} {
		if got := b.Knows(name); got != want {
			t.Errorf("Knows(%q) = %v, want %v", name, got, want)
		}
	}
	must(t, b.manager.UnregisterAdapter("test.spare"))
	if b.Knows(ToolPrefix + "spare") {
		t.Error("Knows() of an adapter that was unregistered = true")
	}
}

func (b *surfaceBundle) adapter(name string) Adapter {
	adapter := goodAdapter("test."+name, ToolPrefix+name)
	adapter.InputSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"text":{"type":"string"}},"additionalProperties":false}`)
	adapter.Make = func(Env) (RunFunc, error) {
		if b.make != nil {
			if err := b.make(); err != nil {
				return nil, err
			}
		}
		return func(ctx context.Context, arguments json.RawMessage) (Result, error) {
			b.runs = append(b.runs, name+string(arguments))
			if b.run != nil {
				return b.run(ctx)
			}
			return Text("done"), nil
		}, nil
	}
	return adapter
}

func (b *surfaceBundle) call(t *testing.T, name, arguments string) Result {
	t.Helper()
	result, err := b.Call(t.Context(), b.callOf(name, arguments))
	if err != nil {
		t.Fatalf("Call(%s, %s) = %v", name, arguments, err)
	}
	return result
}

func (b *surfaceBundle) callOf(name, arguments string) Call {
	return Call{
		Caller: Caller{SessionID: "s1", TurnID: "t1", AgentID: "a1"}, CallID: "c1", Name: name, Arguments: json.RawMessage(arguments),
		Recorder: RecorderFunc(func(_ context.Context, step Step) error {
			b.steps = append(b.steps, step)
			if b.record != nil {
				return b.record(step)
			}
			return nil
		}),
	}
}

func (b *surfaceBundle) kinds() string {
	kinds := make([]string, len(b.steps))
	for i, step := range b.steps {
		kinds[i] = string(step.Kind)
	}
	return strings.Join(kinds, " ")
}

func names(tools Toolset) string {
	var out []string
	for _, tool := range tools {
		out = append(out, tool.Name)
	}
	return strings.Join(out, " ")
}

// Checklist 36, the part of the tools and approvals.
func TestNewSurfaceNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	manager, err := NewManager(nil)
	must(t, err)
	for _, test := range []struct {
		name      string
		manager   *Manager
		approvals Approvals
		opts      *SurfaceOptions
		want      string
	}{
		{"no manager", nil, &fakeApprovals{}, nil, "preset manager"},
		{"no approvals", manager, nil, nil, "approvals"},
		{"unknown exposure", manager, &fakeApprovals{}, &SurfaceOptions{Exposure: "open"}, "Exposure"},
		{"results too small", manager, &fakeApprovals{}, &SurfaceOptions{MaxResultBytes: 1}, "MaxResultBytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if _, err := NewSurface(test.manager, test.approvals, test.opts); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("NewSurface() = %v, want an error with %q", err, test.want)
			}
		})
	}
}

// Checklist 48: three shapes, one source.
func TestThreeShapes(t *testing.T) {
	t.Parallel()
	b := setupSurface(t, &SurfaceOptions{Exposure: Gated})
	tools, err := b.Tools(t.Context(), Caller{})
	must(t, err)
	if got, want := names(tools), RequestToolName+" space_calm space_wild"; got != want {
		t.Fatalf("tools = %q, want %q", got, want)
	}
	mcp, responses, chat := tools.MCP(), tools.Responses(), tools.Chat()
	for i, tool := range tools {
		var schema any
		must(t, json.Unmarshal(tool.InputSchema, &schema))
		for shape, value := range map[string]any{"mcp": mcp[i], "responses": responses[i], "chat": chat[i]} {
			text, err := json.Marshal(value)
			must(t, err)
			var got map[string]any
			must(t, json.Unmarshal(text, &got))
			want := map[string]map[string]any{
				"mcp":       {"name": tool.Name, "description": tool.Description, "inputSchema": schema},
				"responses": {"type": "function", "name": tool.Name, "description": tool.Description, "parameters": schema},
				"chat":      {"type": "function", "function": map[string]any{"name": tool.Name, "description": tool.Description, "parameters": schema}},
			}[shape]
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s of %s (-want +got):\n%s", shape, tool.Name, diff)
			}
		}
	}
	if len(Toolset(nil).MCP()) != 0 || Toolset(nil).Chat() == nil {
		t.Error("an empty list must be encoded as [], not null")
	}
}

// Checklist 49: by default an unapproved risky tool is nowhere, and a call of it does not run.
func TestHiddenExposure(t *testing.T) {
	t.Parallel()
	b := setupSurface(t, nil)
	for _, test := range []struct {
		name   string
		policy Policy
		usable map[string]bool
		want   string
	}{
		{"ask", DefaultPolicy(), nil, RequestToolName + " space_calm"},
		{"deny", Policy{messages.RiskShell: RuleDeny}, map[string]bool{"test.wild": true}, RequestToolName + " space_calm"},
		{"auto", Policy{messages.RiskShell: RuleAuto}, nil, RequestToolName + " space_calm space_wild"},
		{"a grant", DefaultPolicy(), map[string]bool{"test.wild": true}, RequestToolName + " space_calm space_wild"},
	} {
		b.approvals.policy, b.approvals.usable = test.policy, test.usable
		tools, err := b.Tools(t.Context(), Caller{})
		must(t, err)
		if got := names(tools); got != test.want {
			t.Errorf("%s: tools = %q, want %q", test.name, got, test.want)
		}
	}
	b.approvals.policy, b.approvals.usable = DefaultPolicy(), nil
	result := b.call(t, "space_wild", `{"n":1}`)
	if !errors.Is(result.Cause, ErrApprovalRequired) || !result.IsError || result.Status != messages.CallDenied || len(b.runs) > 0 {
		t.Errorf("a hidden call = %+v, runs %v", result, b.runs)
	}
	if got := b.approvals.asked[0].Mode; got != AskTry {
		t.Errorf("a hidden call bothered a person: mode %q", got)
	}
	if got := b.kinds(); got != "finished" {
		t.Errorf("steps = %q", got)
	}
}

// With Gated, denied tools are not listed: nothing that a person does makes them run.
func TestGatedExposure(t *testing.T) {
	t.Parallel()
	b := setupSurface(t, &SurfaceOptions{Exposure: Gated})
	b.approvals.policy = Policy{messages.RiskShell: RuleDeny}
	tools, err := b.Tools(t.Context(), Caller{})
	must(t, err)
	if got, want := names(tools), RequestToolName+" space_calm"; got != want {
		t.Errorf("tools = %q, want %q", got, want)
	}
}

// The order of the steps, for each way that a call can go.
func TestStepsOfACall(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		call   string
		person Outcome
		policy Rule
		steps  string
		status messages.CallStatus
		cause  error
	}{
		{"normal", "space_calm", "", RuleAsk, "started finished", messages.CallCompleted, nil},
		{"by policy", "space_wild", "", RuleAuto, "decided started finished", messages.CallCompleted, nil},
		{"denied by policy", "space_wild", "", RuleDeny, "decided finished", messages.CallDenied, ErrDenied},
		{"approved", "space_wild", OutcomeApproved, RuleAsk, "requested decided started finished", messages.CallCompleted, nil},
		{"denied", "space_wild", OutcomeDenied, RuleAsk, "requested decided finished", messages.CallDenied, ErrDenied},
		{"expired", "space_wild", OutcomeExpired, RuleAsk, "requested decided finished", messages.CallDenied, ErrExpired},
		{"cancelled", "space_wild", OutcomeCancelled, RuleAsk, "requested decided finished", messages.CallCancelled, ErrCancelled},
		{"left open", "space_wild", OutcomePending, RuleAsk, "requested finished", messages.CallDenied, ErrApprovalRequired},
		{"unknown tool", "space_nope", "", RuleAsk, "finished", messages.CallFailed, ErrUnknownTool},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := setupSurface(t, &SurfaceOptions{Exposure: Gated})
			b.approvals.policy = Policy{messages.RiskShell: test.policy}
			if test.person != "" {
				b.approvals.request = personSays(test.person)
			}
			result := b.call(t, test.call, `{"text":"x"}`)
			if result.Status != test.status || !errors.Is(result.Cause, test.cause) || result.IsError != (test.cause != nil) {
				t.Errorf("result = %+v, want %s because of %v", result, test.status, test.cause)
			}
			if got := b.kinds(); got != test.steps {
				t.Errorf("steps = %q, want %q", got, test.steps)
			}
			if ran := test.status == messages.CallCompleted; ran != (len(b.runs) == 1) {
				t.Errorf("runs = %v, want one: %t", b.runs, ran)
			}
			last := b.steps[len(b.steps)-1]
			if last.Result == nil || last.Result.Text != result.Text || last.CallID != "c1" || last.Name != test.call || last.Caller.SessionID != "s1" {
				t.Errorf("last step = %+v", last)
			}
		})
	}
}

// Checklist 50: the structured answer. Checklist 57: what the recorder gets of a denial.
func TestApprovalRequiredAnswer(t *testing.T) {
	t.Parallel()
	b := setupSurface(t, &SurfaceOptions{Exposure: Gated})
	b.approvals.request = func(_ context.Context, ask Ask) (Decision, error) {
		decision := decisionOn(ask, OutcomePending)
		decision.RequestID = "r7"
		return decision, nil
	}
	call := b.callOf("space_wild", `{"text":"x", "n":1}`)
	call.NoWait, call.Reason = true, "to look"
	result, err := b.Call(t.Context(), call)
	must(t, err)
	if got := b.approvals.asked[0]; got.Mode != AskLater || got.CallID != "c1" || got.Reason != "to look" {
		t.Errorf("asked %+v", got)
	}
	var answer map[string]any
	must(t, json.Unmarshal([]byte(result.Text), &answer))
	delete(answer, "message")
	want := map[string]any{
		"status": "approval_required", "request_id": "r7", "tool": "space_wild", "source": "test.wild", "risk": "shell", "reason": "to look",
		"args_hash": messages.Fingerprint("test.wild", []byte(`{"n":1,"text":"x"}`)), "args_preview": `{"n":1,"text":"x"}`,
	}
	if diff := cmp.Diff(want, answer); diff != "" || result.RequestID != "r7" || len(b.runs) > 0 {
		t.Errorf("answer (-want +got):\n%s\nrequest %q, runs %v", diff, result.RequestID, b.runs)
	}
}

// Checklist 52: the order of keys, white space, escapes and the spelling of numbers are irrelevant; values are not.
func TestFingerprintOfACall(t *testing.T) {
	t.Parallel()
	b := setupSurface(t, &SurfaceOptions{Exposure: Gated})
	ask := func(arguments string) Ask {
		b.call(t, "space_wild", arguments)
		return b.approvals.asked[len(b.approvals.asked)-1]
	}
	first := ask(`{"n":100,"text":"a"}`)
	for _, same := range []string{`{ "text" : "a", "n" : 100 }`, `{"n":1e2,"text":"\u0061"}`, `{"n":100.0,"\u0074ext":"a"}`} {
		if got := ask(same); got.Fingerprint != first.Fingerprint || got.Preview != first.Preview {
			t.Errorf("%s has fingerprint %s and preview %s, want those of the first", same, got.Fingerprint, got.Preview)
		}
	}
	for _, other := range []string{`{"n":101,"text":"a"}`, `{"n":100,"text":"b"}`, `{"n":100}`, `{}`} {
		if got := ask(other); got.Fingerprint == first.Fingerprint {
			t.Errorf("%s has the fingerprint of the first", other)
		}
	}
}

// What runs is rebuilt from what was approved: plain numbers, one spelling.
func TestToolsGetPlainArguments(t *testing.T) {
	t.Parallel()
	b := setupSurface(t, nil)
	for _, test := range []struct{ raw, want string }{
		{``, `{}`},
		{`{"text":"<&>","n":1e2}`, `{"n":100,"text":"<&>"}`},
		{`{"n":-0.0}`, `{"n":0}`},
		{`{"n":12.0}`, `{"n":12}`},
		{`{"n":-1200000}`, `{"n":-1200000}`},
		{"{\"text\":\"\\u00e9\\n\"}", "{\"text\":\"é\\n\"}"},
		{`{"n":100000000000000000000000000}`, `{"n":100000000000000000000000000}`},
		{`{"text":"1e2"}`, `{"text":"1e2"}`},
		{" {\n\t\"text\"\r:\"spaces stay \"} ", `{"text":"spaces stay "}`},
	} {
		b.runs = nil
		b.call(t, "space_calm", test.raw)
		if len(b.runs) != 1 || b.runs[0] != "calm"+test.want {
			t.Errorf("%s ran %v, want %s", test.raw, b.runs, test.want)
		}
	}
	for number, want := range map[string]string{"15e-1": "1.5", "-5e-3": "-0.005", "1e-40": "1e-40", "7e300": "7e300", "12": "12"} {
		if got := plainNumber(json.Number(number)); got.String() != want {
			t.Errorf("plainNumber(%s) = %s, want %s", number, got, want)
		}
	}
}

// W24: arguments are checked against the schema before anything runs, and before a person is asked.
func TestArgumentsAreChecked(t *testing.T) {
	t.Parallel()
	b := setupSurface(t, &SurfaceOptions{Exposure: Gated})
	deep := strings.Repeat(`{"text":`, 100) + "1" + strings.Repeat("}", 100)
	for _, arguments := range []string{
		`{`, `[]`, `null`, `"x"`, `{"n":"1"}`, `{"n":1.5}`, `{"unknown":1}`, `{"n":1,"n":2}`, `{} {}`, deep,
		`{"text":"` + strings.Repeat("x", messages.MaxArgumentBytes) + `"}`, "{\"text\":\"\xff\"}",
	} {
		result := b.call(t, "space_wild", arguments)
		if !errors.Is(result.Cause, ErrArguments) || result.Status != messages.CallFailed || len(result.Text) > 2000 {
			t.Errorf("Call(%.40s) = %+v, want ErrArguments", arguments, result)
		}
	}
	if len(b.runs) > 0 || len(b.approvals.asked) > 0 {
		t.Errorf("runs %v, asked %v; want none", b.runs, b.approvals.asked)
	}
	call := b.callOf("space_calm", `{}`)
	call.CallID = messages.CallID(strings.Repeat("x", 300))
	if result, err := b.Call(t.Context(), call); err != nil || !errors.Is(result.Cause, ErrArguments) {
		t.Errorf("a call id of 300 bytes = %+v, %v", result, err)
	}
}

// Faults of a tool are results; W30.
func TestToolFaults(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, test := range []struct {
		name  string
		run   func(context.Context) (Result, error)
		make  func() error
		steps string
		cause error
	}{
		{"an error", func(context.Context) (Result, error) { return Result{}, broken }, nil, "started finished", broken},
		{"a failed result", func(context.Context) (Result, error) { return Result{Text: "no", IsError: true}, nil }, nil, "started finished", ErrToolFailed},
		{"a panic", func(context.Context) (Result, error) { panic("secret detail") }, nil, "started finished", ErrPanicked},
		{"a panic with an error", func(context.Context) (Result, error) { panic(broken) }, nil, "started finished", ErrPanicked},
		{"no live object", nil, func() error { return broken }, "finished", broken},
		{"a panic while building", nil, func() error { panic(broken) }, "finished", ErrPanicked},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := setupSurface(t, nil)
			b.run, b.make = test.run, test.make
			result := b.call(t, "space_calm", `{}`)
			if !errors.Is(result.Cause, test.cause) || !errors.Is(result.Cause, ErrToolFailed) || result.Status != messages.CallFailed || !result.IsError {
				t.Errorf("result = %+v, want failed because of %v", result, test.cause)
			}
			if strings.Contains(result.Text, "secret detail") {
				t.Errorf("the model was told what a panic said: %s", result.Text)
			}
			if got := b.kinds(); got != test.steps {
				t.Errorf("steps = %q, want %q", got, test.steps)
			}
			b.run, b.make = nil, nil
			if result := b.call(t, "space_calm", `{}`); result.IsError { // Tools are built anew for each call.
				t.Errorf("the next call = %+v", result)
			}
		})
	}
}

func TestResultsAreBounded(t *testing.T) {
	t.Parallel()
	b := setupSurface(t, &SurfaceOptions{MaxResultBytes: 1000})
	for _, text := range []string{strings.Repeat("x", 999), strings.Repeat("x", 1001), strings.Repeat("é", 5000), "\xff" + strings.Repeat("\xff", 400), strings.Repeat("\U0001F600", 4000)} {
		b.run = func(context.Context) (Result, error) { return Text(text), nil }
		result := b.call(t, "space_calm", `{}`)
		if len(result.Text) > 1000 || strings.ToValidUTF8(result.Text, "") != result.Text {
			t.Errorf("%d bytes became %d, or invalid", len(text), len(result.Text))
		}
		if cut := result.CutBytes > 0; cut != strings.Contains(result.Text, fmt.Sprintf("[... %d bytes left out ...]", result.CutBytes)) || result.IsError {
			t.Errorf("result of %d bytes: cut %d, text does not say so", len(text), result.CutBytes)
		}
	}
}

// D: a decision or a start that is not stored means that nothing runs.
func TestRecorderFaults(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	for _, kind := range []StepKind{StepRequested, StepDecided, StepStarted, StepFinished} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := setupSurface(t, &SurfaceOptions{Exposure: Gated})
			b.approvals.request = personSays(OutcomeApproved)
			b.record = func(step Step) error {
				if step.Kind == kind {
					return full
				}
				return nil
			}
			_, err := b.Call(t.Context(), b.callOf("space_wild", `{}`))
			if !errors.Is(err, full) || !errors.Is(err, ErrNotRecorded) {
				t.Errorf("Call() = %v, want ErrNotRecorded with %v", err, full)
			}
			if last := b.steps[len(b.steps)-1].Kind; last != kind {
				t.Errorf("a step %s came after the fault", last)
			}
			if ran := len(b.runs) > 0; ran != (kind == StepFinished) {
				t.Errorf("ran = %t", ran)
			}
		})
	}
}

func TestApprovalsFault(t *testing.T) {
	t.Parallel()
	stopped := errors.New("stopped")
	b := setupSurface(t, &SurfaceOptions{Exposure: Gated})
	b.approvals.request = func(context.Context, Ask) (Decision, error) { return Decision{}, stopped }
	result, err := b.Call(t.Context(), b.callOf("space_wild", `{}`))
	if !errors.Is(err, stopped) || !result.IsError || len(b.runs) > 0 || b.kinds() != "finished" {
		t.Errorf("Call() = %+v, %v; runs %v, steps %q", result, err, b.runs, b.kinds())
	}
}

// Defence in depth: a decision about another call lets nothing run.
func TestDecisionMustCoverTheCall(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*Decision){
		"call":      func(d *Decision) { d.CallID = "other" },
		"session":   func(d *Decision) { d.SessionID = "other" },
		"arguments": func(d *Decision) { d.Fingerprint = "other" },
		"tool":      func(d *Decision) { d.ToolID = "other" },
		"risk":      func(d *Decision) { d.Risk = messages.RiskNormal },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupSurface(t, &SurfaceOptions{Exposure: Gated})
			b.approvals.request = func(_ context.Context, ask Ask) (Decision, error) {
				decision := decisionOn(ask, OutcomeApproved)
				spoil(&decision)
				return decision, nil
			}
			if _, err := b.Call(t.Context(), b.callOf("space_wild", `{}`)); err == nil || len(b.runs) > 0 {
				t.Errorf("Call() = %v, runs %v; want an error and none", err, b.runs)
			}
		})
	}
}
