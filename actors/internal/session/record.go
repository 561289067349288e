package session

import "agentd/messages"

// onRecord upserts several final items in one commit: they become durable together or not at all.
func (s *State) onRecord(m Record) {
	t := s.turnFor(m.Turn)
	if t == nil {
		s.reply(m.Ticket, nil, ErrTurnEnded)
		return
	}
	if m.Fresh && len(m.Items) > 0 {
		if _, found := s.newest(m.Items[0].ID); found {
			s.reply(m.Ticket, nil, &DuplicateItemError{Item: m.Items[0].ID})
			return
		}
	}
	for i := range m.Items {
		if err := s.merged(m.Items[i]).Validate(); err != nil {
			s.reply(m.Ticket, nil, err)
			return
		}
	}
	changes := make([]messages.Change, 0, len(m.Items))
	for i := range m.Items {
		changes = append(changes, s.put(t, m.Items[i]))
	}
	s.stage(group{changes: changes, then: then{what: followReply, ticket: m.Ticket}})
}
