package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentd/presets"
)

// maxStructuredBytes is the longest result text that is sent a second time as structured content.
const maxStructuredBytes = 64 << 10

// call is the handler of every tool: it makes the client's call a call of the surface, on behalf of the bound turn.
func (t *ToolServer) call(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	binding := t.bound.Load()
	if binding == nil {
		return noTurn(), nil
	}
	ctx, leave, ok := binding.enter(ctx)
	if !ok {
		return noTurn(), nil
	}
	defer leave()

	turn := binding.turn
	call := presets.Call{
		Caller: turn.Caller, Name: req.Params.Name, Arguments: arguments(req.Params.Arguments),
		ArtifactDir: turn.ArtifactDir, WorkspaceRoot: turn.WorkspaceRoot, NoWait: t.options.NoWait, Recorder: turn.Recorder,
	}
	run := t.surface.Call
	if turn.Call != nil {
		run = turn.Call
	}
	defer t.reportProgress(ctx, req)()
	if t.elicitor != nil {
		if question := t.elicitor.ask(ctx, t, req, &call); question != nil {
			return question, nil
		}
	}
	result, err := run(ctx, call)
	if err != nil {
		t.options.Logger.Warn("A call could not be recorded or decided.", slog.String("tool", req.Params.Name), slog.String("error", err.Error()))
		if result.Text == "" {
			return Failure("internal_error", "The call could not be recorded, so it did not run."), nil
		}
		result.IsError = true
	}
	return answer(result), nil
}

func noTurn() *sdk.CallToolResult {
	return Failure("no_active_turn", "No turn of this session is active, so nothing runs. Tools are there while the agent works on a prompt.")
}

// arguments takes null for none, as clients mean it.
func arguments(raw json.RawMessage) json.RawMessage {
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return nil
	}
	return raw
}

// answer makes what the client is sent. A text that is a JSON object is sent as structured content too: programs read the request's id and the
// fingerprint there.
func answer(result presets.Result) *sdk.CallToolResult {
	out := &sdk.CallToolResult{IsError: result.IsError, Content: []sdk.Content{&sdk.TextContent{Text: result.Text}}}
	if text := []byte(result.Text); len(text) > 0 && text[0] == '{' && len(text) <= maxStructuredBytes && json.Valid(text) {
		out.StructuredContent = json.RawMessage(text)
	}
	return out
}
