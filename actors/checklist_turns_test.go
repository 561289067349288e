package actors_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"agentd/actors"
	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/memory"
	"agentd/presets"
	"agentd/testkit"
)

// The acceptance checklist of turns. The number in a name is that of the checklist.

func TestChecklist16RunningHandleAtOnce(t *testing.T) {
	t.Parallel()
	rt := start(t, testkit.Script{testkit.UntilCancelled()}, nil)
	id := rt.Create("a", "")
	handle := rt.Run(id, "hi", actors.RunOptions{})
	if !handle.Running() || handle.Status() != messages.TurnRunning || handle.Err() != nil || handle.SessionID() != id {
		t.Errorf("RunTurn() = a handle that is %s, want running", handle.Status())
	}
	active, ok := rt.Turn(id)
	if !ok || active != handle {
		t.Errorf("Turn() = %v, %t, want the handle", active, ok)
	}
	if err := handle.Cancel(rt.Context()); err != nil || handle.Running() {
		t.Errorf("Cancel() = %v, and running is %t", err, handle.Running())
	}
}

func TestChecklist17InputIsDurableBeforeTheAgentRuns(t *testing.T) {
	t.Parallel()
	store := memory.New()
	seen := make(chan []*messages.Item, 1)
	agent := actors.AgentFunc(func(ctx context.Context, turn *actors.TurnContext) error {
		doc, err := store.Read(ctx, turn.Session.Head.ID)
		if err != nil {
			return err
		}
		seen <- doc.Items
		return nil
	})
	rt := start(t, agent, &testkit.Options{Store: store})
	rt.Complete(rt.Create("a", ""), "remember me")
	if items := <-seen; len(items) != 1 || items[0].Content != "remember me" || items[0].Role != messages.RoleUser {
		t.Errorf("the agent finds %+v in the store, want the input", items)
	}
}

func TestChecklist18And19And20AndTheStateInsideTheCallbacks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		script testkit.Script
		status messages.TurnStatus
		text   string
	}{
		{"finish", testkit.Script{testkit.Finish("the result")}, messages.TurnCompleted, ""},
		{"return", testkit.Script{}, messages.TurnCompleted, ""},
		{"fail", testkit.Script{testkit.Fail("broken")}, messages.TurnFailed, "broken"},
		{"error", testkit.Script{testkit.Return("broken")}, messages.TurnFailed, "broken"},
		{"panic", testkit.Script{testkit.Panic("broken")}, messages.TurnFailed, "broken"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store := memory.New()
			rt := start(t, tt.script, &testkit.Options{Store: store})
			id := rt.Create("a", "")
			inside := func() {
				if _, active := rt.Turn(id); active {
					t.Error("Turn() tells of an active turn inside the callback")
				}
				if doc := stored(t, store, id); doc.Head.Status != messages.SessionIdle || doc.Head.Turn.Status != tt.status {
					t.Errorf("the store says %s and %s inside the callback, want idle and %s", doc.Head.Status, doc.Head.Turn.Status, tt.status)
				}
			}
			var completed, failed atomic.Int32
			done := make(chan struct{})
			handle := rt.Run(id, "hi", actors.RunOptions{Callbacks: &actors.Callbacks{
				OnComplete: func(messages.Turn) { inside(); completed.Add(1); close(done) },
				OnError:    func(messages.Turn, error) { inside(); failed.Add(1); close(done) },
			}})
			turn := rt.Wait(handle)
			<-done
			wantCompleted := tt.status == messages.TurnCompleted
			if turn.Status != tt.status || completed.Load()+failed.Load() != 1 || (completed.Load() == 1) != wantCompleted {
				t.Errorf("the turn %s with %d and %d callbacks, want %s", turn.Status, completed.Load(), failed.Load(), tt.status)
			}
			if tt.name == "finish" && (handle.Result() != "the result" || handle.Err() != nil) {
				t.Errorf("the handle has the result %q and the error %v", handle.Result(), handle.Err())
			}
			if tt.text == "" {
				return
			}
			last := stored(t, store, id).Items
			var turnErr *actors.TurnError
			if item := last[len(last)-1]; item.Type != messages.ItemError || !strings.Contains(item.Error, tt.text) ||
				!errors.As(handle.Err(), &turnErr) || !strings.Contains(handle.Err().Error(), tt.text) {
				t.Errorf("the last item is %+v and the error %v, want both to tell of %q", item, handle.Err(), tt.text)
			}
		})
	}
}

