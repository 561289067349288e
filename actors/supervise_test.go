package actors_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentd/actors"
	"agentd/actors/internal/session"
	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/memory"
	"agentd/presets"
	"agentd/testkit"
)

// wantHistory fails the test if the stored session could not be sent back to a model.
func wantHistory(t *testing.T, store persistence.Store, id messages.SessionID) {
	t.Helper()
	if err := session.CheckHistory(stored(t, store, id), ""); err != nil {
		t.Errorf("the history of session %q: %v", id, err)
	}
}

func TestPanicOfASessionActor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := testkit.NewGate()
		rt := start(t, testkit.Scripts{
			"work": {testkit.Say("stored"), testkit.Draft("d", "half"), testkit.OpenCall("c", "space_x"), gate.Wait()},
			"":     {testkit.Finish("ok")},
		}, nil)
		id := rt.Create("a", "")
		probe := rt.Watch(id, actors.SubscribeOptions{})
		var told diary
		handle := rt.Run(id, "work", actors.RunOptions{Callbacks: told.callbacks()})
		<-gate.Reached()
		waiting := prompt(t.Context(), rt, id, "queued", messages.OnBusyQueue)
		synctest.Wait()
		actors.PanicSession(rt.Runtime, id)
		if err := <-waiting; err != nil {
			t.Errorf("the prompt that waited came to %v, want it to run after the restart", err)
		}
		if handle.Status() != messages.TurnInterrupted {
			t.Errorf("the turn is %s, want interrupted", handle.Status())
		}
		var resync *actors.ResyncError
		if err := probe.ExpectEnd(); !errors.As(err, &resync) || resync.After != probe.Last() {
			t.Fatalf("the subscription ended with %v, want a ResyncError after %d", err, probe.Last())
		}
		again := rt.Watch(id, actors.SubscribeOptions{After: resync.After})
		again.Expect(testkit.Want{Text: "queued"})
		rt.Complete(id, "next")
		wantHistory(t, rt.Store, id)
		lines := strings.Join(told.read(), ",")
		if !strings.HasSuffix(lines, "error interrupted") || strings.Count(lines, "error interrupted") != 1 {
			t.Errorf("the callbacks were told %q, want the interruption last and once", lines)
		}
	})
}

func TestCallersOfASessionThatKeepsPanickingAreNotHung(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, testkit.Script{testkit.Say("x"), testkit.Finish("ok")}, nil)
		id := rt.Create("a", "")
		var wait sync.WaitGroup
		for i := range 20 {
			wait.Go(func() {
				handle, err := rt.RunTurn(rt.Context(), id, fmt.Sprint(i), actors.RunOptions{OnBusy: messages.OnBusyQueue, TurnID: messages.NewTurnID()})
				if err == nil {
					_, err = handle.Wait(rt.Context())
				}
				if errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("prompt %d hung", i)
				}
			})
			wait.Go(func() {
				if err := rt.SetData(rt.Context(), id, fmt.Sprint("k", i), i); err != nil {
					t.Errorf("SetData() = %v, want it done by the next incarnation", err)
				}
			})
			wait.Go(func() { _ = actors.PanicSession(rt.Runtime, id) })
		}
		wait.Wait()
		rt.Complete(id, "at last")
		if data := rt.View(id).Head.Data; len(data) != 20 {
			t.Errorf("the session has %d keys, want 20", len(data))
		}
		wantHistory(t, rt.Store, id)
	})
}

func TestRestartBudgetOfASession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, testkit.Script{testkit.Finish("ok")}, nil)
		id := rt.Create("a", "")
		fail := func(times int) {
			for range times {
				if !actors.PanicSession(rt.Runtime, id) {
					t.Fatal("the session is not in memory")
				}
				synctest.Wait()
			}
		}
		fail(3)
		if live := rt.Live(); live.Sessions != 1 {
			t.Fatalf("Live() = %+v after three panics, want the session restarted", live)
		}
		<-time.After(61 * time.Second)
		fail(3)
		if live := rt.Live(); live.Sessions != 1 {
			t.Fatalf("Live() = %+v after three more a minute later, want the session restarted", live)
		}
		probe := rt.Watch(id, actors.SubscribeOptions{})
		fail(1)
		if live := rt.Live(); live.Sessions != 0 {
			t.Errorf("Live() = %+v after the fourth panic within a minute, want the session stopped", live)
		}
		var resync *actors.ResyncError
		if err := probe.ExpectEnd(); !errors.As(err, &resync) {
			t.Errorf("the subscription ended with %v, want a ResyncError", err)
		}
		rt.Complete(id, "as if nothing had been")
	})
}

func TestTrap6EndOfATurnActorFailsTheTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, patient(), nil)
		id := rt.Create("a", "")
		handle := rt.Run(id, "hang", actors.RunOptions{})
		synctest.Wait()
		actors.EndTurnActor(rt.Runtime, id, 1)
		if turn := rt.Wait(handle); turn.Status != messages.TurnFailed || !strings.Contains(turn.Error, "actor has ended") {
			t.Errorf("the turn %s: %s, want failed because its actor ended", turn.Status, turn.Error)
		}
		rt.Complete(id, "next")
	})
}

