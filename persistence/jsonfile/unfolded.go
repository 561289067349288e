package jsonfile

import (
	"cmp"
	"slices"

	"agentd/messages"
	"agentd/persistence"
)

// Unfolded implements [persistence.Store].
func (s *Store) Unfolded() []persistence.Unfolded {
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	kept := s.index.kept(s.opts.HeldSegments)
	var list []persistence.Unfolded
	for _, sess := range s.index.sessions {
		if len(sess.spans) > 0 {
			list = append(list, sess.unfolded(kept))
		}
	}
	slices.SortFunc(list, func(a, b persistence.Unfolded) int { return cmp.Compare(a.Session, b.Session) })
	return list
}

// UnfoldedOf implements [persistence.Store].
func (s *Store) UnfoldedOf(id messages.SessionID) persistence.Unfolded {
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	if sess := s.known(id); sess != nil {
		return sess.unfolded(s.index.kept(s.opts.HeldSegments))
	}
	return persistence.Unfolded{Session: id}
}
