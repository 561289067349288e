package jsonfile

import (
	"sync"

	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/internal/ledger"
)

// session is what is kept in memory of a session that has records in the journal, that has a claimed handle, or
// that was used of late. It holds positions, no bodies.
type session struct {
	id messages.SessionID
	// folding is held by the one that writes the snapshot or removes it.
	folding sync.Mutex

	// Guarded by index.mu.

	ledger ledger.Session
	// spans are the appends that the snapshot lacks, in their order. The slice is shared with readers:
	// it is appended to or replaced, and never changed in place.
	spans []span
	// journalBytes is the size of the spans.
	journalBytes int64
	// snapshotBytes is the size of the snapshot, 0 when there is none.
	snapshotBytes int64
	running       bool
	// committing says that an append of the session is being written.
	committing bool
	// bad says why the session cannot be used, after a recovery that could not make sense of it.
	bad error
}

// note applies what an append does to the session. index.mu is held.
func (s *session) note(sp span, e effects) {
	s.spans = append(s.spans, sp)
	s.journalBytes += int64(sp.size)
	sp.seg.live++
	if e.turn != 0 {
		s.running = e.turn > 0
	}
}

// forget drops the spans up to a record. index.mu is held.
func (s *session) forget(through uint64) {
	n := 0
	for n < len(s.spans) && s.spans[n].last() <= through {
		s.journalBytes -= int64(s.spans[n].size)
		s.spans[n].seg.live--
		n++
	}
	if s.spans = s.spans[n:]; len(s.spans) == 0 {
		s.spans = nil
	}
}

// idle reports whether everything about the session can be read from its files. index.mu is held.
func (s *session) idle() bool {
	return len(s.spans) == 0 && !s.committing && s.bad == nil &&
		(s.ledger.Claimed == s.ledger.Epoch || !s.ledger.Exists() && s.ledger.Claimed <= 1)
}

// unfolded tells what the snapshot lacks. index.mu is held.
// What lies in a segment before the one of the number holds the journal back.
func (s *session) unfolded(kept uint64) persistence.Unfolded {
	return persistence.Unfolded{
		Session:       s.id,
		Running:       s.running,
		JournalBytes:  s.journalBytes,
		SnapshotBytes: s.snapshotBytes,
		Holds:         len(s.spans) > 0 && s.spans[0].seg.number < kept,
	}
}
