package jsonfile

import (
	"context"
	"fmt"

	"agentd/messages"
	"agentd/persistence"
)

const (
	// roundBytes is when a batch is cut: what stands behind goes into a round with a sync of its own. It bounds the buffer
	// and how far a segment outgrows its size.
	roundBytes = 16 << 20
	// keepBytes is the largest buffer that is kept for the next batch.
	keepBytes = 4 << 20
)

// slot is an append that was admitted, and where it lies in the buffer.
type slot struct {
	place   int
	sess    *session
	effects effects
	off     int
	size    int
}

// Commit implements [persistence.Store]. It is one write and one sync, however many appends there are, up to 16 MiB.
func (s *Store) Commit(ctx context.Context, batch []persistence.Append) []error {
	errs := make([]error, len(batch))
	leave, err := s.enter(ctx)
	if err != nil {
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
	defer leave()
	s.writing.Lock()
	defer s.writing.Unlock()
	s.findAll(batch, errs)
	s.admit(batch, errs)
	for rest := s.slots; len(rest) > 0; {
		n, err := s.round(batch, rest)
		s.settle(batch, rest[:n], err, errs)
		rest = rest[n:]
	}
	clear(s.slots)
	clear(s.found)
	if cap(s.buf) > keepBytes {
		s.buf = nil
	}
	return errs
}

// findAll finds the session of each append, and reads the heads of those that memory does not know. Until admit has them, nothing is forgotten.
func (s *Store) findAll(batch []persistence.Append, errs []error) {
	var unknown []int
	s.found = s.found[:0]
	s.index.mu.Lock()
	s.index.keep = true
	for i := range batch {
		sess := s.known(batch[i].Handle.Session)
		s.found = append(s.found, sess)
		if sess == nil {
			unknown = append(unknown, i)
		}
	}
	s.index.mu.Unlock()
	for _, i := range unknown {
		id := batch[i].Handle.Session
		_, err := s.find(id)
		if isNotFound(err) {
			// A handle of a session that was never written, and that was forgotten since.
			_, err = s.remember(&session{id: id})
		}
		if err != nil {
			errs[i] = about("appending to", id, err)
		}
	}
}

// admit lets the ledger judge every append, and marks the sessions of those that are to be written.
func (s *Store) admit(batch []persistence.Append, errs []error) {
	s.slots = s.slots[:0]
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	s.index.keep = false
	for i := range batch {
		if errs[i] != nil {
			continue
		}
		sess := s.found[i]
		if sess == nil {
			sess = s.known(batch[i].Handle.Session)
		}
		if sess.bad != nil {
			errs[i] = about("appending to", sess.id, sess.bad)
			continue
		}
		repeat, err := sess.ledger.Check(&batch[i])
		switch {
		case err != nil:
			errs[i] = err
		case repeat:
		case sess.committing:
			errs[i] = fmt.Errorf("appending to session %q: %w: an append of the same handle is in the same batch", sess.id, persistence.ErrUnavailable)
		default:
			sess.committing = true
			s.slots = append(s.slots, slot{place: i, sess: sess})
		}
	}
}

// round encodes appends up to the limit of a round, and makes them durable. It returns how many they are.
func (s *Store) round(batch []persistence.Append, slots []slot) (int, error) {
	if err := s.journal.ready(); err != nil {
		return len(slots), err
	}
	start := s.journal.active.size
	s.buf = s.buf[:0]
	n := 0
	for ; n < len(slots) && (n == 0 || len(s.buf) < roundBytes); n++ {
		sl := &slots[n]
		sl.off = len(s.buf)
		s.encode(&batch[sl.place], sl, start)
		sl.size = len(s.buf) - sl.off
	}
	at, err := s.journal.write(s.buf)
	if err != nil {
		return n, err
	}
	s.publish(batch, slots[:n], at)
	return n, nil
}

// encode appends the frames of one append to the buffer, of which the first byte will stand at start.
func (s *Store) encode(a *persistence.Append, sl *slot, start int64) {
	for i := range a.Records {
		rec := &a.Records[i]
		mark := frameMark{session: a.Handle.Session, synced: noMark, more: len(a.Records) - 1 - i}
		if len(s.buf) == 0 {
			mark.synced = start
		}
		s.buf = appendFrame(s.buf, s.table, mark, rec)
		if rec.Kind != messages.KindItem && rec.Kind != messages.KindItemUpdated {
			sl.effects.note(rec.Kind, rec.Body)
		}
	}
}

// publish makes durable appends visible to readers.
func (s *Store) publish(batch []persistence.Append, slots []slot, at placed) {
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	for i := range slots {
		sl := &slots[i]
		a := &batch[sl.place]
		sl.sess.ledger.Apply(a)
		sl.sess.note(span{
			seg: at.seg, first: a.After + 1, off: at.off + int64(sl.off),
			size: uint32(sl.size), count: uint32(len(a.Records)),
		}, sl.effects)
	}
}

// settle ends the writing of appends, with an error for each or none.
func (s *Store) settle(batch []persistence.Append, slots []slot, err error, errs []error) {
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	for i := range slots {
		slots[i].sess.committing = false
		if err != nil {
			errs[slots[i].place] = about("appending to", batch[slots[i].place].Handle.Session, err)
		}
	}
	s.index.settled.Broadcast()
}
