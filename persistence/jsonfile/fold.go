package jsonfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"agentd/messages"
	"agentd/persistence"
)

// Fold implements [persistence.Store]. It needs the memory of the records that the snapshot lacks, up to 4 MiB of them,
// and a buffer. An error that dropping an old segment gives is reported although the session is folded.
func (s *Store) Fold(ctx context.Context, id messages.SessionID) error {
	return s.alone(ctx, "folding", id, s.fold)
}

// alone does something to a session under its folding lock, and then drops the segments that nobody needs any more. A session
// that is deleted already is none to do it to, which is no error.
func (s *Store) alone(ctx context.Context, doing string, id messages.SessionID, do func(*session) error) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	sess, err := s.findToFold(id)
	if errors.Is(err, persistence.ErrDeleted) {
		return nil
	}
	if err == nil {
		err = do(sess)
		sess.folding.Unlock()
	}
	if err == nil {
		err = s.journal.drop(false)
	}
	if err != nil {
		return about(doing, id, err)
	}
	return nil
}

// findToFold finds a session and takes its folding lock.
func (s *Store) findToFold(id messages.SessionID) (*session, error) {
	for {
		sess, err := s.find(id)
		if err != nil {
			return nil, err
		}
		sess.folding.Lock()
		s.index.mu.Lock()
		current := s.known(id) == sess
		s.index.mu.Unlock()
		if current {
			return sess, nil
		}
		// It was forgotten between the two steps.
		sess.folding.Unlock()
	}
}

// fold writes the snapshot of a session, or buries it when it was deleted. The folding lock is held.
func (s *Store) fold(sess *session) error {
	r, err := s.openReading(sess.id)
	if errors.Is(err, persistence.ErrDeleted) {
		return s.bury(sess)
	}
	if err != nil {
		return err
	}
	defer s.done(r)
	if len(r.spans) == 0 {
		return nil
	}
	bodies := s.buffers.get(0)
	defer s.buffers.put(bodies)
	news, err := s.survey(r, bodies)
	if err != nil {
		return err
	}
	size, err := s.replaceSnapshot(r, news)
	if err != nil {
		return err
	}
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	sess.forget(news.head.LastSeq)
	sess.snapshotBytes = size
	return nil
}

// replaceSnapshot writes the new snapshot beside the old one, and then puts it in its place. That it stays there is made certain
// when a segment is dropped: until then the old snapshot would do, and one sync of the folder serves many sessions.
func (s *Store) replaceSnapshot(r *reading, news *survey) (int64, error) {
	temp := filepath.Join(s.paths.temp, filepath.Base(s.paths.snapshot(r.id)))
	size, err := s.writeSnapshot(temp, r, news)
	if err == nil {
		if err = s.fsys.Rename(temp, s.paths.snapshot(r.id)); err != nil {
			err = unavailable("putting a snapshot in its place", err)
		}
	}
	if err != nil {
		return 0, errors.Join(err, removeTemp(s.fsys, temp))
	}
	s.journal.replaced.Store(true)
	return size, nil
}

// writeSnapshot streams the old items, replaced where records say so, and the new ones.
func (s *Store) writeSnapshot(path string, r *reading, news *survey) (int64, error) {
	file, err := s.fsys.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, fileMode)
	if err != nil {
		return 0, unavailable("writing a snapshot", err)
	}
	buf := s.buffers.get(writerBytes + writerBytes/2)
	w := &fileWriter{file: file, buf: *buf}
	err = s.putSnapshot(w, r, news)
	if err != nil {
		w.err = err
	}
	size := w.size()
	finishErr := w.finish()
	*buf = w.buf
	s.buffers.put(buf)
	switch {
	case err != nil:
		return 0, err
	case finishErr != nil:
		return 0, unavailable("writing a snapshot", finishErr)
	}
	return size, nil
}

// putSnapshot hands the snapshot to the writer. The error is that of a source.
func (s *Store) putSnapshot(w *fileWriter, r *reading, news *survey) error {
	var err error
	if w.buf, err = appendHead(w.buf, &news.head); err != nil {
		return err
	}
	separator := "\n"
	if r.snap != nil {
		if err := s.putOld(w, r.snap, news); err != nil {
			return err
		}
		if r.snap.head.ItemCount > 0 {
			separator = ",\n"
		}
	}
	for _, at := range news.added {
		w.writeString(separator)
		if err := s.putItem(w, at); err != nil {
			return err
		}
		separator = ",\n"
	}
	w.writeString(closing)
	return nil
}

// putOld hands over the items of the old snapshot.
func (s *Store) putOld(w *fileWriter, snap *snapshot, news *survey) error {
	if len(news.updated) > 0 {
		return s.putUpdated(w, snap, news)
	}
	lines, err := w.copyRange(snap.file, snap.body, snap.end())
	if err != nil {
		return unavailable("reading a snapshot", err)
	}
	if w.err == nil && lines != snap.head.ItemCount {
		return snap.damage(snap.head.ID, 0, fmt.Sprintf("the file has %d items, its head says %d", lines, snap.head.ItemCount))
	}
	return nil
}

// putUpdated hands over the items of the old snapshot, some of them in a newer state.
func (s *Store) putUpdated(w *fileWriter, snap *snapshot, news *survey) error {
	separator, replaced := "\n", 0
	err := snap.lines(func(line []byte) error {
		w.writeString(separator)
		separator = ",\n"
		if at, ok := news.updated[itemID(line)]; ok {
			replaced++
			return s.putItem(w, at)
		}
		w.write(line)
		return nil
	})
	if err == nil && replaced != len(news.updated) {
		return snap.damage(snap.head.ID, 0, fmt.Sprintf("the journal updates %d of its items, %d are there", len(news.updated), replaced))
	}
	return err
}

func (s *Store) putItem(w *fileWriter, at place) error {
	body, err := s.bodyAt(at)
	if err == nil {
		w.buf, err = appendItem(w.buf, body, at.seq)
	}
	w.spill()
	return err
}
