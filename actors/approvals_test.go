package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"agentd/actors"
	"agentd/actors/internal/session"
	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/memory"
	"agentd/presets"
	"agentd/testkit"
)

const (
	riskyTool = "space_risky"
	plainTool = "space_plain"
)

// toolFixture is a runtime with a risky and a plain tool, both of which note that they ran.
type toolFixture struct {
	runtime *testkit.Runtime
	id      messages.SessionID
	// running is reached when the plain tool is told to wait, and lets it go on.
	running *testkit.Gate

	mu  sync.Mutex
	ran []string
}

// toolScripts are the turns of the fixture's agent.
func toolScripts() testkit.Scripts {
	risky := testkit.Use(riskyTool, `{"n":1}`)
	return testkit.Scripts{
		"call":     {risky, testkit.Finish("ok")},
		"twice":    {risky, risky, testkit.Finish("ok")},
		"other":    {testkit.Use(riskyTool, `{"n":2}`), testkit.Finish("ok")},
		"later":    {testkit.Call(actors.ToolCall{Name: riskyTool, Arguments: json.RawMessage(`{"n":1}`), NoWait: true}), testkit.Finish("ok")},
		"plain":    {testkit.Call(actors.ToolCall{ID: "c1", Name: plainTool}), testkit.Finish("ok")},
		"fail":     {testkit.Use(plainTool, `{"do":"fail"}`), testkit.Finish("ok")},
		"panic":    {testkit.Use(plainTool, `{"do":"panic"}`), testkit.Finish("ok")},
		"wait":     {testkit.Use(plainTool, `{"do":"wait"}`), testkit.Finish("ok")},
		"unknown":  {testkit.Use("space_none", `{}`), testkit.Finish("ok")},
		"bad":      {testkit.Use(plainTool, `{"do":`), testkit.Finish("ok")},
		"long id":  {testkit.Call(actors.ToolCall{ID: messages.CallID(strings.Repeat("c", messages.MaxIDBytes)), Name: riskyTool, Arguments: json.RawMessage(`{"n":1}`)}), testkit.Finish("ok")},
		"parallel": {parallel(risky, risky), testkit.Finish("ok")},
		"next":     {testkit.Finish("ok")},
	}
}

// parallel runs steps at once.
func parallel(steps ...testkit.Step) testkit.Step {
	return func(ctx context.Context, turn *actors.TurnContext) error {
		errs := make([]error, len(steps))
		var wait sync.WaitGroup
		for i, step := range steps {
			wait.Go(func() { errs[i] = step(ctx, turn) })
		}
		wait.Wait()
		return errors.Join(errs...)
	}
}

func newToolFixture(t *testing.T, opts *testkit.Options) *toolFixture {
	t.Helper()
	f := &toolFixture{running: testkit.NewGate()}
	if opts == nil {
		opts = &testkit.Options{}
	}
	if opts.Actors.Exposure == "" {
		opts.Actors.Exposure = presets.Gated
	}
	opts.Presets = f.presets(t)
	f.runtime = start(t, toolScripts(), opts)
	f.id = f.runtime.Create("a", "")
	t.Cleanup(f.running.Open)
	return f
}

func (f *toolFixture) presets(t *testing.T) *presets.Manager {
	t.Helper()
	manager, err := presets.NewManager(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, risk := range map[string]messages.Risk{riskyTool: messages.RiskShell, plainTool: messages.RiskNormal} {
		err := errors.Join(manager.RegisterAdapter(presets.Adapter{
			ID: name, Name: name, Description: "Notes that it ran.", InputSchema: json.RawMessage(`{"type":"object"}`),
			Make: func(presets.Env) (presets.RunFunc, error) { return f.run(name), nil },
		}), manager.RegisterPreset(presets.Preset{Name: name, Risk: risk, Contexts: []presets.Pattern{{}}, ToolIDs: []string{name}}))
		if err != nil {
			t.Fatal(err)
		}
	}
	return manager
}

func (f *toolFixture) run(name string) presets.RunFunc {
	return func(ctx context.Context, arguments json.RawMessage) (presets.Result, error) {
		f.mu.Lock()
		f.ran = append(f.ran, name+string(arguments))
		f.mu.Unlock()
		switch {
		case strings.Contains(string(arguments), "fail"):
			return presets.Result{}, errors.New("the tool broke")
		case strings.Contains(string(arguments), "panic"):
			panic("the tool broke")
		case strings.Contains(string(arguments), "wait"):
			go f.running.Pass()
			<-ctx.Done()
			return presets.Result{}, context.Cause(ctx)
		}
		return presets.Text("it ran"), nil
	}
}

// runs is how often tools ran.
func (f *toolFixture) runs() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.ran)
}

