package session

import (
	"strings"
	"unicode/utf8"

	"agentd/messages"
)

// DefaultQueueLimit is how many prompts may wait behind the active turn.
const DefaultQueueLimit = 16

// Limits on what a session takes on. What is over one is refused, so that an append to the store is never too large for it.
const (
	// MaxDataBytes is the largest value of one key of the agent-owned state.
	MaxDataBytes = 1 << 20
	// MaxDataTotalBytes is the most that the stored keys and values may hold together when another one is set. Every listing reads them.
	MaxDataTotalBytes = 4 << 20
	// MaxBatchItems is the most items of one [Record] or [Finish].
	MaxBatchItems = 1000
	// MaxBatchBytes is the most text of one [Record] or [Finish]. It is also what one commit holds, unless a single change is larger.
	MaxBatchBytes = 4 * messages.MaxItemBytes
	// MaxResultBytes is the longest result of a turn.
	MaxResultBytes = 1 << 20
	// MaxErrorBytes is the longest error of a turn. A longer one is cut, since a failure is never refused.
	MaxErrorBytes = 16 << 10
)

// Limits bound what a session takes on.
type Limits struct {
	// Queue is the most prompts that wait. 0 means [DefaultQueueLimit].
	Queue int
}

// valid returns text as JSON can carry it, so that what is stored is what is held here.
func valid[T ~string](text T) T {
	if utf8.ValidString(string(text)) {
		return text
	}
	return T(strings.ToValidUTF8(string(text), "\uFFFD"))
}

// explain makes the error text of a turn from what may come from anywhere.
func explain(text string) string {
	const note = " … (cut)"
	text = valid(text)
	if len(text) <= MaxErrorBytes {
		return text
	}
	end := MaxErrorBytes - len(note)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + note
}

// clean makes an item one that an agent may give: its text can be stored, and what the session itself
// sets is not set.
func clean(item *messages.Item) {
	item.Seq, item.TurnID, item.UpdatedAt = 0, "", 0
	item.Content, item.Arguments, item.Output, item.Error = valid(item.Content), valid(item.Arguments), valid(item.Output), valid(item.Error)
	item.Type, item.Role, item.Name, item.EventType = valid(item.Type), valid(item.Role), valid(item.Name), valid(item.EventType)
	item.Status, item.StreamStatus, item.ParentID = valid(item.Status), valid(item.StreamStatus), valid(item.ParentID)
	item.Provider, item.Model = valid(item.Provider), valid(item.Model)
	if len(item.Data) == 0 {
		item.Data = nil
	}
}
