package session

import (
	"fmt"
	"slices"

	"agentd/messages"
)

// owe settles a turn whose ending could not be stored. The handle tells both; the record follows
// with the next commit, or with a tick.
func (s *State) owe(t *turn, err error) {
	s.active, s.owed, t.fault = nil, t, err
	s.emit(Settle{Turn: t.last, Err: err})
	s.release(t, err)
	s.wake(true)
}

// repay stages the ending that is owed, in front of everything else, if a commit can be made now.
func (s *State) repay() {
	if s.owed == nil || s.repaying || len(s.flight) > 0 {
		return
	}
	t := s.owed
	s.reopen(t)
	t.final = s.refit(t, t.final)
	s.repaying = true
	s.staged = slices.Insert(s.staged, 0, split(nil, s.ending(t), then{what: followOwed, turn: t})...)
}

// refit keeps the items that can still be put. Some may rest on items that were lost with the first try.
func (s *State) refit(t *turn, items []messages.Item) []messages.Item {
	kept := make([]messages.Item, 0, len(items))
	for i := range items {
		if s.fits(t, &items[i], kept) == nil {
			kept = append(kept, items[i])
		}
	}
	return kept
}

// onTick stores what waits for it: drafts, and an ending that is owed.
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

// storing wraps a fault of the store for those who are told.
func storing(err error) error { return fmt.Errorf("storing: %w", err) }