func TestChecklist21OnlyTheFirstEndingCounts(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		script testkit.Script
		status messages.TurnStatus
	}{
		"finish, finish": {testkit.Script{testkit.Finish("1"), testkit.Finish("2")}, messages.TurnCompleted},
		"finish, fail":   {testkit.Script{testkit.Finish("1"), testkit.Fail("2")}, messages.TurnCompleted},
		"finish, error":  {testkit.Script{testkit.Finish("1"), testkit.Return("2")}, messages.TurnCompleted},
		"finish, panic":  {testkit.Script{testkit.Finish("1"), testkit.Panic("2")}, messages.TurnCompleted},
		"fail, finish":   {testkit.Script{testkit.Fail("1"), testkit.Finish("2")}, messages.TurnFailed},
		"fail, return":   {testkit.Script{testkit.Fail("1")}, messages.TurnFailed},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				rt := start(t, tt.script, nil)
				id := rt.Create("a", "")
				probe := rt.Watch(id, actors.SubscribeOptions{})
				turn := rt.Wait(rt.Run(id, "hi", actors.RunOptions{}))
				if turn.Status != tt.status {
					t.Errorf("the turn %s, want %s", turn.Status, tt.status)
				}
				probe.Expect(testkit.Want{Kind: messages.EventTurnEnded, Turn: tt.status})
				synctest.Wait()
				probe.ExpectNothing()
			})
		})
	}
}

func TestChecklist22HookRunsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int32
		ready := testkit.NewGate()
		ready.Open()
		rt := start(t, testkit.Script{
			testkit.Hook(func() error { t.Error("a hook that was replaced ran"); return nil }),
			testkit.Hook(func() error { ran.Add(1); return nil }),
			ready.Wait(), testkit.UntilCancelled(),
		}, nil)
		id := rt.Create("a", "")
		handle := rt.Run(id, "hi", actors.RunOptions{})
		<-ready.Reached()
		for range 2 {
			if err := handle.Cancel(rt.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := rt.CancelTurn(rt.Context(), id); err != nil {
			t.Fatal(err)
		}
		if ran.Load() != 1 || handle.Status() != messages.TurnCancelled {
			t.Errorf("the hook ran %d times and the turn is %s, want once and cancelled", ran.Load(), handle.Status())
		}
	})
}

func TestChecklist23And24HooksThatMisbehave(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		hook func(turn *actors.TurnContext) error
		text string
	}{
		"error":          {func(*actors.TurnContext) error { return errors.New("the server is gone") }, "the server is gone"},
		"panic":          {func(*actors.TurnContext) error { panic("the server is gone") }, "the server is gone"},
		"reports fail":   {func(turn *actors.TurnContext) error { _ = turn.Turn.Fail(errors.New("stray")); return nil }, ""},
		"reports finish": {func(turn *actors.TurnContext) error { _ = turn.Turn.Finish("stray"); return nil }, ""},
		"sets a hook": {func(turn *actors.TurnContext) error {
			return turn.Turn.SetCancel(func() error { return errors.New("stray") })
		}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ready := make(chan struct{})
				rt := start(t, actors.AgentFunc(func(ctx context.Context, turn *actors.TurnContext) error {
					if err := turn.Turn.SetCancel(func() error { return tt.hook(turn) }); err != nil {
						return err
					}
					close(ready)
					<-ctx.Done()
					return ctx.Err()
				}), nil)
				id := rt.Create("a", "")
				probe := rt.Watch(id, actors.SubscribeOptions{})
				told := make(chan error, 2)
				handle := rt.Run(id, "hi", actors.RunOptions{Callbacks: &actors.Callbacks{
					OnError: func(_ messages.Turn, err error) { told <- err },
				}})
				<-ready
				if err := handle.Cancel(rt.Context()); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if len(told) != 1 {
					t.Fatalf("OnError was called %d times, want once", len(told))
				}
				err := <-told
				failures := itemsOf(rt.View(id).Items, messages.ItemError)
				if handle.Status() != messages.TurnCancelled || len(failures) != 1 {
					t.Fatalf("the turn is %s with the error items %+v, want cancelled with one", handle.Status(), failures)
				}
				for where, text := range map[string]string{"handle": handle.Err().Error(), "callback": err.Error(), "item": failures[0].Error} {
					if !strings.Contains(text, tt.text) || strings.Contains(text, "stray") {
						t.Errorf("the error in the %s is %q, want it to tell of %q", where, text, tt.text)
					}
				}
				probe.Expect(testkit.Want{Kind: messages.EventTurnEnded, Turn: messages.TurnCancelled})
				probe.ExpectNothing()
			})
		})
	}
}

