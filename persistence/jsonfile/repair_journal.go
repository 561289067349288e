package jsonfile

import (
	"errors"
	"fmt"
	"os"

	"agentd/messages"
	"agentd/persistence"
)

// readJournal reads what is good in every segment that counts.
func (r *repair) readJournal() error {
	numbers, err := r.segmentNumbers()
	if err != nil {
		return err
	}
	headers := make(map[uint64]header)
	limits := make(map[uint64]int64)
	for _, number := range numbers {
		seg, h, err := r.openDamaged(number)
		if err != nil {
			return err
		}
		r.segments = append(r.segments, seg)
		r.index.segs = append(r.index.segs, seg)
		headers[number] = h
	}
	for _, h := range headers {
		if h.Previous > 0 {
			limits[h.Previous] = h.Valid
		}
	}
	for i, seg := range r.segments {
		if voided(headers, seg.number) {
			continue
		}
		if h := headers[seg.number]; i > 0 && h.Previous > 0 && headers[h.Previous].Segment == 0 {
			r.damaged = true
		}
		limit, sealed := limits[seg.number]
		if !sealed || limit > seg.filled {
			limit = seg.filled
		}
		if err := r.readSegment(seg, limit, !sealed); err != nil {
			return err
		}
	}
	return nil
}

// voided reports whether a later segment passes one over.
func voided(headers map[uint64]header, number uint64) bool {
	for _, h := range headers {
		if h.Previous < number && number < h.Segment {
			return true
		}
	}
	return false
}

// openDamaged opens a segment. A header that cannot be read is a bad line, and comes back empty.
func (r *repair) openDamaged(number uint64) (*segment, header, error) {
	seg := &segment{number: number, path: r.paths.segment(number)}
	file, err := r.fsys.OpenFile(seg.path, os.O_RDONLY, 0)
	if err != nil {
		return nil, header{}, err
	}
	seg.file = file
	info, err := file.Stat()
	if err != nil {
		return nil, header{}, errors.Join(err, file.Close())
	}
	seg.filled = info.Size()
	h, bad, err := newScanner(file, seg.filled, r.table).header()
	if err == nil && bad == nil && h.Segment != number {
		bad = &badLine{line: 1, reason: fmt.Sprintf("the file holds segment %d", h.Segment)}
	}
	if err != nil {
		return nil, header{}, errors.Join(fmt.Errorf("%s: %w", seg.path, err), file.Close())
	}
	if bad != nil {
		r.damaged = true
		h = header{}
	}
	return seg, h, nil
}

// readSegment takes the good appends, and puts the bad lines aside. The end of the last segment may be torn, which is no damage.
func (r *repair) readSegment(seg *segment, limit int64, last bool) error {
	scan := newScanner(seg.file, limit, r.table)
	_, bad, err := scan.header()
	if err != nil {
		return err
	}
	scan.resume = scan.off
	if bad != nil && seg.filled > 0 {
		if err := r.putAside(seg, bad, scan.off); err != nil {
			return err
		}
	}
	for {
		got, bad, err := scan.append()
		switch {
		case errors.Is(err, errEnd):
			return nil
		case err != nil:
			return fmt.Errorf("reading %s: %w", seg.path, err)
		case bad != nil:
			if torn, err := r.torn(seg, bad, scan, last); torn || err != nil {
				return err
			}
			r.damaged = true
			if err := r.putAside(seg, bad, scan.resume); err != nil {
				return err
			}
			scan.skip(seg.file)
			continue
		}
		if err := r.keep(seg, &got); err != nil {
			return err
		}
	}
}

// torn reports whether a bad line is only the end that a crash tore.
func (r *repair) torn(seg *segment, bad *badLine, scan *scanner, last bool) (bool, error) {
	if !last || bad.off < scan.proven {
		return false, nil
	}
	t, err := readTail(seg.file, bad.off, seg.filled, r.table)
	return t.proof == 0, err
}

// keep notes a good append.
func (r *repair) keep(seg *segment, got *found) error {
	if got.strange != "" {
		return fmt.Errorf("%s:%d: %w: the kind %q of a record is unknown: use the version of agentd that wrote it",
			seg.path, got.line, persistence.ErrSchema, got.strange)
	}
	id := messages.SessionID(got.session)
	if err := validateID(id); err != nil {
		r.damaged = true
		return r.putAside(seg, &badLine{line: got.line, off: got.off, reason: err.Error()}, got.off+got.size)
	}
	r.report.Records += int(got.count)
	sess := r.session(id)
	// What a later segment numbers again was never acknowledged in the one before.
	for n := len(sess.spans); n > 0 && sess.spans[n-1].first >= got.first; n-- {
		sess.spans = sess.spans[:n-1]
	}
	sess.spans = append(sess.spans, span{seg: seg, first: got.first, off: got.off, size: uint32(got.size), count: got.count})
	return nil
}

// putAside copies a bad piece of a segment, with a line that says where it was.
func (r *repair) putAside(seg *segment, bad *badLine, end int64) error {
	piece := make([]byte, max(0, end-bad.off))
	if _, err := seg.file.ReadAt(piece, bad.off); err != nil && len(piece) > 0 {
		return fmt.Errorf("reading %s: %w", seg.path, err)
	}
	r.report.BadLines = append(r.report.BadLines, BadLine{File: seg.path, Line: bad.line, Bytes: int64(len(piece)), Reason: bad.reason})
	r.pieces = fmt.Appendf(r.pieces, "# %s:%d, byte %d, %d bytes: %s\n", seg.path, bad.line, bad.off, len(piece), bad.reason)
	r.pieces = append(append(r.pieces, piece...), '\n')
	return nil
}
