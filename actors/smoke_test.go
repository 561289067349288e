package actors_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"agentd/actors"
	"agentd/messages"
	"agentd/persistence/memory"
	"agentd/presets"
)

func TestSmoke(t *testing.T) {
	agents := &actors.Agents{}
	_ = agents.Register("echo", func() (actors.Agent, error) {
		return actors.AgentFunc(func(ctx context.Context, tc *actors.TurnContext) error {
			if tc.Input == "hang" {
				<-ctx.Done()
				return ctx.Err()
			}
			if _, err := tc.Turn.AppendItem(messages.Item{Type: messages.ItemReasoning, Content: "hmm"}); err != nil {
				return err
			}
			return tc.Turn.Finish("ok", messages.Item{Type: messages.ItemMessage, Role: messages.RoleAssistant, Content: tc.Input})
		}), nil
	})
	manager, err := presets.NewManager(nil)
	if err != nil {
		t.Fatal(err)
	}
	rt, err := actors.Start(actors.Deps{Store: memory.New(), Agents: agents, Presets: manager}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	head, err := rt.CreateSession(ctx, "echo", actors.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sub, err := rt.Subscribe(ctx, head.ID, actors.SubscribeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := rt.RunTurn(ctx, head.ID, "hello", actors.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	turn, err := h.Wait(ctx)
	t.Log(turn, err)
	h, err = rt.RunTurn(ctx, head.ID, "hang", actors.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Cancel(ctx); err != nil {
		t.Fatal(err)
	}
	t.Log(h.Turn(), h.Err())
	view, err := rt.Session(ctx, head.ID)
	t.Log(view, err)
	for range 10 {
		e, err := sub.Next(ctx)
		t.Log(e.Seq, e.Kind, e.Item, e.Turn, err)
	}
	if err := rt.DeleteSession(ctx, head.ID); err != nil {
		t.Fatal(err)
	}
	_, err = rt.RunTurn(ctx, head.ID, "x", actors.RunOptions{})
	t.Log(err)
	_, err = rt.RunTurn(ctx, "nope", "x", actors.RunOptions{})
	t.Log(err, errors.Is(err, actors.ErrClosing))
	if err := rt.Stop(ctx); err != nil {
		t.Fatal(err)
	}
}
