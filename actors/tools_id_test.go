package actors_test

import (
	"context"
	"testing"

	"agentd/actors"
	"agentd/messages"
	"agentd/testkit"
)

// TestCallIDsComeAgain holds the rule that an agent may give the same call id in every turn, as some models do, but not twice in one.
func TestCallIDsComeAgain(t *testing.T) {
	t.Parallel()
	var second error
	agent := actors.AgentFunc(func(ctx context.Context, turn *actors.TurnContext) error {
		if _, err := turn.Tools.Call(ctx, actors.ToolCall{ID: "call_1", Name: "space_nothing"}); err != nil {
			return err
		}
		_, second = turn.Tools.Call(ctx, actors.ToolCall{ID: "call_1", Name: "space_nothing"})
		return nil
	})
	rt := testkit.NewRuntime(t, &testkit.Options{Agents: map[messages.AgentID]actors.Agent{"a": agent}})
	id := rt.Create("a", "")
	for range 2 {
		h, err := rt.RunTurn(t.Context(), id, "go", actors.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if turn, err := h.Wait(t.Context()); err != nil || turn.Status != messages.TurnCompleted {
			t.Fatalf("turn = %+v, %v, want completed", turn, err)
		}
		if second == nil {
			t.Error("the second call of the same id in one turn was taken")
		}
	}
}
