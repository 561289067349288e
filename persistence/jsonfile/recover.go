package jsonfile

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/internal/ledger"
)

// recover makes the index from what lies in the journal.
func (s *Store) recover() error {
	if err := s.paths.make(s.fsys); err != nil {
		return err
	}
	if err := s.cleanTemp(); err != nil {
		return err
	}
	chain, err := s.chain()
	if err != nil {
		return err
	}
	for i, link := range chain {
		if err := s.recoverSegment(link, i == len(chain)-1); err != nil {
			return err
		}
	}
	// The last process may have put snapshots in their places whose names are not durable, and what they hold is passed over.
	s.journal.replaced.Store(len(chain) > 0)
	s.summarise()
	s.prove(chain)
	return nil
}

// prove makes durable what was found and may not be: from now on it is shown, and must stay. Bytes that a failed sync left are seen until the
// power goes, and no later sync helps. A disk that cannot take it now is asked again by the next commit.
func (s *Store) prove(chain []link) {
	if len(chain) == 0 {
		return
	}
	if last := chain[len(chain)-1].seg; last.proven < last.size {
		_, _, _ = s.journal.begin(nil)
	}
}

// cleanTemp removes what was being written when the last process ended.
func (s *Store) cleanTemp() error {
	entries, err := s.fsys.ReadDir(s.paths.temp)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		path := filepath.Join(s.paths.temp, entry.Name())
		if err := s.fsys.Remove(path); err != nil {
			return err
		}
		s.report.Cleaned = append(s.report.Cleaned, path)
	}
	return nil
}

// link is a segment that counts, and up to where.
type link struct {
	seg    *segment
	header header
	// valid is where the segment ends for the one behind it; of the last one everything may count.
	valid int64
}

// chain finds the segments that count: the newest, the one that it names as its previous one, and so on. The ones between
// were given up, and are removed. Oldest first.
func (s *Store) chain() ([]link, error) {
	numbers, err := s.segmentNumbers()
	if err != nil || len(numbers) == 0 {
		return nil, err
	}
	s.journal.next = numbers[len(numbers)-1] + 1
	var links []link
	want, valid := numbers[len(numbers)-1], int64(-1)
	var givenUp []uint64
	for _, number := range slices.Backward(numbers) {
		if number > want {
			givenUp = append(givenUp, number)
			continue
		}
		if number < want {
			return nil, s.abort(links, &persistence.CorruptError{
				File:   s.paths.segment(want),
				Reason: fmt.Sprintf("the segment is missing, although the older %d is there", number),
			})
		}
		next, err := s.openLink(number, valid)
		if err != nil {
			return nil, s.abort(links, err)
		}
		links = append(links, next)
		want, valid = next.header.Previous, next.header.Valid
	}
	for _, number := range givenUp {
		path := s.paths.segment(number)
		if err := s.fsys.Remove(path); err != nil {
			return nil, s.abort(links, err)
		}
		s.report.Cleaned = append(s.report.Cleaned, path)
	}
	slices.Reverse(links)
	for _, l := range links {
		s.index.segs = append(s.index.segs, l.seg)
	}
	return links, nil
}

// abort closes segments that are not in the index yet.
func (s *Store) abort(links []link, err error) error {
	for _, l := range links {
		err = errors.Join(err, l.seg.file.Close())
	}
	return err
}

