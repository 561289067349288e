package messages

import (
	"encoding/json"
	"fmt"
	"maps"
)

// Schema names the layout of a stored session. Another schema is refused and left untouched.
const Schema = "agentd.session/1"

// SessionStatus says whether a turn runs in a session.
type SessionStatus string

// The states of a session.
const (
	SessionIdle    SessionStatus = "idle"
	SessionRunning SessionStatus = "running"
)

// Head is everything about a session but its items: what a listing shows, and the
// first line of a snapshot.
type Head struct {
	Schema    string        `json:"schema"`
	ID        SessionID     `json:"id"`
	AgentID   AgentID       `json:"agent-id"`
	Status    SessionStatus `json:"status"`
	CreatedAt int64         `json:"created-at"`
	UpdatedAt int64         `json:"updated-at"`
	// ItemCount is the number of items in the stream.
	ItemCount int `json:"item-count"`
	// TurnCount is the number of turns that were ever started.
	TurnCount int `json:"turn-count,omitempty"`
	// LastSeq is the number of the last change that is contained.
	LastSeq uint64 `json:"last-seq"`
	// Epoch counts the writers that the session has had.
	Epoch uint64 `json:"epoch"`
	// Turn is the last turn, nil before the first one. It is running exactly when Status is.
	Turn *Turn `json:"turn,omitempty"`
	// Data is the agent-owned state.
	Data map[string]json.RawMessage `json:"data,omitempty"`
}

// Clone returns a head that shares nothing that can change.
func (h Head) Clone() Head {
	h.Data = maps.Clone(h.Data)
	if h.Turn != nil {
		turn := *h.Turn
		h.Turn = &turn
	}
	return h
}

// Interrupted returns the head as it is when no process runs its turn: what a crash left running is interrupted, whether that is recorded yet or not.
func (h Head) Interrupted() Head {
	if h.Status != SessionRunning {
		return h
	}
	h.Status = SessionIdle
	if h.Turn != nil {
		turn := *h.Turn
		turn.Status, turn.Error = TurnInterrupted, ErrorInterrupted
		h.Turn = &turn
	}
	return h
}

// Document is a whole session: its head and its items, in order. It is the pure
// projection of the session's changes. It is not safe for concurrent change.
type Document struct {
	Head Head
	// Items are not changed in place: an update puts another item there, so that who holds the old one keeps it as it was. Whoever builds a document
	// without Apply adds to their end, and does nothing else to them.
	Items []*Item

	// index finds an item by its id, and turns the first item of a turn. They learn of new items when they are asked.
	index, turns placeIndex
}

// Clone returns a document of its own: its items are copies.
func (d *Document) Clone() *Document {
	clone := &Document{Head: d.Head.Clone()}
	if d.Items == nil {
		return clone
	}
	whole := make([]Item, len(d.Items)) // One piece of memory for all.
	clone.Items = make([]*Item, len(d.Items))
	for i, item := range d.Items {
		whole[i] = *item
		clone.Items[i] = &whole[i]
	}
	return clone
}

// NewDocument returns the empty document that the first change is applied to.
func NewDocument(id SessionID) *Document {
	return &Document{Head: Head{Schema: Schema, ID: id, Status: SessionIdle}}
}

// Find returns the place of an item, or false.
func (d *Document) Find(id ItemID) (int, bool) {
	return d.index.find(d.Items, string(id), itemID)
}

// HasTurn reports whether there is an item of a turn.
func (d *Document) HasTurn(id TurnID) bool {
	_, found := d.turns.find(d.Items, string(id), turnID)
	return found
}

// Apply adds one change, and takes its item or its turn over, which gets the change's number. Changes come in the order of their numbers, without a gap.
// The error says what does not fit, and the document is then unchanged.
func (d *Document) Apply(seq uint64, at int64, change Change) error {
	if seq != d.Head.LastSeq+1 {
		return fmt.Errorf("session %q: change %d does not follow %d", d.Head.ID, seq, d.Head.LastSeq)
	}
	switch c := change.(type) {
	case ItemAppended:
		if _, found := d.Find(c.Item.ID); found {
			return fmt.Errorf("session %q: change %d appends item %q, which is there already", d.Head.ID, seq, c.Item.ID)
		}
		c.Item.Seq = seq
		d.Items = append(d.Items, c.Item)
		d.index.see(d.Items, itemID) // Now, while the item is at hand.
		d.turns.see(d.Items, turnID)
	case ItemUpdated:
		i, found := d.Find(c.Item.ID)
		if !found {
			return fmt.Errorf("session %q: change %d updates item %q, which is not there", d.Head.ID, seq, c.Item.ID)
		}
		c.Item.Seq = seq
		if d.Items[i].TurnID != c.Item.TurnID {
			d.turns = placeIndex{} // The item may have been the first of its turn.
		}
		d.Items[i] = c.Item
	case Created, Opened, DataSet, TurnStarted, TurnEnded, Deleted:
	}
	d.Head.Apply(seq, at, change)
	return nil
}

// Apply adds one change to the head alone, for those who do not hold the items, and takes a turn over.
func (h *Head) Apply(seq uint64, at int64, change Change) {
	h.LastSeq, h.UpdatedAt = seq, at
	switch c := change.(type) {
	case Created:
		h.AgentID, h.Epoch, h.CreatedAt = c.AgentID, c.Epoch, at
		h.Data = maps.Clone(c.Data)
	case Opened:
		h.Epoch = c.Epoch
	case ItemAppended:
		h.ItemCount++
	case DataSet:
		h.setData(c)
	case TurnStarted:
		c.Turn.Seq = seq
		h.Turn, h.Status = c.Turn, SessionRunning
		h.TurnCount++
	case TurnEnded:
		c.Turn.Seq = seq
		h.Turn, h.Status = c.Turn, SessionIdle
	case ItemUpdated, Deleted:
	}
}

func (h *Head) setData(c DataSet) {
	if c.Value == nil {
		delete(h.Data, c.Key)
		return
	}
	if h.Data == nil {
		h.Data = make(map[string]json.RawMessage, 1)
	}
	h.Data[c.Key] = c.Value
}
