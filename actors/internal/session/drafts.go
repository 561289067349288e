package session

import (
	"slices"

	"agentd/messages"
)

// putDraft takes a draft: subscribers see it at once; its first version is stored at once too, since it fixes
// the item's place, and later ones when the next tick comes.
func (s *State) putDraft(t *turn, item messages.Item, ticket Ticket) {
	d := t.draft(item.ID)
	switch old := s.newest(item.ID); {
	case d != nil:
		d.item, d.dirty = d.item.Merge(item), true
		d.item.UpdatedAt = s.now
		s.wake(false)
	case old != nil:
		d = &draft{item: old.Merge(item), dirty: true}
		d.item.UpdatedAt = s.now
		t.drafts = append(t.drafts, d)
		s.wake(false)
	default:
		s.stage(group{changes: []messages.Change{s.putWhole(t, &item)}, owner: t})
		d = &draft{item: s.underway(item.ID)}
		t.drafts = append(t.drafts, d)
	}
	s.publishDraft(d)
	s.reply(ticket, d.item, nil)
}

// storeDrafts stages the newest text of every draft that has changed. A draft whose last version is still on its way
// waits for the next tick, so that a slow store gets fewer versions and not a heap of them.
func (s *State) storeDrafts(t *turn) {
	var changes []messages.Change
	for _, d := range t.drafts {
		if !d.dirty {
			continue
		}
		if _, underway := s.pending.get(d.item.ID); underway {
			s.wake(false)
			continue
		}
		d.dirty = false
		item := d.item
		changes = append(changes, s.putWhole(t, &item))
	}
	if changes != nil {
		s.stage(group{changes: changes, owner: t})
	}
}

// closeDrafts makes the changes that end the turn's drafts with their newest text.
func (s *State) closeDrafts(t *turn) []messages.Change {
	closed := messages.StreamInterrupted
	if t.outcome.status == messages.TurnCompleted {
		closed = messages.StreamComplete
	}
	changes := make([]messages.Change, 0, len(t.drafts))
	for _, d := range t.drafts {
		item := d.item
		item.StreamStatus = closed
		if closed == messages.StreamInterrupted && item.Type == messages.ItemToolResult {
			item.IsError = true // The model must not take a part of the output for the whole.
		}
		changes = append(changes, s.putWhole(t, &item))
	}
	return changes
}

// reopen rebuilds what the turn has open from what is stored, and keeps the drafts' newest text. A draft of a call or a
// result that was never stored is given up: what it pairs with may be gone too.
func (s *State) reopen(t *turn) {
	drafts := t.drafts
	s.readOpen(t)
	for _, d := range drafts {
		known := t.draft(d.item.ID)
		stored := s.newest(d.item.ID) != nil
		switch {
		case known != nil:
			known.item, known.dirty = d.item, true
		case stored || d.item.Type != messages.ItemToolCall && d.item.Type != messages.ItemToolResult:
			t.drafts = append(t.drafts, &draft{item: d.item, dirty: true})
		}
	}
	t.drafts = slices.Clip(t.drafts)
}

// revive makes drafts again of those whose final version is about to be given up: what was shown is not lost.
func (s *State) revive(t *turn) {
	for _, id := range t.closing {
		if last, lost := s.pending.get(id); lost && t.draft(id) == nil {
			item := *last
			item.StreamStatus = messages.StreamStreaming
			t.drafts = append(t.drafts, &draft{item: item, dirty: true})
		}
	}
	t.closing = nil
}

// readOpen finds the turn's drafts, calls and open requests in the stored items.
func (s *State) readOpen(t *turn) {
	t.drafts, t.calls, t.byCall, t.requests = nil, nil, nil, nil
	for i := range s.doc.Items {
		item := s.doc.Items[i]
		if item.TurnID != t.record.ID {
			if item.EventType == EventApprovalDecided {
				t.trackRequest(item) // It was noted outside of the turn.
			}
			continue
		}
		t.track(item)
		if item.IsDraft() {
			t.drafts = append(t.drafts, &draft{item: *item})
		}
	}
}