func (s *Store) segmentNumbers() ([]uint64, error) {
	entries, err := s.fsys.ReadDir(s.paths.journal)
	if err != nil {
		return nil, err
	}
	var numbers []uint64
	for _, entry := range entries {
		if number, ok := segmentNumber(entry.Name()); ok {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// openLink opens a segment and reads its header. A valid of -1 means that it is the last one.
func (s *Store) openLink(number uint64, valid int64) (link, error) {
	seg := &segment{number: number, path: s.paths.segment(number)}
	file, err := s.fsys.OpenFile(seg.path, os.O_RDONLY, 0)
	if err != nil {
		return link{}, err
	}
	seg.file = file
	info, err := file.Stat()
	if err == nil {
		seg.filled = info.Size()
		l := link{seg: seg, valid: valid}
		var bad *badLine
		l.header, bad, err = newScanner(file, seg.filled, s.table).header()
		switch {
		case err != nil:
			err = fmt.Errorf("%s: %w", seg.path, err)
		case bad != nil:
			err = damaged(seg.path, bad)
		case l.header.Segment != number:
			err = damaged(seg.path, &badLine{line: 1, reason: fmt.Sprintf("the file holds segment %d", l.header.Segment)})
		case valid > seg.filled:
			err = damaged(seg.path, &badLine{reason: fmt.Sprintf("the file has %d bytes, %d were written", seg.filled, valid)})
		default:
			return l, nil
		}
	}
	return link{}, errors.Join(err, file.Close())
}

// recoverSegment reads the appends of a segment.
func (s *Store) recoverSegment(l link, last bool) error {
	limit := l.valid
	if last {
		limit = l.seg.filled
	}
	scan := newScanner(l.seg.file, limit, s.table)
	if _, bad, err := scan.header(); err != nil {
		return fmt.Errorf("%s: %w", l.seg.path, err)
	} else if bad != nil {
		return damaged(l.seg.path, bad)
	}
	for {
		l.seg.size = scan.off
		got, bad, err := scan.append()
		switch {
		case errors.Is(err, errEnd):
			l.seg.proven = min(scan.proven, l.seg.size)
			return nil
		case err != nil:
			return fmt.Errorf("reading %s: %w", l.seg.path, err)
		case bad != nil && !last:
			return damaged(l.seg.path, bad)
		case bad != nil:
			l.seg.proven = min(scan.proven, l.seg.size)
			return s.cutTail(l, bad, scan.proven)
		}
		s.take(l.seg, &got)
	}
}

// cutTail decides what a bad line in the last segment is: the end of a commit that a crash tore, which nobody was told is stored, or damage.
func (s *Store) cutTail(l link, bad *badLine, proven int64) error {
	t, err := readTail(l.seg.file, bad.off, l.seg.filled, s.table)
	if err != nil {
		return fmt.Errorf("reading %s: %w", l.seg.path, err)
	}
	if t.proof > 0 || bad.off < proven {
		return damaged(l.seg.path, bad)
	}
	if t.torn > 0 {
		s.report.TornFile, s.report.TornBytes = l.seg.path, t.torn
	}
	return nil
}

// take adds an append to the index, unless the snapshot has it.
func (s *Store) take(seg *segment, got *found) {
	key := s.paths.key(messages.SessionID(got.session))
	sess := s.index.sessions[key]
	if sess == nil {
		sess = s.meet(messages.SessionID(got.session), got.first)
		s.index.sessions[key] = sess
	}
	last := got.first + uint64(got.count) - 1
	if last <= sess.ledger.LastSeq && sess.bad == nil {
		return
	}
	if sess.bad == nil && got.first > sess.ledger.LastSeq+1 {
		sess.bad = &persistence.CorruptError{
			Session: sess.id, File: seg.path, Line: got.line,
			Reason: fmt.Sprintf("record %d follows %d; stop agentd and run: agentd repair", got.first, sess.ledger.LastSeq),
		}
	}
	if sess.bad == nil && got.strange != "" {
		sess.bad = fmt.Errorf("%s:%d: %w: the kind %q of a record is unknown; use the version of agentd that wrote it",
			seg.path, got.line, persistence.ErrSchema, got.strange)
	}
	sess.note(span{seg: seg, first: got.first, off: got.off, size: uint32(got.size), count: got.count}, got.effects)
	sess.ledger.LastSeq = last
	if got.epoch > 0 {
		sess.ledger.Epoch, sess.ledger.Claimed = got.epoch, got.epoch
	}
	sess.ledger.Deleted = got.deleted
}

// meet makes the session that the journal names for the first time.
func (s *Store) meet(id messages.SessionID, first uint64) *session {
	sess := &session{id: id}
	if err := validateID(id); err != nil {
		sess.bad = err
		return sess
	}
	snap, err := s.openSnapshot(id)
	switch {
	case err == nil:
		sess.ledger = ledger.Session{LastSeq: snap.head.LastSeq, Epoch: snap.head.Epoch, Claimed: snap.head.Epoch}
		sess.running = snap.head.Status == messages.SessionRunning
		sess.snapshotBytes = snap.size
		snap.close()
	case !isNotFound(err):
		sess.bad = err
	case first > 1:
		// The snapshot of a deleted session goes before the segments that name it.
		if _, err := s.fsys.Stat(s.paths.tombstone(id)); err == nil {
			sess.ledger = ledger.Session{LastSeq: 1<<64 - 1, Deleted: true}
			return sess
		}
		sess.bad = &persistence.CorruptError{
			Session: id, File: s.paths.snapshot(id),
			Reason: fmt.Sprintf("the snapshot is missing, and the journal begins with record %d; stop agentd and run: agentd repair", first),
		}
	}
	return sess
}

// summarise forgets the sessions that are folded, and fills the report.
func (s *Store) summarise() {
	for key, sess := range s.index.sessions {
		if len(sess.spans) == 0 && sess.bad == nil {
			delete(s.index.sessions, key)
			continue
		}
		s.report.Sessions++
		for i := range sess.spans {
			s.report.Records += int(sess.spans[i].count)
		}
		if sess.running {
			s.report.Running = append(s.report.Running, sess.id)
		}
		if sess.bad != nil {
			s.report.Bad = append(s.report.Bad, persistence.BadSession{ID: sess.id, Err: sess.bad})
		}
	}
	slices.Sort(s.report.Running)
	slices.SortFunc(s.report.Bad, func(a, b persistence.BadSession) int { return cmp.Compare(a.ID, b.ID) })
}
