package approval

import (
	"errors"
	"fmt"
	"slices"

	"agentd/presets"
)

// ledger orders the saves of grants: one at a time, everything that came meanwhile in the next one.
type ledger struct {
	last     SaveID
	inflight []mutation // of the save that runs; empty means that none does
	queue    []mutation
	// unsaved are revocations that hold but could not be stored yet.
	unsaved map[presets.GrantID]bool
}

// mutation is one change of the stored grants that somebody waits for.
type mutation struct {
	reply   ReplyID
	add     *presets.Grant // nil for a revocation
	request *request       // what the added grant answers
	revoke  presets.GrantID
}

// enqueue adds a change and starts a save, if none runs.
func (s *State) enqueue(now int64, m mutation) []Effect {
	s.ledger.queue = append(s.ledger.queue, m)
	return s.flush(now)
}

// flush starts the next save, if there is something to store and none runs.
func (s *State) flush(now int64) []Effect {
	l := &s.ledger
	if len(l.inflight) > 0 || len(l.queue) == 0 {
		return nil
	}
	l.inflight, l.queue = l.queue, nil
	l.last++
	grants := s.grants.live(now)
	for _, m := range l.inflight {
		if m.add != nil {
			grants = append(grants, *m.add)
		}
	}
	return []Effect{Save{ID: l.last, Grants: grants}}
}

// onSaved makes a finished save count.
func (s *State) onSaved(now int64, c Saved) []Effect {
	l := &s.ledger
	if c.ID != l.last || len(l.inflight) == 0 {
		return nil
	}
	done := l.inflight
	l.inflight = nil
	var out []Effect
	for _, m := range done {
		if c.Err != nil {
			out = append(out, s.saveFailed(now, m, c.Err)...)
			continue
		}
		out = append(out, s.saveDone(now, m)...)
	}
	return append(out, s.flush(now)...)
}

func (s *State) saveDone(now int64, m mutation) []Effect {
	if m.add == nil {
		delete(s.ledger.unsaved, m.revoke)
		return []Effect{Reply{Reply: m.reply}}
	}
	s.grants.add(*m.add)
	s.stir(m.add.Scope.SessionID)
	s.note(m.add.ExpiresAt)
	s.note(m.request.expires)
	m.request.deciding = false
	out := []Effect{Reply{Reply: m.reply}}
	return append(out, s.serveByGrant(now, m.request, *m.add)...)
}

func (s *State) saveFailed(now int64, m mutation, cause error) []Effect {
	if m.add == nil {
		return []Effect{Reply{Reply: m.reply, Err: fmt.Errorf(
			"storing the revocation of grant %q: it holds until the next start, revoke it again: %w", m.revoke, cause)}}
	}
	m.request.deciding = false
	s.note(m.request.expires)
	out := []Effect{Reply{Reply: m.reply, Err: fmt.Errorf("storing a grant for %q: the request is still open: %w", m.add.Name, cause)}}
	if s.open[m.request.id] != m.request {
		return out
	}
	if !m.request.wanted() {
		return append(out, s.cancel(now, m.request, "the caller has gone")...)
	}
	return append(out, Opened{Request: m.request.view()})
}

// onRevoke ends a grant at once, and acknowledges when that is stored.
func (s *State) onRevoke(now int64, c Revoke) []Effect {
	grant, known := s.grants.byID[c.Grant]
	if known && !grant.Live(now) || !known && !s.ledger.unsaved[c.Grant] {
		return []Effect{Reply{Reply: c.Reply, Err: fmt.Errorf("grant %.60q: %w", c.Grant, presets.ErrUnknownGrant)}}
	}
	s.grants.remove(c.Grant)
	s.stir(grant.Scope.SessionID)
	if s.ledger.unsaved == nil {
		s.ledger.unsaved = map[presets.GrantID]bool{}
	}
	s.ledger.unsaved[c.Grant] = true
	return s.enqueue(now, mutation{reply: c.Reply, revoke: c.Grant})
}

// errTooManyGrants is what a person gets who grants beyond the limit.
var errTooManyGrants = errors.New("too many grants stand: revoke some")

// grantsAhead counts the grants that stand or are about to.
func (s *State) grantsAhead() int {
	adds := 0
	for _, m := range slices.Concat(s.ledger.inflight, s.ledger.queue) {
		if m.add != nil {
			adds++
		}
	}
	return len(s.grants.byID) + adds
}
