package presets

import (
	"encoding/json"

	"agentd/messages"
)

// Caller is on whose behalf something is listed, asked or run. Approvals and presets may depend on all of it.
type Caller struct {
	SessionID messages.SessionID `json:"session-id,omitempty"`
	TurnID    messages.TurnID    `json:"turn-id,omitempty"`
	AgentID   messages.AgentID   `json:"agent-id,omitempty"`
}

// Call is one call of a tool.
type Call struct {
	Caller
	// CallID is the identity of the call, unique in its session. Empty means a fresh one.
	CallID messages.CallID
	// Name is the external name of the tool.
	Name string
	// Arguments is the JSON text as the model wrote it. Empty means {}.
	Arguments json.RawMessage
	// Reason is why the agent wants it, for the person who decides. Empty means a text made of tool and risk.
	Reason string
	// ArtifactDir and WorkspaceRoot go to the tool; see [Env].
	ArtifactDir   string
	WorkspaceRoot string
	// NoWait makes a call that needs a person's decision answer "approval_required" at once and leave the request with
	// the person. An identical call later takes the decision.
	NoWait bool
	// Recorder is told each step of the call. Nil means that nobody keeps them.
	Recorder Recorder
}
