package session

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"agentd/messages"
)

func (s *State) onAppend(m Append) {
	t := s.turnFor(m.Turn)
	if t == nil {
		s.reply(m.Ticket, nil, ErrTurnEnded)
		return
	}
	item := m.Item
	clean(&item)
	if s.has(item.ID) {
		s.reply(m.Ticket, nil, &DuplicateItemError{Item: item.ID})
		return
	}
	if err := s.fits(t, &item, nil); err != nil {
		s.reply(m.Ticket, nil, err)
		return
	}
	s.stage(group{
		changes: []messages.Change{s.putWhole(t, &item)},
		then:    then{what: followItem, ticket: m.Ticket, item: item.ID},
		owner:   t,
	})
	if item.IsDraft() {
		t.drafts = append(t.drafts, &draft{item: s.underway(item.ID)})
	}
}

func (s *State) onUpsert(m Upsert) {
	t := s.turnFor(m.Turn)
	if t == nil {
		s.reply(m.Ticket, nil, ErrTurnEnded)
		return
	}
	item := m.Item
	clean(&item)
	if m.MustExist && !s.has(item.ID) {
		s.reply(m.Ticket, nil, &UnknownItemError{Item: item.ID})
		return
	}
	if err := s.fits(t, &item, nil); err != nil {
		s.reply(m.Ticket, nil, err)
		return
	}
	if item.IsDraft() {
		s.putDraft(t, item, m.Ticket)
		return
	}
	s.stage(group{
		changes: []messages.Change{s.put(t, &item)},
		then:    then{what: followItem, ticket: m.Ticket, item: item.ID},
		owner:   t,
	})
}

// onRecord upserts several final items in one commit: they become durable together or not at all.
func (s *State) onRecord(m Record) {
	t := s.turnFor(m.Turn)
	if t == nil {
		s.reply(m.Ticket, nil, ErrTurnEnded)
		return
	}
	if m.Fresh && len(m.Items) > 0 && s.has(m.Items[0].ID) {
		s.reply(m.Ticket, nil, &DuplicateItemError{Item: m.Items[0].ID})
		return
	}
	items, err := s.admit(t, m.Items)
	if err != nil {
		s.reply(m.Ticket, nil, err)
		return
	}
	changes := make([]messages.Change, 0, len(items))
	for i := range items {
		changes = append(changes, s.put(t, &items[i]))
	}
	s.stage(group{changes: changes, then: then{what: followReply, ticket: m.Ticket}, owner: t})
}

// admit cleans a batch of items, in its place, and checks that they may be put, one after another. It changes nothing else.
func (s *State) admit(t *turn, batch []messages.Item) ([]messages.Item, error) {
	if len(batch) > MaxBatchItems {
		return nil, fmt.Errorf("%d items at once, the limit is %d: %w", len(batch), MaxBatchItems, messages.ErrTooLarge)
	}
	size := 0
	for i := range batch {
		item, ahead := &batch[i], batch[:i]
		clean(item)
		if slices.ContainsFunc(ahead, func(other messages.Item) bool { return other.ID == item.ID }) {
			return nil, &DuplicateItemError{Item: item.ID}
		}
		if err := s.fits(t, item, ahead); err != nil {
			return nil, err
		}
		size += s.merged(t, item).Size()
	}
	if size > MaxBatchBytes {
		return nil, fmt.Errorf("items of %d bytes at once, the limit is %d: %w", size, MaxBatchBytes, messages.ErrTooLarge)
	}
	return batch, nil
}

// fits reports why an item may not be put into the turn, or nil. Ahead are items that are put before it in the same commit.
func (s *State) fits(t *turn, item *messages.Item, ahead []messages.Item) error {
	old := s.current(t, item.ID)
	if old == nil {
		if err := item.Validate(); err != nil {
			return err
		}
		return t.fitsCalls(nil, item, ahead)
	}
	if old.TurnID != t.record.ID {
		return &ClosedItemError{Item: item.ID, Turn: old.TurnID}
	}
	whole := old.Merge(*item)
	if err := whole.Validate(); err != nil {
		return err
	}
	return t.fitsCalls(old, &whole, ahead)
}

// has reports whether an item is there: stored, on its way, or as a draft.
func (s *State) has(id messages.ItemID) bool {
	return s.current(s.active, id) != nil
}

// underway returns the newest version of an item that is on its way.
func (s *State) underway(id messages.ItemID) messages.Item {
	item, _ := s.pending.get(id)
	return *item
}

// newest returns the newest version of an item, stored or on its way, or nil. It is not to be changed, and good until the next change.
func (s *State) newest(id messages.ItemID) *messages.Item {
	if item, ok := s.pending.get(id); ok {
		return item
	}
	if i, ok := s.doc.Find(id); ok {
		return s.doc.Items[i]
	}
	return nil
}

// current is newest with a draft's unstored text included.
func (s *State) current(t *turn, id messages.ItemID) *messages.Item {
	if t != nil {
		if d := t.draft(id); d != nil {
			return &d.item
		}
	}
	return s.newest(id)
}

// merged returns the item as it would be after an upsert.
func (s *State) merged(t *turn, item *messages.Item) *messages.Item {
	if old := s.current(t, item.ID); old != nil {
		whole := old.Merge(*item)
		return &whole
	}
	return item
}

// put makes the change that adds or updates an item of the turn by its final version. The item is the session's from then on.
func (s *State) put(t *turn, item *messages.Item) messages.Change {
	whole := s.merged(t, item)
	if whole.IsDraft() {
		whole.StreamStatus = messages.StreamComplete
	}
	t.finishDraft(item.ID)
	return s.putWhole(t, whole)
}

// putWhole makes the change for an item that is merged already, and keeps track of tool calls. The item is the session's from then on.
func (s *State) putWhole(t *turn, item *messages.Item) messages.Change {
	found := s.newest(item.ID) != nil
	item.Seq, item.TurnID = 0, t.record.ID
	if found {
		item.UpdatedAt = s.now
	} else if item.CreatedAt == 0 {
		item.CreatedAt = s.now
	}
	s.pending.put(item)
	if found {
		return messages.ItemUpdated{Item: item}
	}
	t.track(item)
	return messages.ItemAppended{Item: item}
}

// freshID makes an id for an item of the session's own that no item has. Agents may have taken the obvious one.
func (s *State) freshID(prefix, name string) messages.ItemID {
	const room = 8 // For the number behind it.
	end := min(len(name), messages.MaxIDBytes-len(prefix)-room)
	for end < len(name) && end > 0 && !utf8.RuneStart(name[end]) {
		end--
	}
	base := prefix + strings.ToValidUTF8(name[:end], "")
	id := messages.ItemID(base)
	for n := 2; s.has(id); n++ {
		id = messages.ItemID(fmt.Sprintf("%s-%d", base, n))
	}
	return id
}
