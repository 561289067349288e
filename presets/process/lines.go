package process

import "bytes"

// DefaultMaxLineBytes is the longest line that [Lines] passes on whole if nothing else was asked for.
const DefaultMaxLineBytes = 1 << 20

// Line is one line of output.
type Line struct {
	// Text is the line without its end; it is only valid during the call.
	Text []byte
	// Cut is how many bytes at the end of the line were left out, because it was longer than allowed.
	Cut int
}

// Lines is a writer that splits what is written into lines and passes each to a function, on the goroutine that writes.
// Its zero value is not usable; make one with [NewLines]. It is not safe for use by several goroutines.
type Lines struct {
	max  int
	emit func(Line)
	buf  []byte
	cut  int
	open bool // a line has begun, even if it is empty so far
}

// NewLines returns a writer that calls emit for each line, without "\n" or "\r\n". A line over maxBytes is cut and the
// cut counted; zero means [DefaultMaxLineBytes].
func NewLines(maxBytes int, emit func(Line)) *Lines {
	if maxBytes <= 0 {
		maxBytes = DefaultMaxLineBytes
	}
	return &Lines{max: maxBytes, emit: emit}
}

// Write takes all of p and never fails.
func (l *Lines) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			l.keep(p)
			break
		}
		l.keep(p[:i])
		l.pass()
		p = p[i+1:]
	}
	return n, nil
}

// Flush passes on a last line that has no line end. It never fails.
func (l *Lines) Flush() error {
	if l.open {
		l.pass()
	}
	return nil
}

func (l *Lines) keep(p []byte) {
	l.open = true
	take := min(l.max-len(l.buf), len(p))
	l.buf = append(l.buf, p[:take]...)
	l.cut += len(p) - take
}

func (l *Lines) pass() {
	text := l.buf
	if l.cut == 0 {
		text = bytes.TrimSuffix(text, []byte{'\r'})
	}
	l.emit(Line{Text: text, Cut: l.cut})
	l.buf, l.cut, l.open = l.buf[:0], 0, false
}
