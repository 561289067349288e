package main

import (
	"context"
	"fmt"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentd/presets/mcp"
)

// toolChanger makes changes of the list of tools in the way of the product: a list that differs, and a sync.
type toolChanger struct {
	sync *mcp.Sync

	mu    sync.Mutex
	times int
}

func newToolChanger(ctx context.Context, registry *mcp.Registry) (*toolChanger, error) {
	c := &toolChanger{}
	var err error
	if c.sync, err = mcp.NewSync(mcp.SyncParams{Registry: registry, List: c.list}); err != nil {
		return nil, err
	}
	return c, c.sync.Start(ctx)
}

// list has one tool, whose description is another after each change.
func (c *toolChanger) list(context.Context) ([]mcp.Tool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	description := fmt.Sprintf("Has changed %d times.", c.times)
	return []mcp.Tool{fixture("test_changing_tool", description, anyArguments, always(&sdk.TextContent{Text: description}))}, nil
}

func (c *toolChanger) change(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	c.mu.Lock()
	c.times++
	c.mu.Unlock()
	if err := c.sync.Sync(ctx); err != nil {
		return nil, err
	}
	return says("The list of tools has changed."), nil
}

// changeTools change what the server has.
func changeTools(server *sdk.Server, changer *toolChanger) []mcp.Tool {
	changePrompt := func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		server.AddPrompt(&sdk.Prompt{Name: "test_changing_prompt", Description: "Is added again and again."}, prompt("Changed.", says("Changed.").Content[0]))
		return says("The list of prompts has changed."), nil
	}
	return []mcp.Tool{
		fixture("test_trigger_tool_change", "Changes the list of tools.", anyArguments, changer.change),
		fixture("test_trigger_prompt_change", "Changes the list of prompts.", anyArguments, changePrompt),
	}
}
