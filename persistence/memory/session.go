package memory

import (
	"fmt"
	"sync"

	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/internal/ledger"
)

// session is one stored session.
type session struct {
	id messages.SessionID

	mu    sync.Mutex
	state ledger.Session
	// doc is the projection of all records but those in fresh. It is nil before the first.
	doc *messages.Document
	// fresh are the records that nobody has read yet.
	fresh tail
	// Of the records since the last fold, there are unfolded bytes.
	unfolded int64
	folded   int64
	running  bool
}

// commit stores one append.
func (s *session) commit(a *persistence.Append) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	repeat, err := s.state.Check(a)
	if err != nil || repeat {
		return err
	}
	s.state.Apply(a)
	for i := range a.Records {
		rec := &a.Records[i]
		s.fresh.push(rec)
		s.unfolded += int64(len(rec.Body))
		switch rec.Kind {
		case messages.KindTurnStarted:
			s.running = true
		case messages.KindTurnEnded, messages.KindDeleted:
			s.running = false
		default:
		}
	}
	return nil
}

// project brings doc up to date. The lock is held.
func (s *session) project() error {
	if s.doc == nil {
		s.doc = messages.NewDocument(s.id)
	}
	for rec, size, ok := s.fresh.first(); ok; rec, size, ok = s.fresh.first() {
		change, err := messages.DecodeRecord(rec)
		if err == nil {
			err = s.doc.Apply(rec.Seq, rec.At, change)
		}
		if err != nil {
			return fmt.Errorf("reading session %q: %w: %w", s.id, persistence.ErrCorrupt, err)
		}
		s.fresh.drop(size)
	}
	return nil
}

// readable reports why the session cannot be read, and projects it. The lock is held.
func (s *session) readable() error {
	switch {
	case s.state.Deleted:
		return fmt.Errorf("session %q: %w", s.id, persistence.ErrDeleted)
	case !s.state.Exists():
		return fmt.Errorf("session %q: %w", s.id, persistence.ErrNotFound)
	default:
		return s.project()
	}
}

// document returns a copy that the caller owns.
func (s *session) document() *messages.Document { return s.doc.Clone() }

// page returns the page of a query. The lock is held.
func (s *session) page(query persistence.PageQuery) persistence.Page {
	start, end := query.Bounds(len(s.doc.Items))
	page := persistence.Page{Head: s.doc.Head.Clone(), Items: make([]messages.Item, 0, end-start), Start: start}
	for _, item := range s.doc.Items[start:end] {
		page.Items = append(page.Items, *item)
	}
	return page
}

// fold marks everything as folded. The lock is held.
func (s *session) fold() {
	s.folded += s.unfolded
	s.unfolded = 0
}

// pending tells what is not folded. The lock is held.
func (s *session) pending() persistence.Unfolded {
	return persistence.Unfolded{Session: s.id, Running: s.running, JournalBytes: s.unfolded, SnapshotBytes: s.folded}
}