func TestPanicOfTheRegistry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, patient(), nil)
		id, other := rt.Create("a", ""), rt.Create("a", "")
		handle := rt.Run(id, "hang", actors.RunOptions{})
		actors.PanicRegistry(rt.Runtime, id)
		if turn, err := handle.Wait(rt.Context()); !turn.Status.Terminal() {
			t.Errorf("the turn is %s, %v, want it ended", turn.Status, err)
		}
		rt.Complete(id, "next")
		rt.Complete(other, "next")
		wantHistory(t, rt.Store, id)
	})
}

func TestPanicOfTheApprovalsActor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fixture := newToolFixture(t, nil)
		rt, id := fixture.runtime, fixture.id
		handle := rt.Run(id, "call", actors.RunOptions{})
		request := fixture.pending(t)
		actors.PanicApprovals(rt.Runtime)
		if err := rt.Approvals().Decide(rt.Context(), request.ID, presets.Answer{Verb: presets.ApproveOnce, Who: "me"}); err != nil {
			t.Errorf("Decide() after a panic = %v, want what was pending to be there", err)
		}
		if turn := rt.Wait(handle); turn.Status != messages.TurnCompleted {
			t.Errorf("the turn %s: %s, want completed", turn.Status, turn.Error)
		}
		if got := fixture.runs(); got != 1 {
			t.Errorf("the tool ran %d times, want once", got)
		}
	})
}

func TestPanicOfTheJournalLosesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := testkit.NewFaultyStore(memory.New())
		rt := start(t, testkit.Script{testkit.Say("x"), testkit.Finish("ok")}, &testkit.Options{Store: store})
		var ids []messages.SessionID
		for range 5 {
			ids = append(ids, rt.Create("a", ""))
		}
		begun := time.Now()
		store.FailRange(testkit.OpCommit, 1, 6, testkit.Fault{Panic: true})
		var wait sync.WaitGroup
		for _, id := range ids {
			wait.Go(func() { rt.Complete(id, "hi") })
		}
		wait.Wait()
		if took := time.Since(begun); took < 100*time.Millisecond || took > 2*time.Second {
			t.Errorf("six restarts took %v, want pauses that double from 10 ms", took)
		}
		for _, id := range ids {
			if items := stored(t, store, id).Items; len(items) != 2 {
				t.Errorf("session %q has %d items, want both", id, len(items))
			}
			wantHistory(t, store, id)
		}
	})
}

func TestPanicOfASnapshotActor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := testkit.NewFaultyStore(memory.New())
		rt := start(t, testkit.Script{testkit.Finish("ok")}, &testkit.Options{Store: store})
		id := rt.Create("a", "")
		rt.Complete(id, "hi")
		store.Fail(testkit.OpFold, 1, testkit.Fault{Panic: true})
		if err := rt.Flush(rt.Context()); err == nil {
			t.Error("Flush() = nil while folding panics, want an error")
		}
		if err := rt.Flush(rt.Context()); err != nil {
			t.Errorf("Flush() after the panic = %v, want nil", err)
		}
		<-time.After(2 * actors.DefaultIdleTimeout)
		store.Fail(testkit.OpOpen, 1, testkit.Fault{Panic: true})
		if _, err := rt.RunTurn(rt.Context(), id, "hi", actors.RunOptions{}); err == nil {
			t.Error("RunTurn() = nil while opening panics, want an error")
		}
		rt.Complete(id, "again")
		store.Fail(testkit.OpDelete, 1, testkit.Fault{Panic: true})
		if err := rt.DeleteSession(rt.Context(), id); err != nil {
			t.Errorf("DeleteSession() = %v, want nil: the tombstone is durable", err)
		}
		_, err := rt.Session(rt.Context(), id)
		wantError(t, "Session(deleted)", err, persistence.ErrDeleted)
	})
}

func TestNothingPrivateIsLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const secret = "correct-horse-battery"
		var log diary
		logger := slog.New(slog.NewTextHandler(writer{&log}, &slog.HandlerOptions{Level: slog.LevelDebug}))
		rt := start(t, testkit.Scripts{
			secret: {testkit.Say(secret), testkit.Hook(func() error { panic(secret) }), testkit.UntilCancelled(), testkit.Panic(secret)},
		}, &testkit.Options{Actors: actors.Options{Logger: logger}})
		id := rt.Create("a", "")
		handle := rt.Run(id, secret, actors.RunOptions{Callbacks: &actors.Callbacks{
			OnItem: func(messages.Item) { panic(secret) }, OnError: func(messages.Turn, error) { panic(secret) },
		}})
		synctest.Wait()
		if err := handle.Cancel(rt.Context()); err != nil {
			t.Fatal(err)
		}
		actors.PanicSession(rt.Runtime, id)
		synctest.Wait()
		text := strings.Join(log.read(), "")
		if !strings.Contains(text, "panicked") || strings.Contains(text, secret) {
			t.Errorf("the log is %s, want the panics without what they say", text)
		}
	})
}

// writer makes a log of a diary.
type writer struct{ diary *diary }

func (w writer) Write(p []byte) (int, error) {
	w.diary.add("%s", p)
	return len(p), nil
}
