package opencode

import (
	"time"

	"github.com/tidwall/gjson"
)

// PartType says what a [Part] is. There are more than the ones named here, and there will be new ones.
type PartType string

// The types of parts that carry a turn.
const (
	TextPart       PartType = "text"
	ReasoningPart  PartType = "reasoning"
	ToolPart       PartType = "tool"
	StepStartPart  PartType = "step-start"
	StepFinishPart PartType = "step-finish"
	FilePart       PartType = "file"
	RetryPart      PartType = "retry"
)

// Part is a piece of a message. Fields that its type does not have are zero; Raw has everything, whatever the type.
type Part struct {
	ID, MessageID, SessionID string
	Type                     PartType
	// Text is that of a text or reasoning part.
	Text string
	// Synthetic text was put in by the server.
	Synthetic bool
	// Tool is the called tool, CallID the model's id of the call and State how it stands, for a tool part.
	Tool, CallID string
	State        ToolState
	// Reason, Tokens and Cost belong to a step-finish part.
	Reason string
	Tokens Tokens
	Cost   float64
	// Start and End are when text or reasoning came; End is zero while it is coming.
	Start, End time.Time
	// Raw is the part as it came.
	Raw string
}

// ToolStatus is how a tool call stands.
type ToolStatus string

// The statuses of a tool call. The last two are final.
const (
	ToolPending   ToolStatus = "pending"
	ToolRunning   ToolStatus = "running"
	ToolCompleted ToolStatus = "completed"
	ToolError     ToolStatus = "error"
)

// ToolState is how a tool call stands.
type ToolState struct {
	Status ToolStatus
	// Input are the arguments, a JSON object; it is empty while they are coming.
	Input string
	// Output is the result of a completed call, Error that of a failed one.
	Output, Error string
	Title         string
	// Metadata is the tool's own JSON; it may be empty.
	Metadata   string
	Start, End time.Time
}

// Done says that the call has its result.
func (s ToolState) Done() bool { return s.Status == ToolCompleted || s.Status == ToolError }

func decodePart(doc gjson.Result) Part {
	p := Part{
		ID: doc.Get("id").String(), MessageID: doc.Get("messageID").String(), SessionID: doc.Get("sessionID").String(),
		Type: PartType(doc.Get("type").String()), Raw: doc.Raw,
	}
	switch p.Type {
	case TextPart, ReasoningPart:
		p.Text, p.Synthetic = doc.Get("text").String(), doc.Get("synthetic").Bool()
		p.Start, p.End = millis(doc.Get("time.start")), millis(doc.Get("time.end"))
	case ToolPart:
		p.Tool, p.CallID, p.State = doc.Get("tool").String(), doc.Get("callID").String(), decodeToolState(doc.Get("state"))
		p.Start, p.End = p.State.Start, p.State.End
	case StepFinishPart:
		p.Reason, p.Cost, p.Tokens = doc.Get("reason").String(), doc.Get("cost").Float(), decodeTokens(doc.Get("tokens"))
	case StepStartPart, FilePart, RetryPart:
	}
	return p
}

func decodeToolState(doc gjson.Result) ToolState {
	return ToolState{
		Status: ToolStatus(doc.Get("status").String()), Input: doc.Get("input").Raw,
		Output: doc.Get("output").String(), Error: doc.Get("error").String(),
		Title: doc.Get("title").String(), Metadata: doc.Get("metadata").Raw,
		Start: millis(doc.Get("time.start")), End: millis(doc.Get("time.end")),
	}
}
