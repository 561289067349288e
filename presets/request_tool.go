package presets

import "encoding/json"

const (
	// RequestToolName is the surface's own tool, with which a model asks for the approval of a call that it wants to make.
	RequestToolName = "space_agent_request_tool_approval"
	// reservedIDPrefix begins the ids of what the surface itself offers.
	reservedIDPrefix = "agent."
	requestToolID    = "agent.request-tool-approval"
)

const requestToolSchema = `{"type":"object","properties":{` +
	`"tool":{"type":"string","description":"The name of the tool, as you would call it."},` +
	`"arguments":{"type":"object","description":"Exactly the arguments of the call that you want to make."},` +
	`"reason":{"type":"string","description":"Why you need it, in one sentence for the person who decides."}},` +
	`"required":["tool","arguments"],"additionalProperties":false}`

func requestTool() Tool {
	return Tool{
		ID: requestToolID, Name: RequestToolName, Risk: "normal", Idempotent: true,
		Description: "Asks the person to approve one exact tool call. Use it when a tool answers that an approval is required, or is named in your " +
			"instructions but not in your list of tools. The answer says approved, denied or approval_required. Once it is approved, make the call with exactly the same arguments.",
		InputSchema: json.RawMessage(requestToolSchema),
	}
}
