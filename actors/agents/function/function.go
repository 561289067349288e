package function

import (
	"context"
	"fmt"

	"agentd/actors"
	"agentd/messages"
)

// Func answers an input. The text becomes the assistant's message and the turn's result. The context ends when the turn
// is cancelled. An error fails the turn with its text, a panic fails it too.
type Func func(ctx context.Context, turn *actors.TurnContext) (string, error)

// New returns an agent that is one function. The name is for people.
func New(name string, f Func) (actors.Agent, error) {
	if f == nil {
		return nil, fmt.Errorf("function agent %q: its function is nil", name)
	}
	return &agent{name: name, f: f}, nil
}

// Register puts a function under an id.
func Register(agents *actors.Agents, id messages.AgentID, name string, f Func) error {
	return agents.Register(id, func() (actors.Agent, error) { return New(name, f) })
}

type agent struct {
	name string
	f    Func
}

var _ actors.Agent = (*agent)(nil)

// Name implements [actors.Agent].
func (a *agent) Name() string { return a.name }

// Run implements [actors.Agent].
func (a *agent) Run(ctx context.Context, turn *actors.TurnContext) error {
	text, err := a.f(ctx, turn)
	if err != nil {
		return err
	}
	if text == "" {
		return turn.Turn.Finish("")
	}
	return turn.Turn.Finish(text, messages.Item{
		Type: messages.ItemMessage, Role: messages.RoleAssistant, Content: text, Provider: "function",
	})
}