func TestChecklist24HookThatCancelsDoesNotDeadlock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ready := make(chan struct{})
		var rt *testkit.Runtime
		var ran atomic.Int32
		rt = start(t, actors.AgentFunc(func(ctx context.Context, turn *actors.TurnContext) error {
			id := turn.Session.Head.ID
			_ = turn.Turn.SetCancel(func() error {
				ran.Add(1)
				return rt.CancelTurn(ctx, id) // The context has ended, so that it does not wait for itself.
			})
			close(ready)
			<-ctx.Done()
			return nil
		}), nil)
		id := rt.Create("a", "")
		handle := rt.Run(id, "hi", actors.RunOptions{})
		<-ready
		if err := handle.Cancel(rt.Context()); err != nil {
			t.Fatal(err)
		}
		if handle.Status() != messages.TurnCancelled || ran.Load() != 1 {
			t.Errorf("the turn is %s and its hook ran %d times, want cancelled and once", handle.Status(), ran.Load())
		}
	})
}

func TestChecklist25LateHook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int32
		errs := make(chan error, 2)
		ready := testkit.NewGate()
		ready.Open()
		hook := testkit.Hook(func() error { ran.Add(1); return errors.New("late failure") })
		rt := start(t, testkit.Script{
			ready.Wait(), testkit.UntilCancelled(), testkit.Told(errs, hook), testkit.Told(errs, hook),
		}, nil)
		handle := rt.Run(rt.Create("a", ""), "hi", actors.RunOptions{})
		<-ready.Reached()
		if err := handle.Cancel(rt.Context()); err != nil {
			t.Fatal(err)
		}
		if first, second := <-errs, <-errs; ran.Load() != 1 || first == nil || second != nil {
			t.Errorf("the late hook ran %d times with %v and %v, want once, with its error", ran.Load(), first, second)
		}
	})
}

func TestChecklist26SecondTurnCancelsTheFirst(t *testing.T) {
	t.Parallel()
	ready := testkit.NewGate()
	ready.Open()
	rt := start(t, testkit.Scripts{
		"first":  {ready.Wait(), testkit.UntilCancelled(), testkit.Say("last words")},
		"second": {testkit.Say("hello"), testkit.Finish("ok")},
	}, nil)
	id := rt.Create("a", "")
	first := rt.Run(id, "first", actors.RunOptions{})
	<-ready.Reached()
	second := rt.Run(id, "second", actors.RunOptions{})
	if first.Running() || first.Status() != messages.TurnCancelled {
		t.Errorf("the first turn is %s when the second has started, want cancelled", first.Status())
	}
	if turn := rt.Wait(second); turn.Status != messages.TurnCompleted {
		t.Errorf("the second turn %s: %s, want completed", turn.Status, turn.Error)
	}
	var order []string
	for _, item := range rt.View(id).Items {
		order = append(order, item.Content+item.Error)
	}
	want := []string{"first", "last words", "cancelled: a newer prompt took its place", "second", "hello"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("the items are not in order (-want +got):\n%s", diff)
	}
}

func TestChecklist27RefusedPromptsChangeNothing(t *testing.T) {
	t.Parallel()
	rt := start(t, testkit.Script{testkit.UntilCancelled()}, nil)
	id, stray := rt.Create("a", ""), rt.Create("ghost", "")
	handle := rt.Run(id, "hi", actors.RunOptions{})
	before := rt.View(id)
	tests := []struct {
		name   string
		id     messages.SessionID
		input  string
		opts   actors.RunOptions
		target error
		names  string
	}{
		{"unknown agent", stray, "hi", actors.RunOptions{}, actors.ErrUnknownAgent, "ghost"},
		{"unknown session", "nope", "hi", actors.RunOptions{}, persistence.ErrNotFound, "nope"},
		{"empty input", id, " \n", actors.RunOptions{}, nil, "empty"},
		{"long input", id, strings.Repeat("x", messages.MaxInputBytes+1), actors.RunOptions{}, messages.ErrTooLarge, "limit"},
		{"bad turn id", id, "hi", actors.RunOptions{TurnID: "a/b"}, nil, "a/b"},
		{"bad on-busy", id, "hi", actors.RunOptions{OnBusy: "wait"}, nil, "wait"},
		{"reject", id, "hi", actors.RunOptions{OnBusy: messages.OnBusyReject}, actors.ErrBusy, string(id)},
	}
	for _, tt := range tests {
		_, err := rt.RunTurn(rt.Context(), tt.id, tt.input, tt.opts)
		wantError(t, "RunTurn("+tt.name+")", err, tt.target, tt.names)
	}
	if !handle.Running() {
		t.Errorf("the running turn is %s after refused prompts, want running", handle.Status())
	}
	if diff := cmp.Diff(before, rt.View(id)); diff != "" {
		t.Errorf("refused prompts changed the session (-before +after):\n%s", diff)
	}
	if items := rt.View(stray).Items; len(items) > 0 {
		t.Errorf("the session of an unknown agent has %+v, want nothing", items)
	}
}

