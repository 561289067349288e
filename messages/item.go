package messages

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Limits on what one item or one input may hold.
const (
	// MaxInputBytes is the longest user input of a turn, in bytes.
	MaxInputBytes = 1 << 20
	// MaxItemBytes is the largest item, in bytes of its text fields together.
	MaxItemBytes = 4 << 20
)

// ItemType says what an item is. Any non-empty type is stored, so that newer
// writers do not lose history to older readers; these are the known ones.
type ItemType string

// The known item types.
const (
	ItemMessage    ItemType = "message"
	ItemReasoning  ItemType = "reasoning"
	ItemToolCall   ItemType = "tool-call"
	ItemToolResult ItemType = "tool-result"
	ItemEvent      ItemType = "event"
	ItemError      ItemType = "error"
)

// Role says who speaks in a message.
type Role string

// The roles of messages.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system"
)

// StreamStatus says whether an item is still growing.
type StreamStatus string

// The stream states. An item without one is complete.
const (
	// StreamStreaming marks a draft: it may still change and is stored coalesced.
	StreamStreaming StreamStatus = "streaming"
	// StreamComplete marks the final text.
	StreamComplete StreamStatus = "complete"
	// StreamInterrupted marks a draft whose turn ended before its final text came.
	StreamInterrupted StreamStatus = "interrupted"
)

// CallStatus says how far a tool call came.
type CallStatus string

// The states of a tool call.
const (
	// CallPending means asked for but not started; it may wait for an approval.
	CallPending CallStatus = "pending"
	// CallRunning means started: effects are possible.
	CallRunning CallStatus = "running"
	// CallCompleted means that the tool answered.
	CallCompleted CallStatus = "completed"
	// CallFailed means that the tool answered with an error.
	CallFailed CallStatus = "failed"
	// CallDenied means that a person or the policy refused it; it never ran.
	CallDenied CallStatus = "denied"
	// CallCancelled means that its turn ended before it started; it never ran.
	CallCancelled CallStatus = "cancelled"
	// CallInterrupted means that its turn ended while it ran; its effects are unknown.
	CallInterrupted CallStatus = "interrupted"
)

// Usage is what a model call cost, in tokens.
type Usage struct {
	InputTokens     int64 `json:"input-tokens"`
	OutputTokens    int64 `json:"output-tokens"`
	ReasoningTokens int64 `json:"reasoning-tokens,omitempty"`
	CacheReadTokens int64 `json:"cache-read-tokens,omitempty"`
}

// Item is one entry of a session's stream: a message, a piece of reasoning, a tool
// call or its result, an event, or an error. Which fields are set depends on Type.
type Item struct {
	// ID is unique in its session.
	ID ItemID `json:"id"`
	// Type says which of the other fields count.
	Type ItemType `json:"type"`
	// Role is the speaker of a message.
	Role Role `json:"role,omitempty"`
	// Content is the text of a message or of reasoning.
	Content string `json:"content,omitempty"`
	// Name is the tool's external name, in a tool-call or tool-result.
	Name string `json:"name,omitempty"`
	// Arguments is the JSON text of a tool-call's arguments.
	Arguments string `json:"arguments,omitempty"`
	// Output is the text of a tool-result.
	Output string `json:"output,omitempty"`
	// IsError marks a tool-result that reports a failure.
	IsError bool `json:"is-error,omitempty"`
	// CallID ties a tool-result to its tool-call.
	CallID CallID `json:"call-id,omitempty"`
	// Status is how far a tool-call came.
	Status CallStatus `json:"status,omitempty"`
	// Error is the text of an error item.
	Error string `json:"error,omitempty"`
	// EventType names what an event item reports.
	EventType string `json:"event-type,omitempty"`
	// Data is structured content of an event, one JSON value.
	Data json.RawMessage `json:"data,omitempty"`
	// StreamStatus says whether the item is a draft. Empty means complete.
	StreamStatus StreamStatus `json:"stream-status,omitempty"`
	// ParentID is the item that this one answers.
	ParentID ItemID `json:"parent-id,omitempty"`
	// TurnID is the turn that made the item.
	TurnID TurnID `json:"turn-id,omitempty"`
	// Provider and Model say who produced it.
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	// Usage is what it cost.
	Usage *Usage `json:"usage,omitempty"`
	// Seq is the sequence number of the item's last change. The session sets it.
	Seq uint64 `json:"seq,omitempty"`
	// CreatedAt and UpdatedAt are Unix seconds. The session sets them.
	CreatedAt int64 `json:"created-at"`
	UpdatedAt int64 `json:"updated-at,omitempty"`
}

