package actors_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"agentd/actors"
	"agentd/messages"
	"agentd/testkit"
)

// An agent that goes on after its turn, when the session's actor has left memory already, gets an answer: nobody waits for an actor that is gone.
func TestAgentCallsAfterTheSessionHasLeft(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		call func(turn *actors.TurnController) error
	}{
		{"append", func(turn *actors.TurnController) error { _, err := turn.AppendItem(assistant("late")); return err }},
		{"upsert", func(turn *actors.TurnController) error { _, err := turn.UpsertItem(assistant("late")); return err }},
		{"data", func(turn *actors.TurnController) error { return turn.SetData("key", 1) }},
		{"finish", func(turn *actors.TurnController) error { return turn.Finish("late") }},
		{"fail", func(turn *actors.TurnController) error { return turn.Fail(context.Canceled) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				late := make(chan error, 1)
				runtime := start(t, actors.AgentFunc(func(_ context.Context, turn *actors.TurnContext) error {
					err := turn.Turn.Finish("done")
					<-time.After(time.Hour) // Far longer than an idle session stays in memory.
					late <- test.call(turn.Turn)
					return err
				}), &testkit.Options{})
				head, err := runtime.CreateSession(t.Context(), "a", actors.CreateOptions{})
				if err != nil {
					t.Fatal(err)
				}
				handle, err := runtime.RunTurn(t.Context(), head.ID, "hello", actors.RunOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if turn, err := handle.Wait(t.Context()); err != nil || turn.Status != messages.TurnCompleted {
					t.Fatalf("Wait = %v, %v, want completed", turn.Status, err)
				}
				select {
				case err := <-late:
					if err == nil {
						t.Error("a call after the session has left = nil, want an error")
					}
				case <-time.After(2 * time.Hour):
					t.Error("a call after the session has left never returned")
				}
			})
		})
	}
}
