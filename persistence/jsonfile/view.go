package jsonfile

import (
	"errors"
	"fmt"

	"agentd/messages"
	"agentd/persistence"
)

// view is a session as it was at one moment. Its segments are pinned until release.
type view struct {
	id      messages.SessionID
	spans   []span
	pinned  []*segment
	deleted bool
	// inMemory says that the index knew the session.
	inMemory bool
	// lastSeq is the last stored number, if it is in memory.
	lastSeq uint64
}

// look takes a view. The error is that of a session that cannot be used.
func (s *Store) look(id messages.SessionID) (*view, error) {
	if err := validateID(id); err != nil {
		return nil, err
	}
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	v := &view{id: id}
	sess := s.known(id)
	if sess == nil {
		return v, nil
	}
	if sess.bad != nil {
		return nil, sess.bad
	}
	v.inMemory, v.lastSeq, v.deleted = true, sess.ledger.LastSeq, sess.ledger.Deleted
	v.spans = sess.spans
	for i := range v.spans {
		if seg := v.spans[i].seg; len(v.pinned) == 0 || v.pinned[len(v.pinned)-1] != seg {
			seg.pins++
			v.pinned = append(v.pinned, seg)
		}
	}
	return v, nil
}

func (s *Store) unlook(v *view) { s.index.unpin(v.pinned...) }

// reading is a view with the snapshot below it.
type reading struct {
	*view
	// snap is nil when nothing was folded yet.
	snap *snapshot
}

// read opens a session for reading. The caller calls done.
func (s *Store) openReading(id messages.SessionID) (*reading, error) {
	v, err := s.look(id)
	if err != nil {
		return nil, err
	}
	snap, err := s.below(v)
	if err != nil {
		s.unlook(v)
		return nil, err
	}
	return &reading{view: v, snap: snap}, nil
}

// below opens the snapshot of a view. A nil snapshot means that the spans begin with the first record.
func (s *Store) below(v *view) (*snapshot, error) {
	if v.deleted {
		return nil, persistence.ErrDeleted
	}
	if v.inMemory && v.lastSeq == 0 {
		return nil, persistence.ErrNotFound
	}
	snap, err := s.openSnapshot(v.id)
	if err == nil || !errors.Is(err, persistence.ErrNotFound) {
		return snap, err
	}
	if len(v.spans) > 0 && v.spans[0].first == 1 {
		return nil, nil
	}
	return nil, s.whyGone(v)
}

// whyGone tells why a session has no snapshot.
func (s *Store) whyGone(v *view) error {
	switch _, err := s.fsys.Stat(s.paths.tombstone(v.id)); {
	case err == nil:
		return persistence.ErrDeleted
	case !missing(err):
		return unavailable("looking for a tombstone", err)
	}
	if !v.inMemory {
		return persistence.ErrNotFound
	}
	if now, err := s.look(v.id); err == nil {
		s.unlook(now)
		if now.deleted {
			return persistence.ErrDeleted
		}
	}
	return &persistence.CorruptError{
		Session: v.id, File: s.paths.snapshot(v.id),
		Reason: "the snapshot is gone: somebody removed or renamed it",
	}
}

func (s *Store) done(r *reading) {
	s.unlook(r.view)
	if r.snap != nil {
		r.snap.close()
	}
}

// base is the number of the last record that the snapshot has.
func (r *reading) base() uint64 {
	if r.snap == nil {
		return 0
	}
	return r.snap.head.LastSeq
}

// head is what the snapshot says, before any record.
func (r *reading) head() messages.Head {
	if r.snap == nil {
		return messages.NewDocument(r.id).Head
	}
	return r.snap.head
}

// size is how many bytes the records take that lie in the journal.
func (r *reading) size() int64 {
	var total int64
	for i := range r.spans {
		total += int64(r.spans[i].size)
	}
	return total
}

// records calls visit for every record that the snapshot lacks, in order. With a place for them, which has to be as large as they are, the bodies stay
// valid after the visit.
func (s *Store) records(r *reading, kept []byte, visit func(sp *span, f frame) error) error {
	buf, keep := kept[:0], kept != nil
	next := r.base() + 1
	for i := range r.spans {
		sp := &r.spans[i]
		if sp.last() < next {
			continue
		}
		if sp.first > next {
			return &persistence.CorruptError{
				Session: r.id, File: sp.seg.path,
				Reason: fmt.Sprintf("record %d follows %d; stop agentd and run: agentd repair", sp.first, next-1),
			}
		}
		if !keep {
			buf = buf[:0]
		}
		var err error
		buf, err = sp.read(buf, s.table, func(f frame) error {
			if f.seq < next {
				return nil
			}
			if string(f.session) != string(r.id) {
				return sp.damage("the record belongs to another session")
			}
			next++
			return visit(sp, f)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// unreadable makes the error for a record that cannot be applied.
func unreadable(id messages.SessionID, err error) error {
	var unknown *messages.UnknownKindError
	if errors.As(err, &unknown) {
		return fmt.Errorf("%w: %w", persistence.ErrSchema, err)
	}
	return &persistence.CorruptError{Session: id, File: "journal", Reason: err.Error()}
}
