package presets

import (
	"encoding/json"
	"fmt"

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

// Result is what a call came to.
type Result struct {
	// Text is what the model is told. JSON by habit.
	Text string
	// IsError says that the text reports a failure.
	IsError bool
	// Status is how far the call came: completed, failed, denied, cancelled (did not run) or interrupted (effects unknown), or pending when an
	// approval is required. A tool leaves it empty; the surface sets it.
	Status messages.CallStatus
	// CallID is the call. The surface sets it.
	CallID messages.CallID
	// CutBytes is how many bytes of the text were left out; the text says so too. Zero means none.
	CutBytes int
	// Cause says why IsError is set, for programs: it wraps one of the errors of this package. It does not cross a wire.
	Cause error
}

// Text returns a result that is good and plain.
func Text(text string) Result { return Result{Text: text} }

// JSON returns a good result whose text is the value as JSON.
func JSON(value any) (Result, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return Result{}, fmt.Errorf("encoding result: %w", err)
	}
	return Result{Text: string(text)}, nil
}
