package session

import (
	"fmt"

	"agentd/messages"
)

// MaxDataBytes is the largest value of one key of the agent-owned state.
const MaxDataBytes = 1 << 20

// UnknownItemError means that an item that should be updated is not there.
type UnknownItemError struct{ Item messages.ItemID }

// Error implements error.
func (e *UnknownItemError) Error() string {
	return fmt.Sprintf("there is no item %q to update", e.Item)
}

// DuplicateItemError means that an item that should be appended is there already.
type DuplicateItemError struct{ Item messages.ItemID }

// Error implements error.
func (e *DuplicateItemError) Error() string {
	return fmt.Sprintf("item %q is there already: update it instead", e.Item)
}

func (s *State) onAppend(m Append) {
	t := s.turnFor(m.Turn)
	if t == nil {
		s.reply(m.Ticket, nil, ErrTurnEnded)
		return
	}
	if err := m.Item.Validate(); err != nil {
		s.reply(m.Ticket, nil, err)
		return
	}
	if _, found := s.newest(m.Item.ID); found {
		s.reply(m.Ticket, nil, &DuplicateItemError{Item: m.Item.ID})
		return
	}
	s.stage(group{
		changes: []messages.Change{s.putWhole(t, m.Item)},
		then:    then{what: followItem, ticket: m.Ticket, item: m.Item.ID},
	})
	if m.Item.IsDraft() {
		t.drafts = append(t.drafts, &draft{item: s.pending[m.Item.ID].item})
	}
}

func (s *State) onUpsert(m Upsert) {
	t := s.turnFor(m.Turn)
	if t == nil {
		s.reply(m.Ticket, nil, ErrTurnEnded)
		return
	}
	_, found := s.newest(m.Item.ID)
	if m.MustExist && !found {
		s.reply(m.Ticket, nil, &UnknownItemError{Item: m.Item.ID})
		return
	}
	if err := s.merged(m.Item).Validate(); err != nil {
		s.reply(m.Ticket, nil, err)
		return
	}
	if m.Item.IsDraft() {
		s.putDraft(t, m)
		return
	}
	change := s.put(t, m.Item)
	s.stage(group{changes: []messages.Change{change}, then: then{what: followItem, ticket: m.Ticket, item: m.Item.ID}})
}

// putDraft takes a draft: subscribers see it at once; its first version is stored at once too, since it fixes
// the item's place, and later ones when the next tick comes.
func (s *State) putDraft(t *turn, m Upsert) {
	d := t.draft(m.Item.ID)
	if d == nil {
		d = &draft{}
		if old, found := s.newest(m.Item.ID); found {
			d.item, d.dirty = old.Merge(m.Item), true
			s.wake(false)
		} else {
			s.stage(group{changes: []messages.Change{s.putWhole(t, m.Item)}})
			d.item = s.pending[m.Item.ID].item
		}
		t.drafts = append(t.drafts, d)
	} else {
		d.item, d.dirty = d.item.Merge(m.Item), true
		d.item.UpdatedAt = s.now
		s.wake(false)
	}
	item := d.item
	if s.watched {
		s.emit(Publish{Event: messages.Event{Session: s.doc.Head.ID, Kind: messages.EventDraft, Item: &item}})
	}
	s.reply(m.Ticket, item, nil)
}

// storeDrafts stages every draft whose newest text is not on its way.
func (s *State) storeDrafts(t *turn) {
	var changes []messages.Change
	for _, d := range t.drafts {
		if d.dirty {
			d.dirty = false
			changes = append(changes, s.putWhole(t, d.item))
		}
	}
	if changes != nil {
		s.stage(group{changes: changes})
	}
}

func (s *State) onTick() {
	s.woken = false
	if s.active != nil && s.active.accepts() {
		s.storeDrafts(s.active)
	}
	s.repay()
}

// wake asks for a tick. One that retries what failed comes later and later.
func (s *State) wake(retry bool) {
	if !s.woken {
		s.woken = true
		s.emit(Wake{Retry: retry})
	}
}

func (s *State) onSetData(m SetData) {
	switch {
	case m.Turn != "" && s.turnFor(m.Turn) == nil:
		s.reply(m.Ticket, nil, ErrTurnEnded)
	case m.Key == "" || len(m.Key) > messages.MaxIDBytes:
		s.reply(m.Ticket, nil, fmt.Errorf("data key of %d bytes: use 1 to %d", len(m.Key), messages.MaxIDBytes))
	case len(m.Value) > MaxDataBytes:
		s.reply(m.Ticket, nil, fmt.Errorf("data %q of %d bytes, the limit is %d: %w", m.Key, len(m.Value), MaxDataBytes, messages.ErrTooLarge))
	default:
		s.stage(group{
			changes: []messages.Change{messages.DataSet{Key: m.Key, Value: m.Value}},
			then:    then{what: followReply, ticket: m.Ticket},
		})
	}
}

// newest returns the newest version of an item, stored or on its way.
func (s *State) newest(id messages.ItemID) (messages.Item, bool) {
	if p, ok := s.pending[id]; ok {
		return p.item, true
	}
	if i, ok := s.doc.Find(id); ok {
		return s.doc.Items[i], true
	}
	return messages.Item{}, false
}

// merged returns the item as it would be after an upsert.
func (s *State) merged(item messages.Item) *messages.Item {
	if s.active != nil {
		if d := s.active.draft(item.ID); d != nil {
			whole := d.item.Merge(item)
			return &whole
		}
	}
	if old, found := s.newest(item.ID); found {
		whole := old.Merge(item)
		return &whole
	}
	return &item
}

// put makes the change that adds or updates an item of the turn by its final version.
func (s *State) put(t *turn, item messages.Item) messages.Change {
	whole := *s.merged(item)
	if whole.IsDraft() {
		whole.StreamStatus = messages.StreamComplete
	}
	t.dropDraft(item.ID)
	return s.putWhole(t, whole)
}

// putWhole makes the change for an item that is merged already, and keeps track of open tool calls.
func (s *State) putWhole(t *turn, item messages.Item) messages.Change {
	_, found := s.newest(item.ID)
	item.Seq = 0
	if item.TurnID == "" {
		item.TurnID = t.record.ID
	}
	if found {
		item.UpdatedAt = s.now
	} else if item.CreatedAt == 0 {
		item.CreatedAt = s.now
	}
	if s.pending == nil {
		s.pending = make(map[messages.ItemID]pendingItem, 4)
	}
	s.pending[item.ID] = pendingItem{item: item, changes: s.pending[item.ID].changes + 1}
	s.track(t, &item, found)
	if found {
		return messages.ItemUpdated{Item: item}
	}
	return messages.ItemAppended{Item: item}
}

// track keeps the list of the turn's calls that have no result.
func (s *State) track(t *turn, item *messages.Item, known bool) {
	switch {
	case item.Type == messages.ItemToolCall && !known:
		t.calls = append(t.calls, item.ID)
	case item.Type == messages.ItemToolResult && !known:
		for i, id := range t.calls {
			if call, ok := s.newest(id); ok && call.CallID == item.CallID {
				t.calls = append(t.calls[:i], t.calls[i+1:]...)
				return
			}
		}
	}
}
