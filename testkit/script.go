package testkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"agentd/actors"
	"agentd/messages"
)

// Step is one thing that a scripted agent does. An error ends the script, and with it the turn.
type Step func(ctx context.Context, turn *actors.TurnContext) error

// Script is what a scripted agent does in a turn, one step after another. It is an [actors.Agent] that does the same
// for every input.
type Script []Step

var _ actors.Agent = Script(nil)

// Name implements [actors.Agent].
func (Script) Name() string { return "scripted" }

// Run implements [actors.Agent].
func (s Script) Run(ctx context.Context, turn *actors.TurnContext) error {
	for _, step := range s {
		if err := step(ctx, turn); err != nil {
			return err
		}
	}
	return nil
}

// Scripts is a scripted agent that chooses its script by the input of the turn. The script for the empty text is for inputs
// that have none; without it such a turn fails.
type Scripts map[string]Script

var _ actors.Agent = Scripts(nil)

// Name implements [actors.Agent].
func (Scripts) Name() string { return "scripted" }

// Run implements [actors.Agent].
func (s Scripts) Run(ctx context.Context, turn *actors.TurnContext) error {
	script, known := s[turn.Input]
	if !known {
		if script, known = s[""]; !known {
			return fmt.Errorf("no script for the input %.40q", turn.Input)
		}
	}
	return script.Run(ctx, turn)
}

// Append adds an item.
func Append(item messages.Item) Step {
	return func(_ context.Context, turn *actors.TurnContext) error {
		_, err := turn.Turn.AppendItem(item)
		return err
	}
}

// Upsert lays an item over the one with its id, or adds it.
func Upsert(item messages.Item) Step {
	return func(_ context.Context, turn *actors.TurnContext) error {
		_, err := turn.Turn.UpsertItem(item)
		return err
	}
}

// Say adds a message of the assistant.
func Say(text string) Step {
	return Append(messages.Item{Type: messages.ItemMessage, Role: messages.RoleAssistant, Content: text})
}

// Draft shows the present text of a message that still grows.
func Draft(id messages.ItemID, text string) Step { return stream(id, text, messages.StreamStreaming) }

// Final ends a draft with its last text.
func Final(id messages.ItemID, text string) Step { return stream(id, text, messages.StreamComplete) }

func stream(id messages.ItemID, text string, status messages.StreamStatus) Step {
	return Upsert(messages.Item{
		ID: id, Type: messages.ItemMessage, Role: messages.RoleAssistant, Content: text, StreamStatus: status,
	})
}

// OpenCall adds a tool call that runs and gets no result, as a provider that is cut off leaves it.
func OpenCall(id messages.CallID, name string) Step {
	return Append(messages.Item{
		ID: "itm-tool-call-" + messages.ItemID(id), Type: messages.ItemToolCall, CallID: id, Name: name,
		Arguments: "{}", Status: messages.CallRunning,
	})
}

// Call calls a tool of the runtime. A refusal or a failure is a result, and the script goes on.
func Call(call actors.ToolCall) Step {
	return func(ctx context.Context, turn *actors.TurnContext) error {
		_, err := turn.Tools.Call(ctx, call)
		return err
	}
}

// Use calls a tool of the runtime by its name, with arguments as JSON text.
func Use(name, arguments string) Step {
	return Call(actors.ToolCall{Name: name, Arguments: json.RawMessage(arguments)})
}

// SetData stores a key of the agent-owned state.
func SetData(key string, value any) Step {
	return func(_ context.Context, turn *actors.TurnContext) error { return turn.Turn.SetData(key, value) }
}

// Hook registers a cancel hook.
func Hook(hook func() error) Step {
	return func(_ context.Context, turn *actors.TurnContext) error { return turn.Turn.SetCancel(hook) }
}

// Finish completes the turn. Steps behind it come too late on purpose.
func Finish(result string, items ...messages.Item) Step {
	return func(_ context.Context, turn *actors.TurnContext) error { return turn.Turn.Finish(result, items...) }
}

// Fail ends the turn with an error.
func Fail(text string) Step {
	return func(_ context.Context, turn *actors.TurnContext) error { return turn.Turn.Fail(errors.New(text)) }
}

// Return ends the script with an error, and so fails the turn.
func Return(text string) Step {
	return func(context.Context, *actors.TurnContext) error { return errors.New(text) }
}

// Panic panics in the agent.
func Panic(value any) Step {
	return func(context.Context, *actors.TurnContext) error { panic(value) }
}

// UntilCancelled waits until the turn is cancelled or over, and goes on with the script.
func UntilCancelled() Step {
	return func(ctx context.Context, _ *actors.TurnContext) error {
		<-ctx.Done()
		return nil
	}
}

// Told runs a step, sends its error, nil or not, to a channel with room for it, and goes on with the script. It is for steps that
// are expected to fail: what comes late, what is refused.
func Told(errs chan<- error, step Step) Step {
	return func(ctx context.Context, turn *actors.TurnContext) error {
		errs <- step(ctx, turn)
		return nil
	}
}
