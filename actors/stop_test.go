package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentd/actors"
	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/memory"
	"agentd/testkit"
)

func TestStopEndsTurnsAndFoldsSessions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rt := start(t, patient(), &testkit.Options{Dir: dir})
	var handles []*actors.TurnHandle
	for i := range 10 {
		id := rt.Create("a", messages.SessionID(fmt.Sprint("s", i)))
		handles = append(handles, rt.Run(id, "hang", actors.RunOptions{}))
	}
	if err := rt.Stop(rt.Context()); err != nil {
		t.Fatal(err)
	}
	for _, handle := range handles {
		if handle.Status() != messages.TurnCancelled || !strings.Contains(handle.Err().Error(), "stopping") {
			t.Errorf("the turn is %s: %v, want cancelled because the runtime stops", handle.Status(), handle.Err())
		}
	}
	rt.VerifyStopped()
	left, err := os.ReadDir(filepath.Join(dir, "agent-sessions", "journal"))
	if err != nil || len(left) > 0 {
		t.Errorf("the journal holds %v, %v, want nothing", left, err)
	}
	for i := range handles {
		text, err := os.ReadFile(filepath.Join(dir, "agent-sessions", fmt.Sprintf("s%d.json", i)))
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Status string          `json:"status"`
			Items  []messages.Item `json:"items"`
		}
		if err := json.Unmarshal(text, &file); err != nil || file.Status != "idle" || len(file.Items) != 2 {
			t.Errorf("the file says %+v, %v, want an idle session with the input and the error", file, err)
		}
	}
	again := start(t, patient(), &testkit.Options{Dir: dir})
	again.Complete("s3", "hello again")
}

func TestStopIsCalledByMany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, patient(), nil)
		handle := rt.Run(rt.Create("a", ""), "hang", actors.RunOptions{})
		var wait sync.WaitGroup
		for range 20 {
			wait.Go(func() {
				if err := rt.Stop(rt.Context()); err != nil || handle.Running() {
					t.Errorf("Stop() = %v, and the turn is %s, want it ended for every caller", err, handle.Status())
				}
				rt.VerifyStopped()
			})
		}
		wait.Wait()
	})
}

func TestStopSendsAwayWhatWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := testkit.NewFaultyStore(memory.New())
		rt := start(t, patient(), &testkit.Options{Store: store})
		id, asleep := rt.Create("a", ""), rt.Create("a", "")
		<-time.After(2 * actors.DefaultIdleTimeout)
		handle := rt.Run(id, "hang", actors.RunOptions{})
		store.Fail(testkit.OpOpen, 1, testkit.Fault{Delay: time.Second})
		waiting := []<-chan error{
			prompt(t.Context(), rt, id, "queued", messages.OnBusyQueue),
			prompt(t.Context(), rt, asleep, "loading", messages.OnBusyQueue),
		}
		synctest.Wait()
		if err := rt.Stop(rt.Context()); err != nil {
			t.Fatal(err)
		}
		for _, done := range waiting {
			wantError(t, "RunTurn(stopping)", <-done, actors.ErrStopping)
		}
		if handle.Status() != messages.TurnCancelled {
			t.Errorf("the turn is %s, want cancelled", handle.Status())
		}
	})
}

