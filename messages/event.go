package messages

// EventKind says what a subscriber is told.
type EventKind string

// The kinds of events.
const (
	// EventItem tells of a new durable item.
	EventItem EventKind = "item"
	// EventItemUpdated tells of a durable change to an item.
	EventItemUpdated EventKind = "item-updated"
	// EventDraft tells of a draft's present text. It has no sequence number and may be dropped
	// when a later state of the same item is on its way.
	EventDraft EventKind = "draft"
	// EventData tells of a change to the agent-owned state.
	EventData EventKind = "data"
	// EventTurnStarted tells that a turn runs.
	EventTurnStarted EventKind = "turn-started"
	// EventTurnCancelling tells that a cancel is being carried out. It has no sequence number.
	EventTurnCancelling EventKind = "turn-cancelling"
	// EventTurnEnded tells how a turn ended.
	EventTurnEnded EventKind = "turn-ended"
	// EventDeleted tells that the session is gone. It is the last event.
	EventDeleted EventKind = "deleted"
)

// Event is one thing that a subscriber of a session is told. Durable events carry
// the sequence number of their change, which grows from event to event; a
// subscriber that was cut off resumes behind the last number it saw.
type Event struct {
	Session SessionID `json:"session"`
	// Seq is the number of the durable change, or 0 for what is not stored.
	Seq  uint64    `json:"seq,omitempty"`
	Kind EventKind `json:"kind"`
	// Item is set for items and drafts.
	Item *Item `json:"item,omitempty"`
	// Turn is set for events of turns.
	Turn *Turn `json:"turn,omitempty"`
	// Key is the changed key of the agent-owned state.
	Key string `json:"key,omitempty"`
}