func TestChecklist29CancelWithoutATurn(t *testing.T) {
	t.Parallel()
	rt := start(t, testkit.Script{testkit.Finish("ok")}, nil)
	id := rt.Create("a", "")
	handle := rt.Run(id, "hi", actors.RunOptions{})
	rt.Wait(handle)
	before := rt.View(id)
	if err := errors.Join(rt.CancelTurn(rt.Context(), id), handle.Cancel(rt.Context())); err != nil {
		t.Errorf("cancelling what has ended = %v, want nil", err)
	}
	if diff := cmp.Diff(before, rt.View(id)); diff != "" || handle.Status() != messages.TurnCompleted {
		t.Errorf("cancelling what has ended changed it (-before +after):\n%s", diff)
	}
}

func TestChecklist30WhatComesAfterTheEndChangesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		errs := make(chan error, 16)
		done := testkit.NewGate()
		late := testkit.Script{
			testkit.Told(errs, testkit.Say("late")),
			testkit.Told(errs, testkit.Upsert(messages.Item{ID: "itm-early", Content: "late"})),
			testkit.Told(errs, testkit.Draft("itm-late", "late")),
			testkit.Told(errs, testkit.SetData("k", "late")),
			testkit.Told(errs, testkit.Finish("late")),
			testkit.Told(errs, testkit.Fail("late")),
			testkit.Told(errs, testkit.Use("space_none", `{}`)),
			testkit.Told(errs, testkit.Hook(func() error { t.Error("a hook of a turn that ended well ran"); return nil })),
			func(context.Context, *actors.TurnContext) error { done.Open(); return nil },
		}
		script := append(testkit.Script{
			testkit.Append(messages.Item{ID: "itm-early", Type: messages.ItemReasoning, Content: "early"}),
			testkit.Finish("ok"),
		}, late...)
		rt := start(t, script, nil)
		id := rt.Create("a", "")
		turn := rt.Complete(id, "hi")
		before := rt.View(id)
		done.Pass()
		for range 7 {
			wantError(t, "a late step", <-errs, actors.ErrTurnEnded, string(id), string(turn.ID))
		}
		if err := <-errs; err != nil {
			t.Errorf("SetCancel() after the end = %v, want nil", err)
		}
		if diff := cmp.Diff(before, rt.View(id)); diff != "" {
			t.Errorf("late steps changed the session (-before +after):\n%s", diff)
		}
	})
}

func TestChecklist31TurnFromACallbackOfACancelledOne(t *testing.T) {
	t.Parallel()
	rt := start(t, testkit.Scripts{"first": {testkit.UntilCancelled()}, "next": {testkit.UntilCancelled()}}, nil)
	id := rt.Create("a", "")
	next := make(chan *actors.TurnHandle, 1)
	first := rt.Run(id, "first", actors.RunOptions{Callbacks: &actors.Callbacks{
		OnError: func(messages.Turn, error) { next <- rt.Run(id, "next", actors.RunOptions{}) },
	}})
	if err := first.Cancel(rt.Context()); err != nil {
		t.Fatal(err)
	}
	handle := <-next
	if active, ok := rt.Turn(id); !ok || active != handle || !handle.Running() {
		t.Errorf("Turn() = %v, %t, want the turn that the callback started", active, ok)
	}
}

