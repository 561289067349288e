package presets

import "agentd/messages"

// Outcome is how a request was resolved.
type Outcome string

// The outcomes.
const (
	OutcomeApproved Outcome = "approved"
	OutcomeDenied   Outcome = "denied"
	// OutcomeCancelled means that whoever asked has gone.
	OutcomeCancelled Outcome = "cancelled"
	// OutcomeExpired means that nobody decided in time.
	OutcomeExpired Outcome = "expired"
	// OutcomePending means that a person still has to decide. It is no decision and covers nothing.
	OutcomePending Outcome = "pending"
)

// Via says by what something was decided.
type Via string

// The sources of decisions.
const (
	// ViaNormal is the rule that normal risk needs nobody.
	ViaNormal Via = "normal"
	// ViaPolicy is the policy.
	ViaPolicy Via = "policy"
	// ViaOnce is a person, for one call.
	ViaOnce Via = "once"
	// ViaAlways is a person, who left a grant.
	ViaAlways Via = "always"
	// ViaGrant is a grant that stood already.
	ViaGrant Via = "grant"
	// ViaPerson is a person's denial.
	ViaPerson Via = "person"
	// ViaSystem is a cancel, an expiry or a stop.
	ViaSystem Via = "system"
)

// Verb is what a person says.
type Verb string

// The verbs.
const (
	ApproveOnce   Verb = "approve-once"
	ApproveAlways Verb = "approve-always"
	Deny          Verb = "deny"
)

// Answer is a person's word on a request.
type Answer struct {
	Verb Verb
	// Who says it, for the audit: a user or console name.
	Who string
	// Reason is the person's own, may be empty; an agent is told it.
	Reason string
	// Scope and ExpiresAt (Unix seconds, zero is never) bound the grant of ApproveAlways. The other verbs ignore them.
	Scope     Scope
	ExpiresAt int64
}

// Decision is an audit value: what was decided about exactly one call, by whom, why and when.
type Decision struct {
	Outcome   Outcome            `json:"outcome"`
	Via       Via                `json:"via,omitempty"`
	RequestID messages.RequestID `json:"request-id,omitempty"`
	GrantID   GrantID            `json:"grant-id,omitempty"`
	Caller
	CallID      messages.CallID `json:"call-id"`
	ToolID      string          `json:"tool-id"`
	Name        string          `json:"name"`
	Risk        messages.Risk   `json:"risk"`
	Fingerprint string          `json:"fingerprint"`
	// Who decided: a person's name, "policy" or "system".
	Who string `json:"who,omitempty"`
	// Asked is the reason that the agent gave, Reason the one of who decided.
	Asked  string `json:"asked,omitempty"`
	Reason string `json:"reason,omitempty"`
	// At is when, in Unix seconds.
	At int64 `json:"at"`
}

// Covers reports whether the decision lets exactly this call run.
func (d Decision) Covers(ask Ask) bool {
	return d.Outcome == OutcomeApproved && !ask.Ahead &&
		d.CallID == ask.CallID && d.ToolID == ask.ToolID && d.Risk == ask.Risk &&
		d.Fingerprint == ask.Fingerprint && d.SessionID == ask.SessionID && d.AgentID == ask.AgentID
}
