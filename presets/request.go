package presets

import "agentd/messages"

// AskMode says what to do when a person has to decide.
type AskMode string

// The modes.
const (
	// AskWait opens or joins a request and waits for the decision. It is the zero value.
	AskWait AskMode = ""
	// AskLater opens or joins a request, does not wait, and returns [OutcomePending] with the request's id.
	AskLater AskMode = "later"
	// AskTry opens nothing and returns [OutcomePending] without an id.
	AskTry AskMode = "try"
)

// Ask is what [Approvals.Request] is asked.
type Ask struct {
	Caller
	// CallID is the call that the decision will be bound to. Required.
	CallID messages.CallID
	// ToolID, Name and Risk say which tool.
	ToolID string
	Name   string
	Risk   messages.Risk
	// Reason is why it is wanted, cleaned and cut.
	Reason string
	// Fingerprint is the identity of the exact call, Preview its arguments for a person: redacted and cut.
	Fingerprint string
	Preview     string
	// Mode says whether to wait.
	Mode AskMode
	// Ahead asks for a later identical call of the same session instead of this one. Approved once, exactly one such
	// call may run; nothing is used up now.
	Ahead bool
	// OnPending is called on the calling goroutine when a person has to decide, before the wait, and again if the question
	// gets a new id, because an identical call took the decision. If it returns an error, the waiter leaves and
	// Request returns that error. Nil is fine.
	OnPending func(request Request) error
}

// Request is an open question to a person. It is a value; Waiting and CallIDs are those of the moment when it was taken.
type Request struct {
	ID messages.RequestID `json:"id"`
	Caller
	// CallID is the call that an approval once will let run: the oldest that waits, or the one that asked ahead.
	CallID      messages.CallID `json:"call-id"`
	ToolID      string          `json:"tool-id"`
	Name        string          `json:"name"`
	Risk        messages.Risk   `json:"risk"`
	Reason      string          `json:"reason"`
	Fingerprint string          `json:"fingerprint"`
	Preview     string          `json:"preview"`
	// Waiting is how many identical calls wait. Approving once lets one of them run and asks anew for the others.
	Waiting int `json:"waiting"`
	// Ahead says that it was (also) asked for a later call.
	Ahead bool `json:"ahead,omitempty"`
	// CreatedAt and ExpiresAt are Unix seconds; zero ExpiresAt means no limit.
	CreatedAt int64 `json:"created-at"`
	ExpiresAt int64 `json:"expires-at,omitempty"`
}