func TestCallsAfterStop(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"", t.TempDir()} {
		rt := start(t, patient(), &testkit.Options{Dir: dir})
		id := rt.Create("a", "")
		handle := rt.Run(id, "hi", actors.RunOptions{})
		rt.Wait(handle)
		if err := rt.Stop(rt.Context()); err != nil {
			t.Fatal(err)
		}
		ctx := rt.Context()
		_, createErr := rt.CreateSession(ctx, "a", actors.CreateOptions{})
		_, runErr := rt.RunTurn(ctx, id, "hi", actors.RunOptions{})
		_, subErr := rt.Subscribe(ctx, id, actors.SubscribeOptions{})
		_, sessionErr := rt.Session(ctx, id)
		_, pageErr := rt.Page(ctx, id, persistence.PageQuery{})
		_, listErr := rt.ListSessions(ctx)
		for name, err := range map[string]error{
			"CreateSession": createErr, "RunTurn": runErr, "Subscribe": subErr, "Session": sessionErr, "Page": pageErr, "ListSessions": listErr,
			"SetData": rt.SetData(ctx, id, "k", 1), "DeleteSession": rt.DeleteSession(ctx, id), "Flush": rt.Flush(ctx),
		} {
			wantError(t, name+"() after Stop", err, actors.ErrStopping)
		}
		if err := errors.Join(rt.CancelTurn(ctx, id), handle.Cancel(ctx), rt.Stop(ctx)); err != nil {
			t.Errorf("cancelling and stopping after Stop = %v, want nil", err)
		}
		if turn, err := handle.Wait(ctx); err != nil || turn.Status != messages.TurnCompleted {
			t.Errorf("Wait() after Stop = %+v, %v, want the turn", turn, err)
		}
	}
}

func TestUnstoppedAgentIsNamed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		agent, hook, callback := testkit.NewGate(), testkit.NewGate(), testkit.NewGate()
		rt := start(t, testkit.Scripts{
			"agent":    {agent.Hang()},
			"hook":     {testkit.Hook(func() error { hook.Pass(); return nil }), testkit.UntilCancelled()},
			"callback": {testkit.Finish("ok")},
		}, nil)
		rt.Abandon()
		for _, name := range []string{"agent", "hook", "callback"} {
			rt.Run(rt.Create("a", messages.SessionID("the-"+name)), name, actors.RunOptions{
				Callbacks: &actors.Callbacks{OnComplete: func(messages.Turn) { callback.Pass() }},
			})
		}
		synctest.Wait()
		begun := time.Now()
		err := rt.Stop(rt.Context())
		var unstopped *actors.UnstoppedError
		if !errors.As(err, &unstopped) || len(unstopped.Goroutines) != 3 {
			t.Fatalf("Stop() = %v, want an UnstoppedError with three goroutines", err)
		}
		wantError(t, "Stop()", err, nil, "agent", "the-agent", "hook", "the-hook", "callback", "the-callback")
		if took := time.Since(begun); took != actors.DefaultStopTimeout {
			t.Errorf("Stop() took %v, want %v", took, actors.DefaultStopTimeout)
		}
		if live := rt.Live(); live != (actors.Live{Goroutines: 3}) {
			t.Errorf("Live() = %+v, want the three goroutines and no actor", live)
		}
		for _, gate := range []*testkit.Gate{agent, hook, callback} {
			gate.Open()
		}
		rt.VerifyStopped()
	})
}

func TestStopOfAStoreThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := testkit.NewFaultyStore(memory.New())
		disk := testkit.NewGate()
		rt := start(t, patient(), &testkit.Options{Store: store})
		rt.Abandon()
		id := rt.Create("a", "stuck")
		store.Fail(testkit.OpCommit, 1, testkit.Fault{Wait: disk})
		stuck := prompt(t.Context(), rt, id, "hi", messages.OnBusyQueue)
		<-disk.Reached()
		begun := time.Now()
		err := rt.Stop(context.Background())
		var unstopped *actors.UnstoppedError
		if !errors.As(err, &unstopped) || !unstopped.Store {
			t.Errorf("Stop() = %v, want an UnstoppedError that tells of the store", err)
		}
		wantError(t, "Stop()", err, nil, "stuck", "store")
		if took := time.Since(begun); took != 2*actors.DefaultStopTimeout {
			t.Errorf("Stop() took %v, want twice %v", took, actors.DefaultStopTimeout)
		}
		disk.Open()
		wantError(t, "RunTurn()", <-stuck, actors.ErrStopping)
		rt.VerifyStopped() // What was left behind ends when the store answers.
		if calls := store.Calls(testkit.OpClose); calls != 1 {
			t.Errorf("the store was closed %d times, want once, late", calls)
		}
	})
}

func TestStopObeysItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		agent := testkit.NewGate()
		rt := start(t, testkit.Script{agent.Hang()}, nil)
		rt.Abandon()
		rt.Run(rt.Create("a", ""), "hi", actors.RunOptions{})
		<-agent.Reached()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		var unstopped *actors.UnstoppedError
		if err := rt.Stop(ctx); !errors.As(err, &unstopped) || time.Since(begun) != time.Second {
			t.Errorf("Stop(a second) = %v after %v, want an UnstoppedError then", err, time.Since(begun))
		}
		agent.Open()
		rt.VerifyStopped()
	})
}

func TestStopTellsThatTheStoreCouldNotBeClosed(t *testing.T) {
	t.Parallel()
	store := testkit.NewFaultyStore(memory.New())
	rt := start(t, patient(), &testkit.Options{Store: store})
	rt.Abandon()
	store.Fail(testkit.OpClose, 1, testkit.Fault{Err: persistence.ErrUnavailable})
	wantError(t, "Stop()", rt.Stop(rt.Context()), persistence.ErrUnavailable, "closing the store")
	rt.VerifyStopped()
}

// TestStormOfStartsAndStops starts and stops runtimes in the middle of everything that people do, and looks for what is left.
func TestStormOfStartsAndStops(t *testing.T) {
	t.Parallel()
	script := testkit.Scripts{
		"hang":  {testkit.Hook(func() error { return nil }), testkit.UntilCancelled()},
		"panic": {testkit.Panic("planned")},
		"":      {testkit.Say("x"), testkit.Draft("d", "y"), testkit.Finish("ok")},
	}
	rounds := 12
	if testing.Short() {
		rounds = 5
	}
	for round := range rounds {
		disk := memory.New()
		rt := start(t, script, &testkit.Options{Store: testkit.NewCrashStore(disk), Actors: actors.Options{
			IdleTimeout: 20 * time.Millisecond, FoldDelay: 20 * time.Millisecond,
		}})
		var wait sync.WaitGroup
		for worker := range 6 {
			wait.Go(func() { storm(t, rt, fmt.Sprintf("%d-%d", round, worker)) })
		}
		pause := time.NewTimer(time.Duration(round) * time.Millisecond)
		<-pause.C
		for range 2 {
			wait.Go(func() {
				if err := rt.Stop(rt.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		rt.VerifyStopped()
		listing, err := disk.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, head := range listing.Sessions {
			if head.Status != messages.SessionIdle {
				t.Errorf("session %q is left %s", head.ID, head.Status)
			}
			wantHistory(t, disk, head.ID)
		}
	}
}

// storm uses a runtime until it stops.
func storm(t *testing.T, rt *testkit.Runtime, name string) {
	t.Helper()
	for i := 0; ; i++ {
		err := stormOnce(rt, messages.SessionID(fmt.Sprintf("s-%s-%d", name, i)))
		if errors.Is(err, actors.ErrStopping) {
			return
		}
		if err != nil {
			t.Errorf("worker %s: %v", name, err)
			return
		}
	}
}

func stormOnce(rt *testkit.Runtime, id messages.SessionID) error {
	ctx := rt.Context()
	if _, err := rt.CreateSession(ctx, "a", actors.CreateOptions{ID: id}); err != nil {
		return err
	}
	sub, err := rt.Subscribe(ctx, id, actors.SubscribeOptions{})
	if err != nil {
		return err
	}
	defer sub.Close()
	for _, input := range []string{"hang", "panic", "say", "hang", "say"} {
		if _, err := rt.RunTurn(ctx, id, input, actors.RunOptions{Callbacks: &actors.Callbacks{OnItem: func(messages.Item) {}}}); err != nil {
			return err
		}
	}
	return rt.DeleteSession(ctx, id)
}
