package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"agentd/actors"
	"agentd/messages"
	"agentd/presets"
)

// ID is the id under which the agent is registered by habit.
const ID messages.AgentID = "local"

// help is the answer to "help". doc.go lists the same commands.
const help = `I understand, one on a line or with " then " between:
  draw a red circle [at X,Y] [size N]    shapes    export
  list [FOLDER]    read FILE    search TEXT    write FILE TEXT    delete FILE
  run COMMAND    call TOOL JSON    tools
  say TEXT    wait DURATION    help`

// New returns the agent. It needs nothing: what it does, it does with the turn's tools.
func New() actors.Agent { return agent{} }

// Register puts the agent under [ID].
func Register(agents *actors.Agents) error {
	return agents.Register(ID, func() (actors.Agent, error) { return New(), nil })
}

type agent struct{}

var _ actors.Agent = agent{}

// Name implements [actors.Agent].
func (agent) Name() string { return "Local Agent" }

// Run implements [actors.Agent].
func (agent) Run(ctx context.Context, turn *actors.TurnContext) error {
	commands, err := parse(turn.Input)
	if err != nil {
		return answer(turn, err.Error())
	}
	var said []string
	for _, c := range commands {
		text, ok, err := perform(ctx, turn, c)
		if err != nil {
			return err
		}
		said = append(said, text)
		if !ok {
			break
		}
	}
	return answer(turn, strings.Join(said, "\n"))
}

// answer ends the turn with the assistant's message.
func answer(turn *actors.TurnContext, text string) error {
	return turn.Turn.Finish(text, messages.Item{
		Type: messages.ItemMessage, Role: messages.RoleAssistant, Content: text, Provider: string(ID),
	})
}

// perform does one command and returns what to say, and whether to go on.
func perform(ctx context.Context, turn *actors.TurnContext, c command) (said string, ok bool, err error) {
	switch {
	case c.say != "":
		return c.say, true, nil
	case c.pause > 0:
		return pause(ctx, c.pause)
	case c.tools:
		return listTools(ctx, turn)
	default:
		return use(ctx, turn, c)
	}
}

func pause(ctx context.Context, d time.Duration) (string, bool, error) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return fmt.Sprintf("Waited %v.", d), true, nil
	case <-ctx.Done():
		return "", false, context.Cause(ctx)
	}
}

func listTools(ctx context.Context, turn *actors.TurnContext) (string, bool, error) {
	tools, err := turn.Tools.List(ctx)
	if err != nil {
		return "", false, err
	}
	var lines []string
	for _, tool := range tools {
		lines = append(lines, fmt.Sprintf("%s (%s)", tool.Name, tool.Risk))
	}
	return strings.Join(lines, "\n"), true, nil
}

// use calls a tool. One that may not be used yet is asked for first, and then called with the same arguments.
func use(ctx context.Context, turn *actors.TurnContext, c command) (string, bool, error) {
	result, err := callTool(ctx, turn, c)
	if err != nil {
		return "", false, err
	}
	if errors.Is(result.Cause, presets.ErrApprovalRequired) {
		refusal, err := request(ctx, turn, c)
		if err != nil || refusal != "" {
			return refusal, false, err
		}
		if result, err = callTool(ctx, turn, c); err != nil {
			return "", false, err
		}
	}
	switch {
	case ctx.Err() != nil:
		return "", false, context.Cause(ctx)
	case result.IsError:
		return fmt.Sprintf("%q did not work: %s", c.text, inWords(result.Text)), false, nil
	case c.done != "":
		return c.done, true, nil
	default:
		return inWords(result.Text), true, nil
	}
}

func callTool(ctx context.Context, turn *actors.TurnContext, c command) (presets.Result, error) {
	return turn.Tools.Call(ctx, actors.ToolCall{
		Name: c.tool, Arguments: c.arguments, Reason: reason(c), Provider: string(ID),
	})
}

// request asks for one exact call. It returns why the call may not be made, or nothing.
func request(ctx context.Context, turn *actors.TurnContext, c command) (refusal string, err error) {
	// The call was checked before it was found to need an approval, so that its arguments are JSON.
	arguments, err := json.Marshal(map[string]any{"tool": c.tool, "arguments": c.arguments, "reason": reason(c)})
	if err != nil {
		return "", fmt.Errorf("asking for %q: %w", c.text, err)
	}
	result, err := turn.Tools.Call(ctx, actors.ToolCall{Name: presets.RequestToolName, Arguments: arguments, Provider: string(ID)})
	if err != nil {
		return "", err
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	var verdict struct {
		Status string `json:"status"`
		Reason string `json:"reason"`
	}
	if json.Unmarshal([]byte(result.Text), &verdict) == nil && verdict.Status == "approved" {
		return "", nil
	}
	return fmt.Sprintf("I did not do %q: %s", c.text, inWords(result.Text)), nil
}

func reason(c command) string { return fmt.Sprintf("You asked for %q.", c.text) }
