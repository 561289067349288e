package session

import (
	"maps"
	"slices"

	"agentd/messages"
)

// Watch says whether anybody wants [Publish] effects. A state begins unwatched.
func (s *State) Watch(on bool) { s.watched = on }

// Head returns the stored head. Its turn is not changed any more, and not to be changed.
func (s *State) Head() messages.Head {
	head := s.doc.Head
	head.Data = maps.Clone(head.Data)
	return head
}

// Items returns the stored items. Neither they nor the slice are changed any more.
func (s *State) Items() []*messages.Item {
	s.shared = len(s.doc.Items)
	return slices.Clip(s.doc.Items)
}

// Drafts returns the newest text of the active turn's drafts, in the order in which they began.
func (s *State) Drafts() []messages.Item {
	if s.active == nil {
		return nil
	}
	drafts := make([]messages.Item, 0, len(s.active.drafts))
	for _, d := range s.active.drafts {
		drafts = append(drafts, d.item)
	}
	return drafts
}

// Idle reports whether nothing runs, waits or is on its way to the store.
func (s *State) Idle() bool {
	return s.active == nil && s.owed == nil && len(s.queue) == 0 && len(s.flight) == 0 && len(s.staged) == 0
}
