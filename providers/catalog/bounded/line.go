package bounded

import (
	"bytes"
	"errors"
	"io"
	"iter"
)

const (
	// MaxLineBytes is the longest line that is handed out whole. Of a longer one the first MaxLineBytes bytes are
	// handed out, marked as torn.
	MaxLineBytes = 1 << 20
	firstChunk   = 16 << 10
	maxChunk     = 256 << 10
	wholeWindow  = 64 << 10
)

// Line is one line of a text file, without its end, without surrounding blanks and NUL bytes, never empty.
type Line struct {
	// Data is valid until the next step of the iteration. It may hold invalid UTF-8.
	Data []byte
	// Offset is where the line starts in the file, in bytes.
	Offset int64
	// Torn is true when the end of the line is missing: the line is longer than [MaxLineBytes] or than the
	// window, or the file ends within it. What is there is still worth picking from.
	Torn bool
}

// Head iterates over the lines in the first limit bytes of the file, in order. It reads in growing steps, so that
// leaving the loop early saves the rest. The line that the window cuts is handed out torn. A read error ends the
// iteration and is its last value.
func (f *File) Head(limit int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		end := min(limit, f.Size)
		s := lineScanner{src: io.NewSectionReader(f, 0, end), whole: end == f.Size, buf: f.borrow(firstChunk), step: firstStep(end)}
		s.run(yield)
		f.giveBack(s.buf)
	}
}

// Lines iterates over the lines of a stream, for files that cannot be read at an offset, such as compressed ones.
// At most limit bytes are read; when there are more, the last line is torn. A read error ends the iteration and is
// its last value.
func Lines(r io.Reader, limit int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		s := lineScanner{src: io.LimitReader(r, limit), whole: true, limit: limit, buf: make([]byte, firstChunk), step: firstChunk}
		s.run(yield)
	}
}

// lineScanner cuts a stream into lines. buf[lo:hi] is read and not yet handed out, and starts at offset base.
type lineScanner struct {
	src    io.Reader
	whole  bool  // the stream ends where the file ends
	limit  int64 // when set, a stream of that many bytes may have been cut
	buf    []byte
	lo, hi int
	base   int64
	step   int  // how much to read next
	drop   bool // the start of the present line was handed out as torn
	eof    bool
}

func (s *lineScanner) run(yield func(Line, error) bool) {
	for {
		if i := bytes.IndexByte(s.buf[s.lo:s.hi], '\n'); i >= 0 {
			if !s.hand(s.buf[s.lo:s.lo+i], false, yield) {
				return
			}
			s.advance(i + 1)
			s.drop = false
			continue
		}
		if s.eof {
			s.last(yield)
			return
		}
		if s.hi-s.lo >= MaxLineBytes {
			if !s.hand(s.buf[s.lo:s.hi], true, yield) {
				return
			}
			s.advance(s.hi - s.lo)
			s.drop = true
		}
		if err := s.fill(); err != nil {
			yield(Line{Offset: s.base}, err)
			return
		}
	}
}

// last hands out what stands behind the last line end.
func (s *lineScanner) last(yield func(Line, error) bool) {
	rest := s.buf[s.lo:s.hi]
	cut := !s.whole || (s.limit > 0 && s.base+int64(len(rest)) >= s.limit)
	s.hand(rest, cut || !closed(rest), yield)
}

func (s *lineScanner) hand(raw []byte, torn bool, yield func(Line, error) bool) bool {
	if s.drop {
		return true
	}
	data := raw
	if s.base == 0 {
		data = trimBOM(data)
	}
	data = trimBlank(data)
	if len(data) == 0 {
		return true
	}
	if len(data) > MaxLineBytes {
		data, torn = data[:MaxLineBytes], true
	}
	return yield(Line{Data: data, Offset: s.base, Torn: torn}, nil)
}

func (s *lineScanner) advance(n int) {
	s.lo += n
	s.base += int64(n)
}

// fill reads more, moving what is left to the front and growing the buffer when that is not enough.
func (s *lineScanner) fill() error {
	if s.lo > 0 {
		s.hi = copy(s.buf, s.buf[s.lo:s.hi])
		s.lo = 0
	}
	if s.hi+s.step > len(s.buf) {
		grown := make([]byte, s.hi+s.step)
		copy(grown, s.buf[:s.hi])
		s.buf = grown
	}
	n, err := s.src.Read(s.buf[s.hi : s.hi+s.step])
	s.hi += n
	s.step = min(2*s.step, maxChunk)
	if errors.Is(err, io.EOF) {
		s.eof, err = true, nil
	}
	return err
}

// firstStep reads a small window at once and starts small in a large one.
func firstStep(limit int64) int {
	if limit <= wholeWindow {
		return max(int(limit), 1)
	}
	return firstChunk
}

// closed reports whether a line without an end looks complete.
func closed(b []byte) bool {
	b = trimBlank(b)
	return len(b) > 0 && (b[len(b)-1] == '}' || b[len(b)-1] == ']')
}

func trimBOM(b []byte) []byte { return bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")) }

// trimBlank also drops NUL bytes: a crash can leave a hole of them in front of a good record.
func trimBlank(b []byte) []byte {
	for len(b) > 0 && b[0] <= ' ' {
		b = b[1:]
	}
	for len(b) > 0 && b[len(b)-1] <= ' ' {
		b = b[:len(b)-1]
	}
	return b
}