// pending waits until one request is open, and returns it.
func (f *toolFixture) pending(t *testing.T) presets.Request {
	t.Helper()
	synctest.Wait()
	open, err := f.runtime.Approvals().Pending(f.runtime.Context())
	if err != nil || len(open) != 1 {
		t.Fatalf("Pending() = %+v, %v, want one request", open, err)
	}
	return open[0]
}

// nothingPending fails the test if a request is open.
func (f *toolFixture) nothingPending(t *testing.T) {
	t.Helper()
	synctest.Wait()
	if open, err := f.runtime.Approvals().Pending(f.runtime.Context()); err != nil || len(open) > 0 {
		t.Errorf("Pending() = %+v, %v, want none", open, err)
	}
}

func (f *toolFixture) decide(t *testing.T, verb presets.Verb) {
	t.Helper()
	answer := presets.Answer{Verb: verb, Who: "me", Reason: "because"}
	if err := f.runtime.Approvals().Decide(f.runtime.Context(), f.pending(t).ID, answer); err != nil {
		t.Fatal(err)
	}
}

// events are the types of the approval items with the request that they are about, in order.
func (f *toolFixture) events(t *testing.T) (kinds []string, decisions []presets.Decision) {
	t.Helper()
	for _, item := range itemsOf(f.runtime.View(f.id).Items, messages.ItemEvent) {
		kinds = append(kinds, item.EventType)
		if item.EventType == session.EventApprovalDecided {
			var decision presets.Decision
			if err := json.Unmarshal(item.Data, &decision); err != nil {
				t.Fatal(err)
			}
			decisions = append(decisions, decision)
		}
	}
	return kinds, decisions
}

func TestApprovedCallIsRecordedStepByStep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newToolFixture(t, nil)
		watch := f.runtime.WatchApprovals()
		defer watch.Close()
		probe := f.runtime.Watch(f.id, actors.SubscribeOptions{Live: true})
		handle := f.runtime.Run(f.id, "call", actors.RunOptions{})
		request := f.pending(t)
		if request.TurnID != handle.ID() || request.SessionID != f.id || request.Risk != messages.RiskShell || f.runs() > 0 {
			t.Errorf("the request is %+v and the tool ran %d times", request, f.runs())
		}
		f.decide(t, presets.ApproveOnce)
		if turn := f.runtime.Wait(handle); turn.Status != messages.TurnCompleted || f.runs() != 1 {
			t.Errorf("the turn %s: %s, and the tool ran %d times, want once", turn.Status, turn.Error, f.runs())
		}
		met := probe.Expect(
			testkit.Want{Kind: messages.EventItem, Type: messages.ItemToolCall},
			testkit.Want{Kind: messages.EventItem, Text: session.EventApprovalRequested},
			testkit.Want{Kind: messages.EventItem, Text: session.EventApprovalDecided},
			testkit.Want{Kind: messages.EventItemUpdated, Type: messages.ItemToolCall},
			testkit.Want{Kind: messages.EventItemUpdated, Type: messages.ItemToolCall},
			testkit.Want{Kind: messages.EventItem, Type: messages.ItemToolResult, Text: "it ran"},
		)
		states := []messages.CallStatus{met[0].Item.Status, met[3].Item.Status, met[4].Item.Status}
		want := []messages.CallStatus{messages.CallPending, messages.CallRunning, messages.CallCompleted}
		if diff := cmp.Diff(want, states); diff != "" {
			t.Errorf("the call was (-want +got):\n%s", diff)
		}
		_, decisions := f.events(t)
		d := decisions[0]
		if d.Outcome != presets.OutcomeApproved || d.Via != presets.ViaOnce || d.RequestID != request.ID || d.Who != "me" ||
			d.Reason != "because" || d.ToolID != riskyTool || d.Risk != messages.RiskShell || d.At == 0 {
			t.Errorf("the stored decision is %+v", d)
		}
		for _, decided := range []bool{false, true} {
			event, err := watch.Next(f.runtime.Context())
			if err != nil || event.Request.ID != request.ID || (event.Decision != nil) != decided {
				t.Errorf("WatchApprovals told %+v, %v, want the request and then its decision", event, err)
			}
		}
		wantHistory(t, f.runtime.Store, f.id)
	})
}

func TestOneApprovalIsOneRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newToolFixture(t, nil)
		handle := f.runtime.Run(f.id, "twice", actors.RunOptions{})
		first := f.pending(t)
		f.decide(t, presets.ApproveOnce)
		second := f.pending(t)
		if second.ID == first.ID || f.runs() != 1 {
			t.Errorf("the second call has request %q after %q, and the tool ran %d times", second.ID, first.ID, f.runs())
		}
		err := f.runtime.Approvals().Decide(f.runtime.Context(), first.ID, presets.Answer{Verb: presets.ApproveOnce, Who: "me"})
		wantError(t, "Decide(again)", err, presets.ErrUnknownRequest, string(first.ID))
		f.decide(t, presets.Deny)
		f.runtime.Wait(handle)
		if f.runs() != 1 {
			t.Errorf("the tool ran %d times, want once", f.runs())
		}
	})
}

func TestOneApprovalOfCallsThatWaitTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newToolFixture(t, nil)
		handle := f.runtime.Run(f.id, "parallel", actors.RunOptions{})
		first := f.pending(t)
		if first.Waiting != 2 {
			t.Errorf("the request has %d waiting calls, want 2", first.Waiting)
		}
		f.decide(t, presets.ApproveOnce)
		second := f.pending(t)
		if f.runs() != 1 {
			t.Errorf("the tool ran %d times after one approval, want once", f.runs())
		}
		asked := map[messages.RequestID]bool{}
		for _, item := range itemsOf(f.runtime.View(f.id).Items, messages.ItemEvent) {
			if item.EventType == session.EventApprovalRequested {
				var request struct {
					ID messages.RequestID `json:"request-id"`
				}
				if err := json.Unmarshal(item.Data, &request); err != nil {
					t.Fatal(err)
				}
				asked[request.ID] = true
			}
		}
		if !asked[first.ID] || !asked[second.ID] {
			t.Errorf("the session tells of the requests %v, want also the new one of the call that still waits, %q", asked, second.ID)
		}
		f.decide(t, presets.ApproveOnce)
		if turn := f.runtime.Wait(handle); turn.Status != messages.TurnCompleted || f.runs() != 2 {
			t.Errorf("the turn %s: %s, and the tool ran %d times, want twice", turn.Status, turn.Error, f.runs())
		}
		wantHistory(t, f.runtime.Store, f.id)
	})
}

func TestDenialIsAnItemAndTheTurnGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newToolFixture(t, nil)
		handle := f.runtime.Run(f.id, "call", actors.RunOptions{})
		f.decide(t, presets.Deny)
		if turn := f.runtime.Wait(handle); turn.Status != messages.TurnCompleted || f.runs() != 0 {
			t.Errorf("the turn %s and the tool ran %d times, want completed and not at all", turn.Status, f.runs())
		}
		kinds, decisions := f.events(t)
		want := []string{session.EventApprovalRequested, session.EventApprovalDecided}
		if cmp.Diff(want, kinds) != "" || decisions[0].Outcome != presets.OutcomeDenied || decisions[0].Reason != "because" {
			t.Errorf("the session tells of %v with %+v, want the request and the denial", kinds, decisions)
		}
		items := f.runtime.View(f.id).Items
		if calls := itemsOf(items, messages.ItemToolCall); calls[0].Status != messages.CallDenied {
			t.Errorf("the call is %s, want denied", calls[0].Status)
		}
		if results := itemsOf(items, messages.ItemToolResult); len(results) != 1 || !results[0].IsError || !strings.Contains(results[0].Output, "because") {
			t.Errorf("the results are %+v, want one that gives the reason", results)
		}
	})
}

