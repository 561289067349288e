package presets

import (
	"context"
	"encoding/json"

	"agentd/messages"
)

// StepKind says how far a call has come.
type StepKind string

// The steps of a call, in their order. A call that needs no person has no StepRequested, one of normal risk no
// StepDecided either. One that is refused, and one of the request tool, has no StepStarted. Every call has one StepFinished, also
// one of an unknown tool, whose ToolID is then empty.
const (
	// StepRequested says that the call waits for a person. Step.Request is set. It comes again if the question gets a new id.
	StepRequested StepKind = "requested"
	// StepDecided says how it was decided. Step.Decision is set.
	StepDecided StepKind = "decided"
	// StepStarted says that the tool is about to run: effects are possible from here on.
	StepStarted StepKind = "started"
	// StepFinished says what came of it. Step.Result is set.
	StepFinished StepKind = "finished"
)

// Step is one event in the life of a call.
type Step struct {
	Kind   StepKind
	Caller Caller
	CallID messages.CallID
	// ToolID, Name and Risk say which tool.
	ToolID string
	Name   string
	Risk   messages.Risk
	// Idempotent says that the tool may be run again if its end is not seen.
	Idempotent bool
	// Arguments is the text as the model wrote it, Fingerprint the identity of the exact call. Both are empty when
	// the arguments could not be read.
	Arguments   json.RawMessage
	Fingerprint string
	// Request is set in StepRequested.
	Request *Request
	// Decision is set in StepDecided.
	Decision *Decision
	// Result is set in StepFinished.
	Result *Result
}

// Recorder keeps the steps of a call, so that they are items of its session.
type Recorder interface {
	// Record returns when the step is durable. An error stops the call: after it nothing further runs, and [Surface.Call] returns it. It
	// is called on the goroutine of the call, one step at a time. StepFinished comes with a context that does not
	// end with the call's, so the recorder bounds its own wait.
	Record(ctx context.Context, step Step) error
}

// RecorderFunc is a function that is a [Recorder].
type RecorderFunc func(ctx context.Context, step Step) error

// Record implements [Recorder].
func (f RecorderFunc) Record(ctx context.Context, step Step) error { return f(ctx, step) }
