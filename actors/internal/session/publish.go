package session

import "agentd/messages"

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

func (s *State) itemCopy(id messages.ItemID) *messages.Item {
	item := s.copyOf(id)
	return &item
}

func (s *State) turnCopy() *messages.Turn {
	turn := *s.doc.Head.Turn
	return &turn
}