func TestCancelOfAWaitingCall(t *testing.T) {
	t.Parallel()
	ends := map[string]func(f *toolFixture, handle *actors.TurnHandle) error{
		"cancel":    func(f *toolFixture, handle *actors.TurnHandle) error { return handle.Cancel(f.runtime.Context()) },
		"next turn": func(f *toolFixture, _ *actors.TurnHandle) error { f.runtime.Complete(f.id, "next"); return nil },
		"drop panic": func(f *toolFixture, _ *actors.TurnHandle) error {
			actors.PanicSession(f.runtime.Runtime, f.id)
			return nil
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newToolFixture(t, nil)
				handle := f.runtime.Run(f.id, "call", actors.RunOptions{})
				request := f.pending(t)
				if err := end(f, handle); err != nil {
					t.Fatal(err)
				}
				f.nothingPending(t)
				err := f.runtime.Approvals().Decide(f.runtime.Context(), request.ID, presets.Answer{Verb: presets.ApproveOnce, Who: "me"})
				wantError(t, "Decide(after the end)", err, presets.ErrUnknownRequest)
				f.runtime.Complete(f.id, "next")
				if f.runs() != 0 {
					t.Errorf("the tool ran %d times, want not at all", f.runs())
				}
				kinds, decisions := f.events(t)
				if len(kinds) != 2 || decisions[0].Outcome == presets.OutcomeApproved || decisions[0].RequestID != request.ID {
					t.Errorf("the session tells of %v with %+v, want the request and that it came to nothing", kinds, decisions)
				}
				if calls := itemsOf(f.runtime.View(f.id).Items, messages.ItemToolCall); calls[0].Status != messages.CallCancelled {
					t.Errorf("the call is %s, want cancelled: it never ran", calls[0].Status)
				}
				wantHistory(t, f.runtime.Store, f.id)
			})
		})
	}
}

func TestRequestOfATurnThatEndedIsReleased(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newToolFixture(t, nil)
		f.runtime.Complete(f.id, "later")
		f.nothingPending(t)
		if f.runs() != 0 {
			t.Errorf("the tool ran %d times, want not at all", f.runs())
		}
	})
}

func TestHiddenToolIsRefusedWithoutAsking(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newToolFixture(t, &testkit.Options{Actors: actors.Options{Exposure: presets.Hidden}})
		f.runtime.Complete(f.id, "call")
		f.nothingPending(t)
		results := itemsOf(f.runtime.View(f.id).Items, messages.ItemToolResult)
		if f.runs() != 0 || len(results) != 1 || !results[0].IsError {
			t.Errorf("the tool ran %d times with the results %+v, want a refusal", f.runs(), results)
		}
		set, err := f.runtime.Tools().Tools(f.runtime.Context(), presets.Caller{SessionID: f.id})
		if _, listed := set.Find(riskyTool); err != nil || listed {
			t.Errorf("Tools() = %+v, %v, want the risky tool absent", set, err)
		}
	})
}

// memoryGrants keeps grants over a restart.
type memoryGrants struct {
	mu     sync.Mutex
	grants []presets.Grant
	err    error
	saves  int
}

// Load implements [presets.GrantStore].
func (g *memoryGrants) Load(context.Context) ([]presets.Grant, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.grants), g.err
}

// Save implements [presets.GrantStore].
func (g *memoryGrants) Save(_ context.Context, grants []presets.Grant) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.saves++
	if g.err == nil {
		g.grants = slices.Clone(grants)
	}
	return g.err
}

func (g *memoryGrants) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.err = err
}

