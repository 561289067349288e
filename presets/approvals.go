package presets

import (
	"context"

	"agentd/messages"
)

// Approvals is where people decide. An actor implements it; every method may be called by several goroutines, and
// waits no longer than its context.
type Approvals interface {
	// Check says what would come of a call now. It neither waits nor uses anything up.
	Check(ctx context.Context, query Query) (Verdict, error)
	// Standing returns in one answer what listing the tools for a caller needs.
	Standing(ctx context.Context, caller Caller) (Standing, error)
	// Request gets a decision for one call. Policy and grants answer at once; else a person is asked, and
	// ask.Mode says whether to wait for the answer. The decision is bound to ask.CallID and ask.Fingerprint. Requests
	// that are identical (same session, same fingerprint) are shown to the person as one.
	// When the context ends, the waiter leaves and the error wraps context.Cause; a request that no call
	// waits for and that nobody asked for ahead is then resolved as cancelled.
	Request(ctx context.Context, ask Ask) (Decision, error)
	// Decide answers a request. It returns once a grant is durable. A request that is decided already, or never was, is [ErrUnknownRequest].
	Decide(ctx context.Context, id messages.RequestID, answer Answer) error
	// Pending returns the open requests, the oldest first.
	Pending(ctx context.Context) ([]Request, error)
	// Grants returns the standing grants, the oldest first.
	Grants(ctx context.Context) ([]Grant, error)
	// Revoke ends a grant. No call uses it from now on; it returns once that is durable. An unknown one is [ErrUnknownGrant].
	Revoke(ctx context.Context, id GrantID) error
	// Release resolves as cancelled whatever was asked on behalf of the caller and is still open, and forgets what was
	// approved ahead but not used. An empty TurnID means every turn of the session.
	Release(ctx context.Context, caller Caller) error
}

// Query names one call that might be made.
type Query struct {
	Caller
	ToolID      string
	Risk        messages.Risk
	Fingerprint string
}

// State is what [Approvals.Check] says.
type State string

// The states.
const (
	StateApproved      State = "approved"
	StateDenied        State = "denied"
	StateNeedsApproval State = "needs-approval"
)

// Verdict is the answer of [Approvals.Check].
type Verdict struct {
	State State
	// Via says by what it is approved or denied.
	Via Via
	// GrantID is set when a grant approves it.
	GrantID GrantID
	// RequestID is set when an identical request is open.
	RequestID messages.RequestID
}

// Standing is what stands for one caller at one moment. It is not to be changed.
type Standing struct {
	// Policy is the present policy.
	Policy Policy
	// Tools are the ids of the tools for which the caller holds a grant or an unused approval, for whatever arguments.
	Tools map[string]bool
}

// Usable reports whether some call of the tool would run without asking.
func (s Standing) Usable(toolID string, risk messages.Risk) bool {
	switch s.Policy.Rule(risk) {
	case RuleAuto:
		return true
	case RuleAsk:
		return s.Tools[toolID]
	default:
		return false
	}
}