func TestChecklist33TimeoutOfWaitIsNotAnEnding(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := testkit.NewGate()
		rt := start(t, testkit.Script{gate.Wait(), testkit.Finish("ok")}, nil)
		handle := rt.Run(rt.Create("a", ""), "hi", actors.RunOptions{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		turn, err := handle.Wait(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || turn.Status != messages.TurnRunning || !handle.Running() {
			t.Errorf("Wait(a minute) = %s, %v, want running and a deadline", turn.Status, err)
		}
		wantError(t, "Wait", err, nil, string(handle.ID()))
		gate.Open()
		turn = rt.Wait(handle)
		if turn.Status != messages.TurnCompleted {
			t.Errorf("the turn %s, want completed", turn.Status)
		}
		if again, err := handle.Wait(ctx); err != nil || again != turn { // The context has ended; the turn has, too.
			t.Errorf("Wait() after the end = %+v, %v, want the turn", again, err)
		}
	})
}

func TestChecklist34CrashInMidTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := memory.New()
		life := testkit.NewCrashStore(disk)
		ready := testkit.NewGate()
		script := testkit.Scripts{
			"work": {
				testkit.Say("stored"), testkit.Draft("itm-draft", "half a"), testkit.Say("more"),
				testkit.OpenCall("c1", "space_x"), ready.Hang(),
			},
			"next": {testkit.Say("hello again"), testkit.Finish("ok")},
		}
		first := start(t, script, &testkit.Options{Store: life})
		t.Cleanup(life.Bury)
		t.Cleanup(ready.Open)
		id := first.Create("a", "")
		turn := first.Run(id, "work", actors.RunOptions{})
		<-ready.Reached()
		life.Kill()

		rt := start(t, script, &testkit.Options{Store: testkit.NewCrashStore(disk)})
		page, err := rt.Page(t.Context(), id, persistence.PageQuery{}) // Whether it is recorded already or not.
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for when, head := range map[string]messages.Head{"at once": page.Head, "then": stored(t, disk, id).Head} {
			if head.Status != messages.SessionIdle || head.Turn.ID != turn.ID() || head.Turn.Status != messages.TurnInterrupted || head.Turn.Error == "" {
				t.Errorf("after the restart, %s, the session is %s and its turn %+v, want idle and interrupted, with the reason", when, head.Status, head.Turn)
			}
		}
		items := rt.View(id).Items
		draft := items[2]
		if draft.ID != "itm-draft" || draft.StreamStatus != messages.StreamInterrupted || draft.Content != "half a" {
			t.Errorf("the draft is %+v, want it closed as interrupted", draft)
		}
		if results := itemsOf(items, messages.ItemToolResult); len(results) != 1 || results[0].CallID != "c1" || !results[0].IsError {
			t.Errorf("the open call has the results %+v, want one that tells of the interruption", results)
		}
		rt.Complete(id, "next")
	})
}

func TestChecklist35DeleteDuringATurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var hooked atomic.Int32
		ready := testkit.NewGate()
		ready.Open()
		rt := start(t, testkit.Script{
			testkit.Hook(func() error { hooked.Add(1); return nil }), ready.Wait(), testkit.UntilCancelled(),
		}, nil)
		id := rt.Create("a", "")
		probe := rt.Watch(id, actors.SubscribeOptions{})
		handle := rt.Run(id, "hi", actors.RunOptions{})
		<-ready.Reached()
		if err := rt.DeleteSession(rt.Context(), id); err != nil {
			t.Fatal(err)
		}
		if handle.Status() != messages.TurnCancelled || hooked.Load() != 1 {
			t.Errorf("the turn is %s and its hook ran %d times, want cancelled and once", handle.Status(), hooked.Load())
		}
		probe.Expect(testkit.Want{Turn: messages.TurnCancelled, Kind: messages.EventTurnEnded}, testkit.Want{Kind: messages.EventDeleted})
		_, err := rt.Session(rt.Context(), id)
		wantError(t, "Session(deleted)", err, persistence.ErrDeleted)
	})
}

func TestChecklist36MissingServicesAreNamed(t *testing.T) {
	t.Parallel()
	manager, err := presets.NewManager(nil)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]actors.Deps{
		"Store":   {Agents: &actors.Agents{}, Presets: manager},
		"Agents":  {Store: memory.New(), Presets: manager},
		"Presets": {Store: memory.New(), Agents: &actors.Agents{}},
	}
	for name, deps := range tests {
		_, err := actors.Start(deps, nil)
		var missing *actors.MissingDepError
		if !errors.As(err, &missing) || missing.Name != name || !strings.Contains(err.Error(), name) {
			t.Errorf("Start(without %s) = %v, want a MissingDepError that names it", name, err)
		}
	}
	good := actors.Deps{Store: memory.New(), Agents: &actors.Agents{}, Presets: manager}
	for name, opts := range map[string]actors.Options{
		"QueueLimit":      {QueueLimit: -1},
		"MaxLiveSessions": {MaxLiveSessions: -1},
		"IdleTimeout":     {IdleTimeout: -1},
		"CancelGrace":     {CancelGrace: -1},
		"Policy":          {Policy: presets.Policy{"strange": presets.RuleAuto}},
		"Exposure":        {Exposure: "strange"},
	} {
		if _, err := actors.Start(good, &opts); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("Start(bad %s) = %v, want an error that names it", name, err)
		}
	}
}