func TestGrantsSurviveARestartAndCanBeRevoked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		grants := &memoryGrants{}
		f := newToolFixture(t, &testkit.Options{Grants: grants})
		handle := f.runtime.Run(f.id, "call", actors.RunOptions{})
		f.decide(t, presets.ApproveAlways)
		f.runtime.Wait(handle)
		f.runtime.Complete(f.id, "call")
		if f.runs() != 2 {
			t.Errorf("the tool ran %d times, want twice: the grant covers the second call", f.runs())
		}
		if err := f.runtime.Stop(f.runtime.Context()); err != nil {
			t.Fatal(err)
		}
		f = newToolFixture(t, &testkit.Options{Grants: grants})
		f.runtime.Complete(f.id, "call")
		other := f.runtime.Run(f.id, "other", actors.RunOptions{})
		f.decide(t, presets.Deny) // Other arguments are another call.
		f.runtime.Wait(other)
		standing, err := f.runtime.Approvals().Grants(f.runtime.Context())
		if err != nil || len(standing) != 1 || f.runs() != 1 {
			t.Fatalf("Grants() = %+v, %v, and the tool ran %d times, want one and once", standing, err, f.runs())
		}
		for _, wanted := range []error{nil, presets.ErrUnknownGrant} {
			if err := f.runtime.Approvals().Revoke(f.runtime.Context(), standing[0].ID); !errors.Is(err, wanted) {
				t.Errorf("Revoke() = %v, want %v", err, wanted)
			}
		}
		handle = f.runtime.Run(f.id, "call", actors.RunOptions{})
		f.decide(t, presets.Deny)
		f.runtime.Wait(handle)
		if len(grants.grants) != 0 || f.runs() != 1 {
			t.Errorf("after the revocation %d grants are stored and the tool ran %d times", len(grants.grants), f.runs())
		}
	})
}

func TestGrantThatCannotBeStored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		grants := &memoryGrants{}
		f := newToolFixture(t, &testkit.Options{Grants: grants})
		handle := f.runtime.Run(f.id, "call", actors.RunOptions{})
		broken := errors.New("the disk is full")
		grants.fail(broken)
		err := f.runtime.Approvals().Decide(f.runtime.Context(), f.pending(t).ID, presets.Answer{Verb: presets.ApproveAlways, Who: "me"})
		wantError(t, "Decide(always, full disk)", err, broken)
		if f.runs() != 0 {
			t.Error("the tool ran although its grant could not be stored")
		}
		grants.fail(nil)
		f.decide(t, presets.ApproveOnce)
		if turn := f.runtime.Wait(handle); turn.Status != messages.TurnCompleted || f.runs() != 1 {
			t.Errorf("the turn %s and the tool ran %d times, want completed and once", turn.Status, f.runs())
		}
	})
}

func TestGrantsThatCannotBeReadFailTheStart(t *testing.T) {
	t.Parallel()
	manager, err := presets.NewManager(nil)
	if err != nil {
		t.Fatal(err)
	}
	broken := &memoryGrants{err: presets.ErrSchema}
	_, err = actors.Start(actors.Deps{Store: memory.New(), Agents: &actors.Agents{}, Presets: manager, Grants: broken}, nil)
	wantError(t, "Start(unreadable grants)", err, presets.ErrSchema, "grants")
}

func TestRequestExpires(t *testing.T) {
	t.Parallel()
	for _, ttl := range []time.Duration{300 * time.Millisecond, 10 * time.Second} {
		t.Run(ttl.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newToolFixture(t, &testkit.Options{Actors: actors.Options{ApprovalTTL: ttl}})
				handle := f.runtime.Run(f.id, "call", actors.RunOptions{})
				f.pending(t)
				<-time.After(max(2*ttl, 2*time.Second))
				f.nothingPending(t)
				f.runtime.Wait(handle)
				_, decisions := f.events(t)
				if f.runs() != 0 || len(decisions) != 1 || decisions[0].Outcome != presets.OutcomeExpired {
					t.Errorf("the tool ran %d times and the decisions are %+v, want it expired", f.runs(), decisions)
				}
			})
		})
	}
}

func TestPolicyAnswersWhatIsOpen(t *testing.T) {
	t.Parallel()
	for rule, runs := range map[presets.Rule]int{presets.RuleAuto: 1, presets.RuleDeny: 0} {
		synctest.Test(t, func(t *testing.T) {
			f := newToolFixture(t, nil)
			handle := f.runtime.Run(f.id, "call", actors.RunOptions{})
			f.pending(t)
			if err := f.runtime.Approvals().SetPolicy(f.runtime.Context(), presets.Policy{messages.RiskShell: rule}); err != nil {
				t.Fatal(err)
			}
			f.runtime.Wait(handle)
			f.nothingPending(t)
			if f.runs() != runs {
				t.Errorf("under the rule %s the tool ran %d times, want %d", rule, f.runs(), runs)
			}
		})
	}
}

