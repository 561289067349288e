package session

import (
	"fmt"

	"agentd/messages"
)

// onNote appends an event that belongs to the session and to no turn, as what became of a question whose turn has ended.
func (s *State) onNote(m Note) {
	item := m.Item
	clean(&item)
	if err := s.refuseNote(&item); err != nil {
		s.reply(m.Ticket, nil, err)
		return
	}
	item.CreatedAt = s.now
	s.pending.put(&item)
	if s.active != nil && item.EventType == EventApprovalDecided {
		s.active.trackRequest(&item) // The turn does not close what is decided.
	}
	s.stage(group{
		changes: []messages.Change{messages.ItemAppended{Item: &item}},
		then:    then{what: followItem, ticket: m.Ticket, item: item.ID},
	})
}

// refuseNote says why a note is not taken, or returns nil.
func (s *State) refuseNote(item *messages.Item) error {
	switch {
	case s.deleting != nil:
		return ErrDeleted
	case s.draining != nil:
		return ErrClosing
	case item.Type != messages.ItemEvent || item.IsDraft():
		return fmt.Errorf("item %q is no whole event: only events are noted outside of a turn", item.ID)
	case s.has(item.ID):
		return &DuplicateItemError{Item: item.ID}
	default:
		return item.Validate()
	}
}