func TestChecklist14EveryCrashPointLeavesTheOldOrTheNew(t *testing.T) {
	t.Parallel()
	for _, moment := range []testkit.Moment{testkit.BeforeStored, testkit.AfterStored} {
		for n := 1; n <= 8; n++ {
			synctest.Test(t, func(t *testing.T) { crashAt(t, n, moment) })
		}
	}
}

// crashAt kills a runtime at its nth append and checks what the next one finds.
func crashAt(t *testing.T, n int, moment testkit.Moment) {
	t.Helper()
	disk := memory.New()
	life := testkit.NewCrashStore(disk)
	life.KillAt(n, moment)
	script := testkit.Scripts{
		"hi": {
			testkit.Say("one"), testkit.OpenCall("c", "space_x"), testkit.SetData("k", 1), testkit.Draft("d", "x"),
			testkit.Say("two"), testkit.Finish("ok"),
		},
		"again": {testkit.Say("three"), testkit.Finish("ok")},
	}
	first := start(t, script, &testkit.Options{Store: life})
	t.Cleanup(life.Bury)
	var acknowledged atomic.Int32
	go func() {
		if _, err := first.CreateSession(t.Context(), "a", actors.CreateOptions{ID: "s"}); err != nil {
			return
		}
		acknowledged.Add(1)
		handle, err := first.RunTurn(t.Context(), "s", "hi", actors.RunOptions{TurnID: "t1"})
		if err != nil {
			return
		}
		acknowledged.Add(1)
		if _, err := handle.Wait(t.Context()); err == nil && handle.Status() == messages.TurnCompleted {
			acknowledged.Add(1)
		}
	}()
	synctest.Wait()
	known := acknowledged.Load()

	rt := start(t, script, &testkit.Options{Store: testkit.NewCrashStore(disk)})
	synctest.Wait()
	doc, err := disk.Read(t.Context(), "s")
	if err == nil {
		wantHistory(t, disk, "s") // It is valid before anybody goes on.
	}
	switch {
	case known == 0 && errors.Is(err, persistence.ErrNotFound):
		rt.Create("a", "s")
	case err != nil:
		t.Fatalf("crash at append %d, moment %d: Read() = %v", n, moment, err)
	case known >= 2 && len(inputs(doc.Items)) != 1:
		t.Errorf("crash at append %d, moment %d: the acknowledged input is not there: %+v", n, moment, doc.Items)
	case known == 3 && doc.Head.Turn.Status != messages.TurnCompleted:
		t.Errorf("crash at append %d, moment %d: the completed turn is %s", n, moment, doc.Head.Turn.Status)
	case doc.Head.Status != messages.SessionIdle:
		t.Errorf("crash at append %d, moment %d: the session is %s", n, moment, doc.Head.Status)
	}
	defer wantHistory(t, disk, "s")
	if turn := rt.Complete("s", "again"); turn.Status != messages.TurnCompleted {
		t.Errorf("crash at append %d, moment %d: the next turn %s: %s", n, moment, turn.Status, turn.Error)
	}
}

func TestChecklist14NoTemporaryFileIsListed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rt := start(t, testkit.Script{testkit.Finish("ok")}, &testkit.Options{Dir: dir})
	rt.Complete(rt.Create("a", "one"), "hi")
	if err := rt.Stop(rt.Context()); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(dir, "agent-sessions", "tmp", "one.json")
	if err := os.WriteFile(left, []byte(`{"half`), 0o600); err != nil {
		t.Fatal(err)
	}
	rt = start(t, testkit.Script{testkit.Finish("ok")}, &testkit.Options{Dir: dir})
	listing, err := rt.ListSessions(rt.Context())
	if err != nil || len(listing.Sessions) != 1 || len(listing.Bad) > 0 {
		t.Errorf("ListSessions() = %+v, %v, want the one session", listing, err)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the temporary file is still there: %v", err)
	}
}