// IsDraft reports whether the item is still growing.
func (it *Item) IsDraft() bool { return it.StreamStatus == StreamStreaming }

// Size is the number of bytes in the item's text fields, except its own id.
func (it *Item) Size() int {
	return len(it.Content) + len(it.Arguments) + len(it.Output) + len(it.Error) + len(it.Data) + len(it.Name) +
		len(it.Type) + len(it.Role) + len(it.CallID) + len(it.Status) + len(it.EventType) + len(it.StreamStatus) +
		len(it.ParentID) + len(it.TurnID) + len(it.Provider) + len(it.Model)
}

// Validate reports the first rule that the item breaks: a valid id, a type, a call
// id and a name on tool calls and results, sane JSON in Data, and at most
// [MaxItemBytes] of text.
func (it *Item) Validate() error {
	if err := it.ID.Validate(); err != nil {
		return err
	}
	if it.Type == "" {
		return fmt.Errorf("item %q has no type", it.ID)
	}
	if size := it.Size(); size > MaxItemBytes {
		return fmt.Errorf("item %q has %d bytes, the limit is %d: %w", it.ID, size, MaxItemBytes, ErrTooLarge)
	}
	if it.Type == ItemToolCall || it.Type == ItemToolResult {
		if err := it.CallID.Validate(); err != nil {
			return fmt.Errorf("%s item %q: %w", it.Type, it.ID, err)
		}
	}
	if len(it.Data) > 0 && !json.Valid(it.Data) {
		return fmt.Errorf("item %q: its data is not JSON", it.ID)
	}
	return nil
}

// Merge returns the item with every field that is set in next laid over it. The
// id, the type, the creation time and the place stay. It is the one rule for updates
// and upserts, in memory and on disk.
func (it Item) Merge(next Item) Item {
	overlay(&it.Role, next.Role)
	overlay(&it.Content, next.Content)
	overlay(&it.Name, next.Name)
	overlay(&it.Arguments, next.Arguments)
	overlay(&it.Output, next.Output)
	overlay(&it.IsError, next.IsError)
	overlay(&it.CallID, next.CallID)
	overlay(&it.Status, next.Status)
	overlay(&it.Error, next.Error)
	overlay(&it.EventType, next.EventType)
	overlay(&it.StreamStatus, next.StreamStatus)
	overlay(&it.ParentID, next.ParentID)
	overlay(&it.TurnID, next.TurnID)
	overlay(&it.Provider, next.Provider)
	overlay(&it.Model, next.Model)
	overlay(&it.Usage, next.Usage)
	overlay(&it.Seq, next.Seq)
	overlay(&it.UpdatedAt, next.UpdatedAt)
	if len(next.Data) > 0 {
		it.Data = next.Data
	}
	return it
}

func overlay[T comparable](field *T, next T) {
	var zero T
	if next != zero {
		*field = next
	}
}

// ValidateInput checks the text of a turn: not empty, valid UTF-8 is not required,
// at most [MaxInputBytes].
func ValidateInput(input string) error {
	if strings.TrimSpace(input) == "" {
		return errors.New("the input is empty: say what the agent should do")
	}
	if len(input) > MaxInputBytes {
		return fmt.Errorf("the input has %d bytes, the limit is %d: %w", len(input), MaxInputBytes, ErrTooLarge)
	}
	return nil
}
