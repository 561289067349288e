package jsonfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"

	"github.com/tidwall/gjson"

	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/jsonfile/diskfs"
)

// found is one whole append that a scan came upon.
type found struct {
	// session lies in the scanner's buffer.
	session []byte
	first   uint64
	count   uint32
	off     int64
	size    int64
	line    int
	effects
}

// effects is what the records of an append do to what is kept of a session in memory.
type effects struct {
	// epoch is the one that is claimed, or 0.
	epoch uint64
	// turn is 1 when the last change of a turn starts one, -1 when it ends one.
	turn    int
	deleted bool
	// strange is a kind that this version does not know, or empty.
	strange messages.ChangeKind
}

// note adds the effect of one record.
func (e *effects) note(kind messages.ChangeKind, body []byte) {
	switch kind {
	case messages.KindCreated, messages.KindOpened:
		e.epoch = gjson.GetBytes(body, "epoch").Uint()
	case messages.KindTurnStarted:
		e.turn = 1
	case messages.KindTurnEnded:
		e.turn = -1
	case messages.KindDeleted:
		e.turn, e.deleted = -1, true
	case messages.KindItem, messages.KindItemUpdated, messages.KindData:
	default:
		e.strange = kind
	}
}

// badLine is a line that is not what was written.
type badLine struct {
	line   int
	off    int64
	reason string
}

// scanner reads the lines of a segment.
type scanner struct {
	*lineReader
	table *crc32.Table

	// open is the append of owner of which openMore further records must follow.
	open     found
	openMore uint64
	owner    []byte
	// proven is up to where the bytes are known to have been durable.
	proven int64
	// resume is where the line behind the last bad one begins.
	resume int64
}

func newScanner(file io.ReaderAt, limit int64, table *crc32.Table) *scanner {
	return &scanner{lineReader: newLineReader(file, 0, limit), table: table}
}

// header reads the first line.
func (s *scanner) header() (header, *badLine, error) {
	text, err := s.next()
	switch {
	case errors.Is(err, errEnd):
		return header{}, &badLine{line: 1, reason: "the file is empty"}, nil
	case errors.Is(err, errUnended):
		return header{}, &badLine{line: 1, reason: err.Error()}, nil
	case err != nil:
		return header{}, nil, err
	}
	h, err := parseHeader(text, s.table)
	if errors.Is(err, persistence.ErrSchema) {
		return header{}, nil, err
	}
	if err != nil {
		return header{}, &badLine{line: 1, reason: err.Error()}, nil //nolint:nilerr // The line is bad, the reading is not.
	}
	s.proven = s.off + h.Carried
	return h, nil, nil
}

// append reads the next whole append. A badLine ends what can be trusted; its place is that of the append's first line.
func (s *scanner) append() (found, *badLine, error) {
	for {
		start, line := s.off, s.line+1
		text, err := s.next()
		s.resume = s.off
		switch {
		case errors.Is(err, errEnd) && s.openMore > 0:
			return found{}, s.cut("the append before the end lacks records"), nil
		case errors.Is(err, errUnended):
			return found{}, s.bad(&badLine{line: line, off: start, reason: err.Error()}), nil
		case err != nil:
			return found{}, nil, err
		}
		f, err := parseFrame(text, s.table)
		if err != nil {
			return found{}, s.bad(&badLine{line: line, off: start, reason: err.Error()}), nil //nolint:nilerr // The line is bad, the reading is not.
		}
		if f.synced == start {
			s.proven = start
		}
		if s.openMore > 0 && (f.seq != s.open.first+uint64(s.open.count) || f.more != s.openMore-1 || !bytes.Equal(f.session, s.owner)) {
			s.resume = start
			return found{}, s.cut("the append lacks records"), nil
		}
		if s.openMore == 0 {
			s.open = found{first: f.seq, off: start, line: line}
			s.owner = append(s.owner[:0], f.session...)
		}
		s.open.count++
		s.open.note(kindOf(f.kind), f.body)
		s.openMore = f.more
		if f.more == 0 {
			s.open.size, s.open.session = s.off-s.open.off, s.owner
			return s.open, nil, nil
		}
	}
}

// bad moves a bad line to the beginning of the append that it breaks.
func (s *scanner) bad(bad *badLine) *badLine {
	if s.openMore > 0 {
		bad.off = s.open.off
	}
	return bad
}

func (s *scanner) cut(reason string) *badLine {
	return &badLine{line: s.open.line, off: s.open.off, reason: reason}
}

// skip goes on behind the last bad line, or with the line that showed that an append before it lacks records.
func (s *scanner) skip(file io.ReaderAt) {
	line := s.line
	if s.resume < s.off {
		line--
	}
	s.lineReader = newLineReader(file, s.resume, s.limit)
	s.line = line
	s.openMore = 0
}

// tail is what stands behind the last good append of the last segment.
type tail struct {
	// torn is how many bytes were written there, not counting zeros at the end.
	torn int64
	// proof is where a frame stands that proves that what is before it was durable, or 0.
	proof int64
}

// readTail looks through what follows a bad line.
func readTail(file diskfs.File, from, size int64, table *crc32.Table) (tail, error) {
	const chunk, overlap = 1 << 20, 64
	var t tail
	buf := make([]byte, min(chunk, size-from))
	for at := from; at < size; at += chunk - overlap {
		piece := buf[:min(chunk, size-at)]
		if _, err := file.ReadAt(piece, at); err != nil {
			return t, err
		}
		if i := lastNonZero(piece); i >= 0 {
			t.torn = at + int64(i) + 1 - from
		}
		proof, err := findProof(file, proofParams{piece: piece, at: at, from: from, size: size}, table)
		if err != nil || proof > 0 {
			t.proof = proof
			return t, err
		}
	}
	return t, nil
}

func lastNonZero(piece []byte) int { return len(bytes.TrimRight(piece, "\x00")) - 1 }

type proofParams struct {
	piece          []byte
	at, from, size int64
}

// findProof looks for a good frame that says that more was durable than what stands before the bad line. It need not stand where it says:
// bytes may have been put in or taken out.
func findProof(file diskfs.File, p proofParams, table *crc32.Table) (int64, error) {
	for i := 0; ; {
		j := bytes.Index(p.piece[i:], []byte(syncedPrefix))
		if j < 0 {
			return 0, nil
		}
		i += j + len(syncedPrefix)
		off := p.at + int64(i-len(syncedPrefix)-jsonOffset)
		digits, _, _ := bytes.Cut(p.piece[i:min(i+20, len(p.piece))], []byte(","))
		if n, err := strconv.ParseInt(string(digits), 10, 64); err != nil || n < p.from || off <= p.from {
			continue
		}
		good, err := goodFrameAt(file, off, p.size, table)
		if err != nil || good {
			return off, err
		}
	}
}

// goodFrameAt reports whether a whole frame stands at an offset.
func goodFrameAt(file diskfs.File, off, size int64, table *crc32.Table) (bool, error) {
	reader := bufio.NewReader(io.NewSectionReader(file, off, min(size-off, maxFrameBytes)))
	line, err := reader.ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = parseFrame(line[:len(line)-1], table)
	return err == nil, nil
}

// damaged makes the error of a bad line.
func damaged(path string, bad *badLine) error {
	return &persistence.CorruptError{File: path, Line: bad.line, Reason: fmt.Sprintf("%s; stop agentd and run: agentd repair", bad.reason)}
}
