package bounded

import (
	"bytes"
	"io"
	"iter"
)

// Tail iterates over the lines in the last limit bytes of the file, newest first. It reads in growing steps, so that
// leaving the loop early saves the rest. A line that starts before the window is left out. Of a line longer than
// [MaxLineBytes] the start is handed out, torn. A read error ends the iteration and is its last value.
func (f *File) Tail(limit int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		// One byte more than the window tells whether a line starts at its edge.
		t := tailScanner{f: f, floor: max(0, f.Size-limit-1), start: f.Size, buf: f.borrow(2 * firstChunk), first: true}
		t.step = firstStep(f.Size - t.floor)
		t.lo, t.hi = len(t.buf), len(t.buf)
		t.run(yield)
		f.giveBack(t.buf)
	}
}

// tailScanner cuts a file into lines from its end. buf[lo:hi] is read and not yet handed out; it starts at offset
// start, and everything behind it was handed out.
type tailScanner struct {
	f      *File
	floor  int64
	start  int64
	buf    []byte
	lo, hi int
	step   int   // how much to read next
	first  bool  // the line at hi is the last one of the file
	long   int64 // bytes already dropped from the end of the present, very long line
}

func (t *tailScanner) run(yield func(Line, error) bool) {
	for {
		i := lastLineEnd(t.buf[t.lo:t.hi])
		atFloor := t.start == t.floor
		if i < 0 && !atFloor {
			if err := t.fill(); err != nil {
				yield(Line{Offset: t.start}, err)
				return
			}
			continue
		}
		if i < 0 && t.floor > 0 {
			return
		}
		from := t.lo + i + 1
		if ok, err := t.hand(from, yield); err != nil {
			yield(Line{Offset: t.start}, err)
			return
		} else if !ok || i < 0 {
			return
		}
		t.hi, t.long = from-1, 0
	}
}

// hand hands out the line that starts at buf[from].
func (t *tailScanner) hand(from int, yield func(Line, error) bool) (bool, error) {
	offset := t.start + int64(from-t.lo)
	data := t.buf[from:t.hi]
	last := t.first && t.long == 0
	if len(data) > 0 || t.long > 0 {
		t.first = false
	}
	torn := last && len(data) > 0 && !closed(data) && offset+int64(len(data)) == t.f.Size
	if t.long > 0 {
		buf := make([]byte, MaxLineBytes)
		n, err := t.f.ReadAt(buf, offset)
		if err != nil && err != io.EOF { //nolint:errorlint // io.ReaderAt returns io.EOF itself.
			return false, err
		}
		data, torn = buf[:n], true
	}
	if offset == 0 {
		data = trimBOM(data)
	}
	if data = trimBlank(data); len(data) == 0 {
		return true, nil
	}
	if len(data) > MaxLineBytes {
		data, torn = data[:MaxLineBytes], true
	}
	return yield(Line{Data: data, Offset: offset, Torn: torn}, nil), nil
}

// fill reads the step in front of what is there.
func (t *tailScanner) fill() error {
	have := t.hi - t.lo
	if have >= MaxLineBytes {
		// Only the start of this line will be handed out, and it is read when it is found.
		t.long += int64(have)
		t.lo, t.hi, have = len(t.buf), len(t.buf), 0
	}
	step := int(min(t.start-t.floor, int64(t.step)))
	t.step = min(2*t.step, maxChunk)
	if t.lo < step {
		size := max(len(t.buf), have+step)
		if size > len(t.buf) {
			size = max(size, 2*len(t.buf))
		}
		grown := t.buf
		if size > len(t.buf) {
			grown = make([]byte, size)
		}
		copy(grown[size-have:], t.buf[t.lo:t.hi])
		t.buf, t.lo, t.hi = grown, size-have, size
	}
	n, err := t.f.ReadAt(t.buf[t.lo-step:t.lo], t.start-int64(step))
	if n < step {
		if err == nil || err == io.EOF { //nolint:errorlint // io.ReaderAt returns io.EOF itself.
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	t.lo -= step
	t.start -= int64(step)
	return nil
}

// lastLineEnd is the index of the last line end. The standard library looks for it byte by byte; forwards it is many
// times as fast, so this one goes backwards in blocks.
func lastLineEnd(b []byte) int {
	const block = 512
	for end := len(b); end > 0; end -= block {
		from := max(0, end-block)
		if bytes.IndexByte(b[from:end], '\n') >= 0 {
			return from + bytes.LastIndexByte(b[from:end], '\n')
		}
	}
	return -1
}
