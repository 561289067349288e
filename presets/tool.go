package presets

import (
	"encoding/json"

	"agentd/messages"
)

// Tool is what can be said about one tool: its adapter's words, and the risk that its presets give it. Do not change
// the schema; it is shared.
type Tool struct {
	ID          string
	Name        string
	Description string
	InputSchema json.RawMessage
	// Risk is the strictest of the adapter's and of all registered presets that name the tool.
	Risk messages.Risk
	// Preset is the active preset that offers it; empty for the surface's own tool.
	Preset string
	// Idempotent says that a repeat does no more than the first run.
	Idempotent bool
}

// Toolset is an ordered list of tools: the one source of all three shapes.
type Toolset []Tool

// Find returns the tool of an external name.
func (s Toolset) Find(name string) (Tool, bool) {
	for _, tool := range s {
		if tool.Name == name {
			return tool, true
		}
	}
	return Tool{}, false
}

// MCPTool is a tool as the Model Context Protocol lists it.
type MCPTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// ResponsesTool is a tool as the OpenAI Responses API takes it: flat.
type ResponsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// ChatTool is a tool as Chat Completions takes it: nested under "function".
type ChatTool struct {
	Type     string       `json:"type"`
	Function ChatFunction `json:"function"`
}

// ChatFunction is the inner part of a [ChatTool].
type ChatFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// toolTypeFunction is the only type of tool that we offer to the OpenAI shapes.
const toolTypeFunction = "function"

// MCP returns the list in the shape of the Model Context Protocol.
func (s Toolset) MCP() []MCPTool {
	out := make([]MCPTool, len(s))
	for i, tool := range s {
		out[i] = MCPTool{Name: tool.Name, Description: tool.Description, InputSchema: tool.InputSchema}
	}
	return out
}

// Responses returns the list in the shape of the OpenAI Responses API.
func (s Toolset) Responses() []ResponsesTool {
	out := make([]ResponsesTool, len(s))
	for i, tool := range s {
		out[i] = ResponsesTool{Type: toolTypeFunction, Name: tool.Name, Description: tool.Description, Parameters: tool.InputSchema}
	}
	return out
}

// Chat returns the list in the shape of Chat Completions.
func (s Toolset) Chat() []ChatTool {
	out := make([]ChatTool, len(s))
	for i, tool := range s {
		function := ChatFunction{Name: tool.Name, Description: tool.Description, Parameters: tool.InputSchema}
		out[i] = ChatTool{Type: toolTypeFunction, Function: function}
	}
	return out
}
