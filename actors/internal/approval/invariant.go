package approval

import "fmt"

// Broken returns the first invariant that does not hold, or nil.
func (s *State) Broken() error {
	waiting := 0
	for id, r := range s.open {
		if r.id != id || s.byKey[r.key] != r {
			return fmt.Errorf("request %q is not filed under its id and key", id)
		}
		if !r.wanted() && !r.deciding {
			return fmt.Errorf("request %q is open though nobody wants it", id)
		}
		for _, w := range r.all() {
			waiting++
			if s.waiters[w.id] != w || w.request != r || askKey(w.ask) != r.key {
				return fmt.Errorf("waiter %d is not one of request %q alone", w.id, id)
			}
		}
	}
	switch {
	case len(s.byKey) != len(s.open):
		return fmt.Errorf("%d keys for %d open requests", len(s.byKey), len(s.open))
	case waiting != len(s.waiters):
		return fmt.Errorf("%d waiters, %d of them with a request", len(s.waiters), waiting)
	case len(s.ledger.queue) > 0 && len(s.ledger.inflight) == 0:
		return fmt.Errorf("%d changes of grants wait though nothing is being saved", len(s.ledger.queue))
	case len(s.kept) > MaxKept || len(s.open) > MaxOpen:
		return fmt.Errorf("%d kept approvals and %d open requests are over the limits", len(s.kept), len(s.open))
	}
	if first := s.Deadline(); first != 0 && (s.due == 0 || s.due > first) {
		return fmt.Errorf("the moment %d would be missed, the next look is at %d", first, s.due)
	}
	return nil
}