func TestCrashWhileACallWaitsForAPerson(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := memory.New()
		life := testkit.NewCrashStore(disk)
		first := newToolFixture(t, &testkit.Options{Store: life})
		t.Cleanup(life.Bury)
		first.runtime.Run(first.id, "call", actors.RunOptions{})
		request := first.pending(t)
		life.Kill()

		second := newToolFixture(t, &testkit.Options{Store: testkit.NewCrashStore(disk)})
		second.id = first.id
		second.nothingPending(t)
		kinds, decisions := second.events(t)
		if len(kinds) != 2 || decisions[0].RequestID != request.ID || decisions[0].Outcome != presets.OutcomeExpired {
			t.Errorf("the session tells of %v with %+v, want the request expired", kinds, decisions)
		}
		calls := itemsOf(second.runtime.View(first.id).Items, messages.ItemToolCall)
		if len(calls) != 1 || calls[0].Status != messages.CallCancelled || second.runs() != 0 {
			t.Errorf("the call is %+v and ran %d times, want it told as not run", calls, second.runs())
		}
		second.runtime.Complete(first.id, "next")
		wantHistory(t, disk, first.id)
	})
}

func TestToolThatNeedsNobodyCostsTwoCommits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := testkit.NewFaultyStore(memory.New())
		f := newToolFixture(t, &testkit.Options{Store: store})
		before := store.Calls(testkit.OpCommit)
		f.runtime.Complete(f.id, "plain")
		if commits := store.Calls(testkit.OpCommit) - before; commits != 4 {
			t.Errorf("a turn with one call made %d appends, want 4: input, started, finished, ended", commits)
		}
		items := f.runtime.View(f.id).Items
		if !strings.HasPrefix(string(items[1].ID), "itm-tool-call-c1-") || items[1].ParentID != items[0].ID || !strings.HasPrefix(string(items[2].ID), "itm-tool-result-c1-") || items[2].ParentID != items[1].ID {
			t.Errorf("the items are %+v, want call and result with stable ids, and what they answer", items)
		}
	})
}

func TestFailuresOfToolsAreResults(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status messages.CallStatus
		text   string
	}{
		"fail": {messages.CallFailed, "the tool broke"}, "panic": {messages.CallFailed, "panicked"},
		"unknown": {messages.CallFailed, "space_none"}, "bad": {messages.CallFailed, "arguments"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newToolFixture(t, nil)
				f.runtime.Complete(f.id, name)
				items := f.runtime.View(f.id).Items
				calls, results := itemsOf(items, messages.ItemToolCall), itemsOf(items, messages.ItemToolResult)
				if len(calls) != 1 || len(results) != 1 || calls[0].Status != tt.status || !results[0].IsError || !strings.Contains(results[0].Output, tt.text) {
					t.Errorf("the call is %+v with the results %+v, want %s and %q", calls, results, tt.status, tt.text)
				}
				wantHistory(t, f.runtime.Store, f.id)
			})
		})
	}
}

func TestCancelOfARunningTool(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newToolFixture(t, nil)
		handle := f.runtime.Run(f.id, "wait", actors.RunOptions{})
		<-f.running.Reached()
		if err := handle.Cancel(f.runtime.Context()); err != nil {
			t.Fatal(err)
		}
		items := f.runtime.View(f.id).Items
		calls, results := itemsOf(items, messages.ItemToolCall), itemsOf(items, messages.ItemToolResult)
		if handle.Status() != messages.TurnCancelled || calls[0].Status != messages.CallInterrupted || len(results) != 1 || !strings.Contains(results[0].Output, "effects are unknown") {
			t.Errorf("the turn is %s, the call %s and the results %+v, want it interrupted with unknown effects", handle.Status(), calls[0].Status, results)
		}
		wantHistory(t, f.runtime.Store, f.id)
	})
}

