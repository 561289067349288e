package jsonfile

import (
	"fmt"
	"hash/crc32"
	"slices"

	"agentd/persistence"
	"agentd/persistence/jsonfile/diskfs"
)

// segment is one file of the journal.
type segment struct {
	// Set at construction.
	number uint64
	path   string
	// file is nil when the segment is void, or is being removed.
	file diskfs.File
	// mapped reads a segment that nobody appends to any more.
	mapped lazyMapping
	// void says that the segment was given up while it was made. It is only waiting to be removed.
	void bool

	// Owned by the goroutine that commits, and by Open before there is one.

	// size is the end of what was acknowledged or recovered.
	size int64
	// filled is the end of the file: zeros lie between size and it.
	filled int64
	// proven is up to where the bytes are known to be durable. It is below size only in a segment that was
	// recovered after a crash.
	proven int64

	// Guarded by index.mu.

	// live is how many spans lie in the segment.
	live int
	// pins is how many readers use it.
	pins int
}

// span is where one append lies. It is all that is kept in memory of an append that is not folded.
type span struct {
	seg *segment
	// first is the number of the first record.
	first uint64
	off   int64
	size  uint32
	count uint32
}

// last is the number of the last record.
func (s *span) last() uint64 { return s.first + uint64(s.count) - 1 }

// read appends the span's lines to buf, and calls visit for each record. The frames lie in the result.
func (s *span) read(buf []byte, table *crc32.Table, visit func(frame) error) ([]byte, error) {
	start := len(buf)
	buf = slices.Grow(buf, int(s.size))[:start+int(s.size)]
	lines := buf[start:]
	if _, err := s.seg.reader().ReadAt(lines, s.off); err != nil {
		return buf, unavailable(fmt.Sprintf("reading %q at %d", s.seg.path, s.off), err)
	}
	for want := s.first; len(lines) > 0; want++ {
		c := cursor{rest: lines}
		line := c.until('\n')
		if c.failed {
			return buf, s.damage("a record is cut short")
		}
		lines = c.rest
		f, err := parseFrame(line, table)
		if err != nil {
			return buf, s.damage(err.Error())
		}
		if f.seq != want {
			return buf, s.damage(fmt.Sprintf("record %d stands where %d was written", f.seq, want))
		}
		if err := visit(f); err != nil {
			return buf, err
		}
	}
	return buf, nil
}

func (s *span) damage(reason string) error {
	return &persistence.CorruptError{File: s.seg.path, Reason: fmt.Sprintf("at byte %d: %s; stop agentd and run: agentd repair", s.off, reason)}
}
