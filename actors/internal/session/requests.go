package session

import (
	"encoding/json"
	"slices"

	"agentd/messages"
)

// Types of the event items that tell of approvals. Their data is a JSON object with a "request-id", and a "call-id" if one call
// waits. A request is closed by the session when its call, or the process, ends before a decision.
const (
	EventApprovalRequested = "approval-requested"
	EventApprovalDecided   = "approval-decided"
)

// request is an approval request that has no decision.
type request struct {
	id   messages.RequestID
	call messages.CallID
	item messages.ItemID
}

// approval is what the session reads of a request, and writes as the decision that closes it. The
// spelling is that of the decisions of package presets.
type approval struct {
	Outcome     string             `json:"outcome,omitempty"`
	Via         string             `json:"via,omitempty"`
	Request     messages.RequestID `json:"request-id,omitempty"`
	Session     messages.SessionID `json:"session-id,omitempty"`
	Turn        messages.TurnID    `json:"turn-id,omitempty"`
	Agent       messages.AgentID   `json:"agent-id,omitempty"`
	Call        messages.CallID    `json:"call-id,omitempty"`
	Tool        string             `json:"tool-id,omitempty"`
	Name        string             `json:"name,omitempty"`
	Risk        messages.Risk      `json:"risk,omitempty"`
	Fingerprint string             `json:"fingerprint,omitempty"`
	Who         string             `json:"who,omitempty"`
	Reason      string             `json:"reason,omitempty"`
	At          int64              `json:"at,omitempty"`
}

// maxApprovalText is the longest field that a decision repeats from its request. What is longer is left out.
const maxApprovalText = 1 << 10

// readApproval reads the data of an event item. What is not a request has no id.
func readApproval(item *messages.Item) approval {
	var a approval
	if json.Unmarshal(item.Data, &a) != nil || len(a.Request) > messages.MaxIDBytes {
		return approval{}
	}
	for _, field := range []*string{
		(*string)(&a.Session), (*string)(&a.Turn), (*string)(&a.Agent), (*string)(&a.Call), &a.Tool, &a.Name, (*string)(&a.Risk), &a.Fingerprint,
	} {
		if len(*field) > maxApprovalText {
			*field = ""
		}
	}
	return a
}

// trackRequest keeps the list of requests that have no decision.
func (t *turn) trackRequest(item *messages.Item) {
	switch item.EventType {
	case EventApprovalRequested:
		if a := readApproval(item); a.Request != "" {
			t.requests = append(t.requests, request{id: a.Request, call: a.Call, item: item.ID})
		}
	case EventApprovalDecided:
		id := readApproval(item).Request
		t.requests = slices.DeleteFunc(t.requests, func(r request) bool { return r.id == id })
	}
}

// closeRequests decides what is open when the turn ends: then its owner releases every approval that was asked for in it, also
// one that no call waits for, and when the process has gone no request is left that a person could decide.
func (s *State) closeRequests(t *turn) []messages.Change {
	changes := make([]messages.Change, 0, len(t.requests))
	outcome, reason := "cancelled", "the turn ended before a decision"
	if t.outcome.status == messages.TurnInterrupted {
		outcome, reason = "expired", "the process ended before a decision"
	}
	for _, r := range slices.Clone(t.requests) {
		changes = append(changes, s.closeRequest(t, r, outcome, reason))
	}
	return changes
}

func (s *State) closeRequest(t *turn, r request, outcome, reason string) messages.Change {
	asked := s.newest(r.item)
	a := readApproval(asked)
	a.Outcome, a.Via, a.Who, a.Reason, a.At = outcome, "system", "system", reason, s.now
	data, err := json.Marshal(a)
	if err != nil {
		data = []byte(`{}`) // Text and numbers always encode.
	}
	return s.putWhole(t, &messages.Item{
		ID: s.freshID("itm-decision-", string(r.item)), Type: messages.ItemEvent, EventType: EventApprovalDecided,
		Data: data, ParentID: asked.ParentID,
	})
}
