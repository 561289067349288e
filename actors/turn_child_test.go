package actors_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentd/actors"
	"agentd/messages"
)

// One actor drives the turns of a session, one after another, and goes when none comes.
func TestTurnsOfASessionShareAnActor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, patient(), nil)
		id := rt.Create("a", "")
		synctest.Wait()
		none := rt.Live().Actors
		for range 5 {
			rt.Complete(id, "hi")
			synctest.Wait()
			if got := rt.Live().Actors; got != none+1 {
				t.Fatalf("%d actors after a turn, want the session's and one for its turns, %d", got, none+1)
			}
		}
		<-time.After(3 * actors.DefaultFoldDelay)
		synctest.Wait()
		if live := rt.Live(); live.Actors != none || live.Sessions != 1 {
			t.Errorf("Live() = %+v after a while, want the session in memory and %d actors", live, none)
		}
		rt.Complete(id, "again")
		wantHistory(t, rt.Store, id)
	})
}

// An actor that has ended between two turns, or while one begins, is replaced; at worst that turn fails, and says why.
func TestTurnsActorEndsBetweenTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, patient(), nil)
		id := rt.Create("a", "")
		for n := range 10 {
			rt.Complete(id, "hi")
			for child := range 2*n + 2 {
				actors.EndTurnActor(rt.Runtime, id, child+1) // Those that are gone already do not mind.
			}
			if n%2 == 0 {
				synctest.Wait() // The session knows.
			}
			rt.Wait(rt.Run(id, "at the same moment", actors.RunOptions{}))
		}
		wantHistory(t, rt.Store, id)
	})
}

// An agent that ends its goroutine, as a test's FailNow does, has failed its turn, and the next one runs.
func TestAgentThatEndsItsGoroutine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, actors.AgentFunc(func(_ context.Context, turn *actors.TurnContext) error {
			if turn.Input == "leave" {
				runtime.Goexit()
			}
			return nil
		}), nil)
		id := rt.Create("a", "")
		turn := rt.Wait(rt.Run(id, "leave", actors.RunOptions{}))
		if turn.Status != messages.TurnFailed || !strings.Contains(turn.Error, "Goexit") {
			t.Errorf("the turn is %s, %q, want failed with the reason", turn.Status, turn.Error)
		}
		rt.Complete(id, "hi")
		wantHistory(t, rt.Store, id)
	})
}

// A turn's context ends with the turn, whoever ended it: an agent that ends it itself finds it over when it is told so.
func TestContextEndsWithItsTurn(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*actors.TurnContext) error{
		"finished": func(turn *actors.TurnContext) error { return turn.Turn.Finish("ok") },
		"failed":   func(turn *actors.TurnContext) error { return turn.Turn.Fail(errors.New("it failed")) },
		"returned": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				over := make(chan context.Context, 1)
				rt := start(t, actors.AgentFunc(func(ctx context.Context, turn *actors.TurnContext) error {
					over <- ctx
					if end == nil {
						return nil
					}
					if err := end(turn); err != nil {
						t.Errorf("ending the turn = %v", err)
					}
					if !turn.Turn.Cancelled() || errors.Is(context.Cause(ctx), actors.ErrCancelled) {
						t.Errorf("Cancelled() = %v with the cause %v after the end, want that it is over and not cancelled", turn.Turn.Cancelled(), context.Cause(ctx))
					}
					return nil
				}), nil)
				handle := rt.Run(rt.Create("a", ""), "hi", actors.RunOptions{})
				rt.Wait(handle)
				synctest.Wait()
				if ctx := <-over; ctx.Err() == nil {
					t.Error("the context goes on after its turn")
				}
			})
		})
	}
}