func TestLongestCallID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newToolFixture(t, nil)
		handle := f.runtime.Run(f.id, "long id", actors.RunOptions{})
		f.decide(t, presets.ApproveOnce)
		if turn := f.runtime.Wait(handle); turn.Status != messages.TurnCompleted || f.runs() != 1 {
			t.Errorf("the turn %s: %s, and the tool ran %d times, want completed and once", turn.Status, turn.Error, f.runs())
		}
		wantHistory(t, f.runtime.Store, f.id)
	})
}

func TestStepThatCannotBeStoredStopsTheCall(t *testing.T) {
	t.Parallel()
	for n := 2; n <= 4; n++ { // Requested, decided, started.
		synctest.Test(t, func(t *testing.T) {
			store := testkit.NewFaultyStore(memory.New())
			f := newToolFixture(t, &testkit.Options{Store: store})
			store.Fail(testkit.OpCommit, n, testkit.Fault{Err: persistence.ErrUnavailable})
			handle := f.runtime.Run(f.id, "call", actors.RunOptions{})
			synctest.Wait()
			if open, err := f.runtime.Approvals().Pending(f.runtime.Context()); err == nil && len(open) == 1 {
				f.decide(t, presets.ApproveOnce)
			}
			turn, _ := handle.Wait(f.runtime.Context())
			if turn.Status != messages.TurnFailed || f.runs() != 0 {
				t.Errorf("append %d failed: the turn %s and the tool ran %d times, want failed and not at all", n, turn.Status, f.runs())
			}
			f.nothingPending(t)
			f.runtime.Complete(f.id, "next")
			wantHistory(t, store, f.id)
		})
	}
}

func TestApprovalsAfterStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newToolFixture(t, nil)
		watch := f.runtime.WatchApprovals()
		handle := f.runtime.Run(f.id, "call", actors.RunOptions{})
		f.pending(t)
		if err := f.runtime.Stop(f.runtime.Context()); err != nil {
			t.Fatal(err)
		}
		if handle.Status() != messages.TurnCancelled || f.runs() != 0 {
			t.Errorf("the turn is %s and the tool ran %d times, want cancelled and not at all", handle.Status(), f.runs())
		}
		approvals, ctx := f.runtime.Approvals(), f.runtime.Context()
		_, pendingErr := approvals.Pending(ctx)
		_, grantsErr := approvals.Grants(ctx)
		_, requestErr := approvals.Request(ctx, presets.Ask{CallID: "c", ToolID: "x", Name: "x", Risk: messages.RiskShell, Fingerprint: "f"})
		for name, err := range map[string]error{
			"Pending": pendingErr, "Grants": grantsErr, "Request": requestErr,
			"Decide": approvals.Decide(ctx, "r", presets.Answer{Verb: presets.Deny, Who: "me"}), "Revoke": approvals.Revoke(ctx, "g"),
		} {
			wantError(t, name+"() after Stop", err, actors.ErrStopping)
		}
		for {
			if _, err := watch.Next(ctx); err != nil {
				if !errors.Is(err, io.EOF) {
					t.Errorf("the watch ended with %v, want io.EOF", err)
				}
				break
			}
		}
	})
}

func TestEnablingAPresetAsksAndIsRecorded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		errs := make(chan error, 2)
		manager, err := presets.NewManager(nil)
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(manager.RegisterAdapter(presets.Adapter{
			ID: "x", Name: "space_x", Description: "x", InputSchema: json.RawMessage(`{"type":"object"}`),
			Make: func(presets.Env) (presets.RunFunc, error) { return nil, errors.New("never") },
		}), manager.RegisterPreset(presets.Preset{
			Name: "off", Default: presets.DefaultOff, Risk: messages.RiskShell, Contexts: []presets.Pattern{{}}, ToolIDs: []string{"x"},
		}))
		if err != nil {
			t.Fatal(err)
		}
		f := &toolFixture{}
		f.runtime = start(t, testkit.Script{testkit.Told(errs, func(ctx context.Context, turn *actors.TurnContext) error {
			decision, err := turn.Presets.RequestEnable(ctx, "off", "I want it")
			if err == nil && decision.Outcome != presets.OutcomeApproved {
				err = fmt.Errorf("%s", decision.Outcome)
			}
			return err
		})}, &testkit.Options{Presets: manager})
		f.id = f.runtime.Create("a", "")
		for _, verb := range []presets.Verb{presets.Deny, presets.ApproveOnce} {
			handle := f.runtime.Run(f.id, "hi", actors.RunOptions{})
			f.decide(t, verb)
			f.runtime.Wait(handle)
			active := slices.ContainsFunc(manager.List(f.id), func(s presets.Status) bool { return s.Active })
			if err := <-errs; (err == nil) != (verb == presets.ApproveOnce) || active != (err == nil) {
				t.Errorf("after %s the agent was told %v, and the preset is active: %t", verb, err, active)
			}
		}
		if kinds, _ := f.events(t); len(kinds) != 4 {
			t.Errorf("the session tells of %v, want two requests and two decisions", kinds)
		}
	})
}

