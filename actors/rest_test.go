package actors_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"agentd/actors"
	"agentd/messages"
	"agentd/persistence/memory"
	"agentd/testkit"
)

// A session that has been idle for a while holds nothing of the prompts that it has answered, whatever became of their turns. Somebody
// listens, so that it stays.
func TestIdleSessionForgetsItsPrompts(t *testing.T) {
	t.Parallel()
	for _, fate := range []string{"ran", "ran, and its actor was lost", "was cancelled before it began"} {
		t.Run(fate, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := testkit.NewFaultyStore(memory.New())
				rt := start(t, testkit.Script{testkit.Finish("ok")}, &testkit.Options{Store: store})
				id := rt.Create("a", "")
				rt.Watch(id, actors.SubscribeOptions{})
				prompt := promptOf(t, rt, store, id, fate)
				<-time.After(3 * actors.DefaultFoldDelay)
				synctest.Wait()
				for range 10 {
					if runtime.GC(); prompt.Value() == nil {
						return
					}
				}
				t.Error("the session still holds the callbacks of its prompt")
			})
		})
	}
}

// promptOf runs a turn, and returns what its callbacks hold.
func promptOf(t *testing.T, rt *testkit.Runtime, store *testkit.FaultyStore, id messages.SessionID, fate string) weak.Pointer[[1 << 16]byte] {
	t.Helper()
	held := new([1 << 16]byte)
	callbacks := &actors.Callbacks{OnComplete: func(messages.Turn) { held[0]++ }, OnError: func(messages.Turn, error) { held[0]++ }}
	if fate == "was cancelled before it began" {
		gate := testkit.NewGate()
		store.Fail(testkit.OpCommit, 1, testkit.Fault{Wait: gate})
		go func() {
			<-gate.Reached()
			cancelled := make(chan error, 1)
			go func() { cancelled <- rt.CancelTurn(rt.Context(), id) }()
			<-time.After(time.Second) // The bubble's: until the cancel has come.
			gate.Open()
			if err := <-cancelled; err != nil {
				t.Errorf("CancelTurn() = %v", err)
			}
		}()
	}
	handle, err := rt.RunTurn(t.Context(), id, "hi", actors.RunOptions{Callbacks: callbacks})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := handle.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if fate == "ran, and its actor was lost" {
		actors.EndTurnActor(rt.Runtime, id, 1)
	}
	return weak.Make(held)
}
