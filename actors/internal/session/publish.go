package session

import (
	"slices"

	"agentd/messages"
)

// event makes what the subscribers are told of a stored change, or false for those that are the writer's own business.
func (s *State) event(seq uint64, change messages.Change) (messages.Event, bool) {
	event := messages.Event{Session: s.doc.Head.ID, Seq: seq}
	switch c := change.(type) {
	case messages.ItemAppended:
		event.Kind, event.Item = messages.EventItem, s.itemCopy(c.Item.ID)
	case messages.ItemUpdated:
		event.Kind, event.Item = messages.EventItemUpdated, s.itemCopy(c.Item.ID)
	case messages.DataSet:
		event.Kind, event.Key = messages.EventData, c.Key
	case messages.TurnStarted:
		event.Kind, event.Turn = messages.EventTurnStarted, s.turnCopy()
	case messages.TurnEnded:
		event.Kind, event.Turn = messages.EventTurnEnded, s.turnCopy()
	case messages.Deleted:
		event.Kind = messages.EventDeleted
	case messages.Created, messages.Opened:
		return event, false
	}
	return event, true
}

// republish tells the newest text of a draft behind an older version that became stored, be that a draft or not, so that nobody is left
// with less than was shown. The final version is told so, too, while it is on its way.
func (s *State) republish(item *messages.Item) {
	t := s.active
	if item == nil || t == nil {
		return
	}
	if d := t.draft(item.ID); d != nil && d.dirty {
		s.publishDraft(d)
	} else if last, underway := s.pending.get(item.ID); underway && slices.Contains(t.closing, item.ID) {
		shown := *last
		shown.StreamStatus = messages.StreamStreaming
		s.publishDraft(&draft{item: shown})
	}
}

// publishDraft tells the present text of a draft.
func (s *State) publishDraft(d *draft) {
	if s.watched {
		item := d.item
		s.emit(Publish{Event: messages.Event{Session: s.doc.Head.ID, Kind: messages.EventDraft, Item: &item}})
	}
}

func (s *State) itemCopy(id messages.ItemID) *messages.Item {
	item := s.copyOf(id)
	return &item
}

func (s *State) turnCopy() *messages.Turn {
	turn := *s.doc.Head.Turn
	return &turn
}
