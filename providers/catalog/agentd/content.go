package agentd

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"path/filepath"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

const (
	// maxSnapshotBytes bounds what is read of a snapshot.
	maxSnapshotBytes = 4 << 30
	// maxTextBytes bounds the text of a transcript that is kept.
	maxTextBytes = 64 << 20
)

// Records implements [catalog.ContentReader].
func (Reader) Records(ctx context.Context, req catalog.ContentRequest) iter.Seq2[catalog.Record, error] {
	return transcript.Records(ctx, req, func() ([]catalog.Record, error) {
		s := &stream{words: req.Words, places: map[string]int{}}
		dir := filepath.Dir(req.Session.StoreFile)
		if filepath.Base(dir) == journalDir {
			dir = filepath.Dir(dir)
		}
		err := s.snapshot(ctx, filepath.Join(dir, req.Session.ID+".json"))
		for _, e := range parseExtents(req.Session.Ref) {
			if err == nil {
				err = s.segment(ctx, filepath.Join(dir, journalDir, e.segment), e, req.Session.ID)
			}
		}
		return s.records, err
	})
}

// stream collects the items of a session.
type stream struct {
	words   []string
	records []catalog.Record
	// places finds the record of an item. A record without text stands for an item that says nothing, or was dropped.
	places  map[string]int
	size    int
	dropped int
	lastSeq uint64
}

// snapshot reads the items of a snapshot. One that is not there has none.
func (s *stream) snapshot(ctx context.Context, path string) error {
	f, err := bounded.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for line, err := range f.Head(maxSnapshotBytes) {
		if err == nil {
			err = ctx.Err()
		}
		switch {
		case err != nil:
			return err
		case line.Offset == 0:
			s.lastSeq = decodeHead(line.Data).lastSeq
		default:
			s.take(line, decodeItem(line.Data))
		}
	}
	return nil
}

// segment reads the records that the snapshot lacks. A segment that is gone meanwhile was folded.
func (s *stream) segment(ctx context.Context, path string, e extent, id string) error {
	f, err := bounded.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	// One byte more than the records, so that the last one has its line end.
	for line, err := range bounded.Lines(io.NewSectionReader(f, e.from, e.to-e.from+1), e.to-e.from+2) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		fr, ok := decodeFrame(line)
		if !ok || fr.seq <= s.lastSeq || !fr.session.Equal(id) {
			continue
		}
		if i, ok := fr.item(); ok {
			s.take(line, i)
		}
	}
	return nil
}

// take takes an item, or a newer state of one that is there.
func (s *stream) take(line bounded.Line, i item) {
	rec := i.record()
	rec.Cut = line.Torn
	at, known := s.places[rec.Cite]
	// An item of which an older state was left out comes in when it has a word by now, and the other way round.
	if rec.Cite == "" || !bounded.ContainsAnyFold(line.Data, s.words) {
		rec.Text = ""
	}
	if !known {
		if rec.Text == "" {
			return
		}
		at = len(s.records)
		s.places[rec.Cite] = at
		s.records = append(s.records, catalog.Record{})
	}
	s.size += len(rec.Text) - len(s.records[at].Text)
	s.records[at] = rec
	for s.size > maxTextBytes && s.dropped < len(s.records)-1 {
		s.size -= len(s.records[s.dropped].Text)
		s.records[s.dropped].Text = ""
		s.dropped++
	}
}
