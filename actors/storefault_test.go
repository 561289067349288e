package actors_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"agentd/actors"
	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/memory"
	"agentd/testkit"
)

// faultCommits is how many appends of a session's life are made to fail, one after another. The script makes about as many.
const faultCommits = 9

// TestEveryFaultAtEveryCommit makes each append of a session fail in each way, and checks that callers are told the truth, that
// nothing acknowledged is lost or doubled, and that the next turn works.
func TestEveryFaultAtEveryCommit(t *testing.T) {
	t.Parallel()
	for name, fault := range testkit.Faults() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; n <= faultCommits; n++ {
				synctest.Test(t, func(t *testing.T) { commitFault(t, n, 1, fault) })
			}
			for n := 1; n <= faultCommits; n += 2 {
				synctest.Test(t, func(t *testing.T) { commitFault(t, n, 4, fault) })
			}
		})
	}
}

// commitFault runs a life in which some appends fail.
func commitFault(t *testing.T, n, times int, fault testkit.Fault) {
	t.Helper()
	at := func(format string, args ...any) {
		t.Helper()
		t.Errorf("commit %d (%d times): %s", n, times, fmt.Sprintf(format, args...))
	}
	store := testkit.NewFaultyStore(memory.New())
	acknowledged := map[messages.ItemID]string{}
	say := func(id messages.ItemID) testkit.Step {
		return func(_ context.Context, turn *actors.TurnContext) error {
			item := assistant("text of " + string(id))
			item.ID = id
			if _, err := turn.Turn.AppendItem(item); err != nil {
				return err
			}
			acknowledged[id] = item.Content
			return nil
		}
	}
	rt := start(t, testkit.Scripts{
		"hi": {
			say("one"), testkit.Draft("d", "half"), say("two"), testkit.OpenCall("c", "space_x"), testkit.SetData("k", 1), say("three"),
			testkit.Final("d", "whole"), testkit.Finish("ok"),
		},
		"next": {testkit.Say("fine"), testkit.Finish("ok")},
	}, &testkit.Options{Store: store})
	store.FailRange(testkit.OpCommit, n, n+times-1, fault)

	id := messages.SessionID("s")
	if _, err := rt.CreateSession(rt.Context(), "a", actors.CreateOptions{ID: id}); err != nil {
		store.Heal()
		if _, err := rt.CreateSession(rt.Context(), "a", actors.CreateOptions{ID: id}); err != nil && !errors.Is(err, persistence.ErrExists) {
			t.Fatalf("commit %d: creating again = %v", n, err)
		}
	}
	handle, err := rt.RunTurn(rt.Context(), id, "hi", actors.RunOptions{TurnID: "t1"})
	var turn messages.Turn
	var fate error
	if err == nil {
		turn, fate = handle.Wait(rt.Context())
		if !turn.Status.Terminal() {
			at("the turn is %s: %v", turn.Status, fate)
		}
	}
	<-time.After(time.Minute)
	store.Heal()
	<-time.After(time.Minute) // What is owed is paid.
	synctest.Wait()

	rt.Complete(id, "next")
	doc := stored(t, store, id)
	wantHistory(t, store, id)
	texts := map[messages.ItemID]string{}
	for _, item := range doc.Items {
		texts[item.ID] = item.Content
	}
	for item, text := range acknowledged {
		if texts[item] != text {
			at("item %q was acknowledged, and the store has %q", item, texts[item])
		}
	}
	if got := inputs(doc.Items); err == nil && len(got) != 2 || got[len(got)-1] != "next" {
		at("the inputs are %q", got)
	}
	if err == nil && fate == nil && turn.Status == messages.TurnCompleted && (texts["d"] != "whole" || string(doc.Head.Data["k"]) != "1") {
		at("the turn completed, and the store has %+v, data %s", doc.Items, doc.Head.Data["k"])
	}
	failures := len(itemsOf(doc.Items, messages.ItemError))
	if completed := turn.Status == messages.TurnCompleted && fate == nil; err == nil && completed != (failures == 0) {
		at("the turn %s (%v), and there are %d error items", turn.Status, fate, failures)
	}
}

func TestFullDiskFailsTurnsAndIsNotSticky(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		full := fmt.Errorf("no space left on device: %w", persistence.ErrUnavailable)
		store := testkit.NewFaultyStore(memory.New())
		gate := testkit.NewGate()
		rt := start(t, testkit.Scripts{"hi": {gate.Wait(), testkit.Say("x"), testkit.Finish("ok")}, "": {testkit.Finish("ok")}}, &testkit.Options{Store: store})
		id := rt.Create("a", "")
		handle := rt.Run(id, "hi", actors.RunOptions{})
		<-gate.Reached()
		store.FailRange(testkit.OpCommit, 1, 1<<30, testkit.Fault{Err: full})
		gate.Open()
		turn, err := handle.Wait(rt.Context())
		wantError(t, "Wait(full disk)", err, persistence.ErrUnavailable, "no space left")
		if turn.Status != messages.TurnFailed {
			t.Errorf("the turn is %s, want failed", turn.Status)
		}
		_, err = rt.RunTurn(rt.Context(), id, "more", actors.RunOptions{})
		wantError(t, "RunTurn(full disk)", err, persistence.ErrUnavailable, "no space left", string(id))
		_, err = rt.CreateSession(rt.Context(), "a", actors.CreateOptions{ID: "new"})
		wantError(t, "CreateSession(full disk)", err, persistence.ErrUnavailable, "no space left", "new")
		wantError(t, "SetData(full disk)", rt.SetData(rt.Context(), id, "k", 1), persistence.ErrUnavailable, string(id))
		wantError(t, "DeleteSession(full disk)", rt.DeleteSession(rt.Context(), id), persistence.ErrUnavailable, string(id))
		store.Heal()
		rt.Complete(id, "again")
		rt.Complete(rt.Create("a", "new"), "hi")
		wantHistory(t, store, id)
		if got := inputs(stored(t, store, id).Items); len(got) != 2 {
			t.Errorf("the inputs are %q, want those that were acknowledged", got)
		}
	})
}

func TestFaultOfOneSessionHurtsNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := testkit.NewFaultyStore(memory.New())
		rt := start(t, testkit.Script{testkit.Say("x"), testkit.Finish("ok")}, &testkit.Options{Store: store})
		good, bad := rt.Create("a", "good"), rt.Create("a", "bad")
		store.FailSession(testkit.OpCommit, bad, testkit.Fault{Err: persistence.ErrUnavailable})
		for range 10 {
			ended := prompt(t.Context(), rt, bad, "hi", messages.OnBusyQueue)
			rt.Complete(good, "hi")
			wantError(t, "RunTurn(bad)", <-ended, persistence.ErrUnavailable, "bad")
		}
	})
}

func TestFaultsOfOpeningAndFolding(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := testkit.NewFaultyStore(memory.New())
		rt := start(t, testkit.Script{testkit.Finish("ok")}, &testkit.Options{Store: store})
		id := rt.Create("a", "")
		rt.Complete(id, "hi")
		store.FailRange(testkit.OpFold, 1, 1<<30, testkit.Fault{Err: persistence.ErrUnavailable})
		wantError(t, "Flush()", rt.Flush(rt.Context()), persistence.ErrUnavailable)
		<-time.After(2 * actors.DefaultIdleTimeout)
		store.FailRange(testkit.OpOpen, 1, 1, testkit.Fault{Err: persistence.ErrUnavailable})
		_, err := rt.RunTurn(rt.Context(), id, "hi", actors.RunOptions{})
		wantError(t, "RunTurn(cannot be opened)", err, persistence.ErrUnavailable, string(id))
		rt.Complete(id, "again")
		store.Heal()
		if err := rt.Flush(rt.Context()); err != nil {
			t.Errorf("Flush() after the faults = %v", err)
		}
		if left := store.Unfolded(); len(left) > 0 {
			t.Errorf("after a flush %+v are not folded", left)
		}
	})
}

func TestFencedSessionIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := testkit.NewFaultyStore(memory.New())
		gate := testkit.NewGate()
		rt := start(t, testkit.Scripts{"hi": {gate.Wait(), testkit.Say("x")}, "": {testkit.Finish("ok")}}, &testkit.Options{Store: store})
		id := rt.Create("a", "")
		probe := rt.Watch(id, actors.SubscribeOptions{})
		handle := rt.Run(id, "hi", actors.RunOptions{})
		<-gate.Reached()
		store.Fail(testkit.OpCommit, 1, testkit.Fault{Fence: true})
		gate.Open()
		turn, err := handle.Wait(rt.Context())
		wantError(t, "Wait(fenced)", err, persistence.ErrFenced)
		if !turn.Status.Terminal() {
			t.Errorf("the turn is %s, want it ended", turn.Status)
		}
		if err := probe.ExpectEnd(); !errors.Is(err, persistence.ErrFenced) {
			t.Errorf("the subscription ended with %v, want ErrFenced", err)
		}
		rt.Complete(id, "next")
		wantHistory(t, store, id)
	})
}

func TestCreationThatFailedCanBeTriedAgainAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := testkit.NewFaultyStore(memory.New())
		rt := start(t, testkit.Script{testkit.Finish("ok")}, &testkit.Options{Store: store})
		for range 200 {
			store.Fail(testkit.OpCommit, 1, testkit.Fault{Err: persistence.ErrUnavailable})
			opts := actors.CreateOptions{ID: messages.NewSessionID()}
			_, err := rt.CreateSession(rt.Context(), "a", opts)
			wantError(t, "CreateSession(full disk)", err, persistence.ErrUnavailable)
			if _, err := rt.CreateSession(rt.Context(), "a", opts); err != nil {
				t.Fatalf("CreateSession() again = %v, want nil: the first try made nothing", err)
			}
		}
	})
}

func TestLoadThatFailedCanBeTriedAgainAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := testkit.NewFaultyStore(memory.New())
		rt := start(t, testkit.Script{testkit.Finish("ok")}, &testkit.Options{Store: store})
		id := rt.Create("a", "")
		for range 50 {
			<-time.After(2 * actors.DefaultIdleTimeout)
			synctest.Wait()
			store.Fail(testkit.OpOpen, 1, testkit.Fault{Err: persistence.ErrUnavailable})
			wantError(t, "SetData(cannot be opened)", rt.SetData(rt.Context(), id, "k", 1), persistence.ErrUnavailable)
			if err := rt.SetData(rt.Context(), id, "k", 1); err != nil {
				t.Fatalf("SetData() again = %v, want nil: the fault was one of a moment", err)
			}
		}
	})
}
