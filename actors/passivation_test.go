package actors_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agentd/actors"
	"agentd/messages"
	"agentd/persistence/memory"
	"agentd/testkit"
)

func TestIdleSessionLeavesMemoryAndIsFolded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, patient(), nil)
		idle, busy, watched := rt.Create("a", ""), rt.Create("a", ""), rt.Create("a", "")
		rt.Complete(idle, "hi")
		rt.Complete(watched, "hi")
		handle := rt.Run(busy, "hang", actors.RunOptions{})
		probe := rt.Watch(watched, actors.SubscribeOptions{})
		<-time.After(2 * actors.DefaultIdleTimeout)
		synctest.Wait()
		if live := rt.Live(); live.Sessions != 2 || !handle.Running() {
			t.Errorf("Live() = %+v and the turn is %s, want the busy session and the watched one in memory", live, handle.Status())
		}
		if u := rt.Store.UnfoldedOf(idle); u.JournalBytes > 0 {
			t.Errorf("the session that left has %d bytes in the journal, want it folded", u.JournalBytes)
		}
		if head := stored(t, rt.Store, idle).Head; head.Epoch != 1 {
			t.Errorf("leaving opened the epoch %d, want nothing written", head.Epoch)
		}
		probe.Close()
		<-time.After(2 * actors.DefaultIdleTimeout)
		synctest.Wait()
		if live := rt.Live(); live.Sessions != 1 {
			t.Errorf("Live() = %+v after the subscription was closed, want the busy session alone", live)
		}
	})
}

// A session that was only looked at, and took no step of its own, leaves again, too.
func TestSessionThatWasOnlyWatchedLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, patient(), nil)
		id := rt.Create("a", "")
		<-time.After(2 * actors.DefaultIdleTimeout)
		synctest.Wait()
		probe := rt.Watch(id, actors.SubscribeOptions{})
		if live := rt.Live(); live.Sessions != 1 {
			t.Fatalf("Live() = %+v, want the watched session", live)
		}
		probe.Close()
		<-time.After(2 * actors.DefaultIdleTimeout)
		synctest.Wait()
		if live := rt.Live(); live.Sessions != 0 {
			t.Errorf("Live() = %+v, want none", live)
		}
	})
}

func TestIdleSessionIsFoldedSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := testkit.NewFaultyStore(memory.New())
		rt := start(t, patient(), &testkit.Options{Store: store})
		id := rt.Create("a", "")
		for range 3 {
			rt.Complete(id, "hi")
		}
		if folds := store.Calls(testkit.OpFold); folds != 0 {
			t.Errorf("%d folds while the session is busy, want none", folds)
		}
		<-time.After(3 * actors.DefaultFoldDelay)
		synctest.Wait()
		if folds := store.Calls(testkit.OpFold); folds != 1 {
			t.Errorf("%d folds after a pause, want one", folds)
		}
		<-time.After(20 * actors.DefaultFoldDelay)
		if folds := store.Calls(testkit.OpFold); folds != 1 {
			t.Errorf("%d folds of an idle session, want no more", folds)
		}
	})
}

func TestCallersThatMeetALeavingSessionDoNotNotice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, testkit.Script{testkit.Finish("ok")}, &testkit.Options{Actors: actors.Options{
			IdleTimeout: 10 * time.Millisecond, FoldDelay: 10 * time.Millisecond,
		}})
		ids := []messages.SessionID{rt.Create("a", ""), rt.Create("a", "")}
		var wait sync.WaitGroup
		var turns atomic.Int64
		for caller := range 8 {
			id := ids[caller%len(ids)]
			wait.Go(func() {
				for i := range 40 {
					<-time.After(time.Duration(7+(caller*5+i)%9) * time.Millisecond) // About the time of the sweep.
					switch i % 4 {
					case 0:
						if _, err := rt.Session(rt.Context(), id); err != nil {
							t.Errorf("Session() = %v", err)
						}
					case 1:
						if err := rt.SetData(rt.Context(), id, fmt.Sprint("k", caller), i); err != nil {
							t.Errorf("SetData() = %v", err)
						}
					case 2:
						sub, err := rt.Subscribe(rt.Context(), id, actors.SubscribeOptions{})
						if err != nil {
							t.Errorf("Subscribe() = %v", err)
							continue
						}
						sub.Close()
					default:
						handle := rt.Run(id, "hi", actors.RunOptions{OnBusy: messages.OnBusyQueue})
						if turn := rt.Wait(handle); turn.Status == messages.TurnCompleted {
							turns.Add(1)
						}
					}
				}
			})
		}
		wait.Wait()
		total := 0
		for _, id := range ids {
			doc := stored(t, rt.Store, id)
			total += doc.Head.TurnCount
			wantHistory(t, rt.Store, id)
			if doc.Head.Epoch < 2 {
				t.Errorf("session %q was never woken: the test tests nothing", id)
			}
		}
		if total != 80 || turns.Load() != 80 {
			t.Errorf("%d turns are stored and %d completed, want 80", total, turns.Load())
		}
	})
}

func TestMaxLiveSessionsMakesRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, patient(), &testkit.Options{Actors: actors.Options{MaxLiveSessions: 3}})
		var ids []messages.SessionID
		for range 20 {
			id := rt.Create("a", "")
			rt.Complete(id, "hi")
			ids = append(ids, id)
			if live := rt.Live(); live.Sessions > 3 {
				t.Fatalf("Live() = %+v, want at most 3 sessions", live)
			}
		}
		var wait sync.WaitGroup
		for _, id := range ids { // All want to be woken at once; there is room for three at a time.
			wait.Go(func() {
				for {
					err := rt.SetData(rt.Context(), id, "k", 1)
					if err == nil {
						return
					}
					if !errors.Is(err, actors.ErrTooManySessions) {
						t.Errorf("SetData() = %v", err)
						return
					}
					<-time.After(time.Millisecond)
				}
			})
		}
		wait.Wait()
	})
}

func TestMaxLiveSessionsRefusesWhenAllAreBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, patient(), &testkit.Options{Actors: actors.Options{MaxLiveSessions: 2}})
		busy, watched := rt.Create("a", ""), rt.Create("a", "")
		handle := rt.Run(busy, "hang", actors.RunOptions{})
		probe := rt.Watch(watched, actors.SubscribeOptions{})
		_, err := rt.CreateSession(rt.Context(), "a", actors.CreateOptions{ID: "third"})
		wantError(t, "CreateSession(full)", err, actors.ErrTooManySessions, "third", "2")
		rt.Complete(watched, "those in memory go on")
		probe.Close()
		rt.Create("a", "third")
		if live := rt.Live(); live.Sessions != 2 || !handle.Running() {
			t.Errorf("Live() = %+v and the turn is %s, want two sessions and the turn undisturbed", live, handle.Status())
		}
	})
}

func TestStopWhileActivationsWaitForRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := testkit.NewFaultyStore(memory.New())
		rt := start(t, patient(), &testkit.Options{Store: store, Actors: actors.Options{MaxLiveSessions: 1}})
		rt.Create("a", "one")
		errs := make(chan error, 10)
		for i := range cap(errs) {
			go func() {
				_, err := rt.CreateSession(rt.Context(), "a", actors.CreateOptions{ID: messages.SessionID(fmt.Sprint("s", i))})
				errs <- err
			}()
		}
		if err := rt.Stop(rt.Context()); err != nil {
			t.Fatal(err)
		}
		for range cap(errs) {
			if err := <-errs; err != nil && !errors.Is(err, actors.ErrStopping) && !errors.Is(err, actors.ErrTooManySessions) {
				t.Errorf("CreateSession() = %v, want ErrStopping", err)
			}
		}
	})
}

func TestCallerThatIsLateIsNotHung(t *testing.T) {
	t.Parallel()
	leaves := map[string]func(rt *testkit.Runtime, id messages.SessionID){
		"passivated": func(*testkit.Runtime, messages.SessionID) { <-time.After(2 * actors.DefaultIdleTimeout) },
		"deleted": func(rt *testkit.Runtime, id messages.SessionID) {
			if err := rt.DeleteSession(rt.Context(), id); err != nil {
				t.Error(err)
			}
		},
		"stopped": func(rt *testkit.Runtime, _ messages.SessionID) {
			if err := rt.Stop(rt.Context()); err != nil {
				t.Error(err)
			}
		},
		"panicked": func(rt *testkit.Runtime, id messages.SessionID) {
			for range 4 {
				actors.PanicSession(rt.Runtime, id)
				synctest.Wait()
			}
		},
	}
	for name, leave := range leaves {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				rt := start(t, patient(), nil)
				id := rt.Create("a", "")
				held, ok := actors.Hold(rt.Runtime, id)
				if !ok {
					t.Fatal("the session is not in memory")
				}
				leave(rt, id)
				synctest.Wait()
				wantError(t, "asking a session that has left", held.View(rt.Context()), actors.ErrClosing)
			})
		})
	}
}
