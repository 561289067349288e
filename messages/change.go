package messages

import (
	"encoding/json"
	"fmt"
)

// Change is one thing that happened to a session, as it is journalled. The set is
// closed: every Change is one of the types in this file.
//
//sumtype:decl
type Change interface {
	// Kind is the name under which the change is stored.
	Kind() ChangeKind
	change()
}

// ChangeKind is the stored name of a [Change].
type ChangeKind string

// The kinds of changes.
const (
	KindCreated     ChangeKind = "created"
	KindOpened      ChangeKind = "opened"
	KindItem        ChangeKind = "item"
	KindItemUpdated ChangeKind = "item-updated"
	KindData        ChangeKind = "data"
	KindTurnStarted ChangeKind = "turn-started"
	KindTurnEnded   ChangeKind = "turn-ended"
	KindDeleted     ChangeKind = "deleted"
)

type (
	// Created is the first change of every session. It opens epoch 1.
	Created struct {
		AgentID AgentID `json:"agent-id"`
		Epoch   uint64  `json:"epoch"`
		// Data is the agent-owned state that the session starts with.
		Data map[string]json.RawMessage `json:"data,omitempty"`
	}

	// Opened says that a writer took the session over. It is the first change that each
	// later writer appends.
	Opened struct {
		Epoch uint64 `json:"epoch"`
	}

	// ItemAppended adds an item at the end of the stream. The item is not changed any more.
	ItemAppended struct{ *Item }

	// ItemUpdated replaces the item of the same id, in its place. Item is the whole
	// merged item, so that applying it twice changes nothing. It is not changed any more.
	ItemUpdated struct{ *Item }

	// DataSet sets one key of the agent-owned state. A nil Value removes the key.
	DataSet struct {
		Key   string          `json:"key"`
		Value json.RawMessage `json:"value,omitempty"`
	}

	// TurnStarted says that a turn began to run. The turn is not changed any more.
	TurnStarted struct{ *Turn }

	// TurnEnded says how a turn ended. Turn.Status is terminal. The turn is not changed any more.
	TurnEnded struct{ *Turn }

	// Deleted is the last change of a session: its tombstone.
	Deleted struct{}
)

// Kind implements [Change].
func (Created) Kind() ChangeKind { return KindCreated }

// Kind implements [Change].
func (Opened) Kind() ChangeKind { return KindOpened }

// Kind implements [Change].
func (ItemAppended) Kind() ChangeKind { return KindItem }

// Kind implements [Change].
func (ItemUpdated) Kind() ChangeKind { return KindItemUpdated }

// Kind implements [Change].
func (DataSet) Kind() ChangeKind { return KindData }

// Kind implements [Change].
func (TurnStarted) Kind() ChangeKind { return KindTurnStarted }

// Kind implements [Change].
func (TurnEnded) Kind() ChangeKind { return KindTurnEnded }

// Kind implements [Change].
func (Deleted) Kind() ChangeKind { return KindDeleted }

func (Created) change()      {}
func (Opened) change()       {}
func (ItemAppended) change() {}
func (ItemUpdated) change()  {}
func (DataSet) change()      {}
func (TurnStarted) change()  {}
func (TurnEnded) change()    {}
func (Deleted) change()      {}

// Record is a change as it is stored: numbered, dated and encoded.
type Record struct {
	// Seq is the number of the change in its session, from 1, without gaps.
	Seq uint64 `json:"seq"`
	// Kind names the type of the body.
	Kind ChangeKind `json:"kind"`
	// At is when it happened, in Unix seconds.
	At int64 `json:"at"`
	// Body is one JSON object without line breaks.
	Body json.RawMessage `json:"body"`
}

// EncodeChange makes the record of a change.
func EncodeChange(seq uint64, at int64, change Change) (Record, error) {
	body, err := AppendBody(make([]byte, 0, BodySize(change)), change)
	if err != nil {
		return Record{}, fmt.Errorf("change %d: %w", seq, err)
	}
	return Record{Seq: seq, Kind: change.Kind(), At: at, Body: body}, nil
}

// DecodeRecord gives the change of a record. Unknown fields are ignored; an unknown kind is an
// [*UnknownKindError], since skipping it would be a guess.
func DecodeRecord(rec Record) (Change, error) {
	switch rec.Kind {
	case KindCreated:
		return decode(rec, func(v *Created) Change { return *v })
	case KindOpened:
		return decode(rec, func(v *Opened) Change { return *v })
	case KindItem:
		return decode(rec, func(v *Item) Change { return ItemAppended{Item: v} })
	case KindItemUpdated:
		return decode(rec, func(v *Item) Change { return ItemUpdated{Item: v} })
	case KindData:
		return decode(rec, func(v *DataSet) Change { return *v })
	case KindTurnStarted:
		return decode(rec, func(v *Turn) Change { return TurnStarted{Turn: v} })
	case KindTurnEnded:
		return decode(rec, func(v *Turn) Change { return TurnEnded{Turn: v} })
	case KindDeleted:
		return decode(rec, func(v *Deleted) Change { return *v })
	default:
		return nil, &UnknownKindError{Seq: rec.Seq, Kind: rec.Kind}
	}
}

func decode[T any](rec Record, wrap func(*T) Change) (Change, error) {
	value := new(T)
	if err := json.Unmarshal(rec.Body, value); err != nil {
		return nil, fmt.Errorf("decoding change %d (%s): %w", rec.Seq, rec.Kind, err)
	}
	return wrap(value), nil
}

// UnknownKindError means that a record was written by a newer version.
type UnknownKindError struct {
	Seq  uint64
	Kind ChangeKind
}

// Error implements error.
func (e *UnknownKindError) Error() string {
	return fmt.Sprintf("change %d has the unknown kind %q: it was written by a newer version", e.Seq, string(e.Kind))
}