func TestRequestAheadIsDecidedOnce(t *testing.T) {
	t.Parallel()
	for _, verb := range []presets.Verb{presets.ApproveOnce, presets.Deny} {
		for _, crash := range []bool{false, true} {
			t.Run(fmt.Sprint(verb, " crash ", crash), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					gate := testkit.NewGate()
					f := &toolFixture{running: gate}
					later := testkit.Call(actors.ToolCall{Name: riskyTool, NoWait: true})
					f.runtime = start(t, testkit.Scripts{"ahead": {later, gate.Wait(), testkit.Finish("ok")}, "next": {testkit.Finish("ok")}},
						&testkit.Options{Presets: f.presets(t), Actors: actors.Options{Exposure: presets.Gated}})
					f.id = f.runtime.Create("a", "")
					handle := f.runtime.Run(f.id, "ahead", actors.RunOptions{})
					<-gate.Reached()
					f.decide(t, verb)
					synctest.Wait()
					if crash {
						actors.PanicSession(f.runtime.Runtime, f.id)
					}
					gate.Open()
					if _, err := handle.Wait(f.runtime.Context()); err != nil && !crash {
						t.Fatal(err)
					}
					f.runtime.Complete(f.id, "next")
					synctest.Wait()
					kinds, decisions := f.events(t)
					want := map[presets.Verb]presets.Outcome{presets.ApproveOnce: presets.OutcomeApproved, presets.Deny: presets.OutcomeDenied}[verb]
					if len(kinds) != 2 || decisions[0].Outcome != want || decisions[0].Who != "me" {
						t.Errorf("the session tells of %v with %+v, want the person's word, once", kinds, decisions)
					}
					wantHistory(t, f.runtime.Store, f.id)
				})
			})
		}
	}
}

func TestToolRunsAfterItsStartIsDurable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		manager, err := presets.NewManager(nil)
		if err != nil {
			t.Fatal(err)
		}
		var found []messages.CallStatus
		look := func(ctx context.Context, env presets.Env, _ struct{}) (presets.Result, error) {
			doc, err := store.Read(ctx, env.SessionID)
			if err != nil {
				return presets.Result{}, err
			}
			for _, call := range itemsOf(doc.Items, messages.ItemToolCall) {
				found = append(found, call.Status)
			}
			return presets.Text("looked"), nil
		}
		err = errors.Join(manager.RegisterAdapter(presets.Adapter{
			ID: "look", Name: "space_look", Description: "Looks.", InputSchema: json.RawMessage(`{"type":"object"}`), Make: presets.Bind(look),
		}), manager.RegisterPreset(presets.Preset{
			Name: "look", Risk: messages.RiskNormal, Contexts: []presets.Pattern{{}}, ToolIDs: []string{"look"},
		}))
		if err != nil {
			t.Fatal(err)
		}
		rt := start(t, testkit.Script{testkit.Use("space_look", `{}`), testkit.Finish("ok")}, &testkit.Options{Store: store, Presets: manager})
		rt.Complete(rt.Create("a", ""), "hi")
		if diff := cmp.Diff([]messages.CallStatus{messages.CallRunning}, found); diff != "" {
			t.Errorf("the tool found its call in the store as (-want +got):\n%s", diff)
		}
	})
}
