package workspaceread

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

// sniffBytes is how much of a file is looked at to tell text from binary.
const sniffBytes = 8 << 10

// maxLineBytes is how much of one line is kept; the rest of it is skipped and told.
const maxLineBytes = 64 << 10

// isBinary reports whether the start of a file is no text: it holds a NUL, or is not UTF-8 for a good part.
func isBinary(start []byte) bool {
	if bytes.IndexByte(start, 0) >= 0 {
		return true
	}
	bad := 0
	for rest := start; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 && len(rest) >= utf8.UTFMax { // A character that the sniffing cut is no fault.
			bad++
		}
		rest = rest[size:]
	}
	return bad*10 > len(start)
}

// lines reads a text line by line, within bounds.
type lines struct {
	reader *bufio.Reader
	// number is that of the last line that was read, from 1; bytes is how much was read.
	number int
	bytes  int64
	// cut says that the last line was longer than maxLineBytes.
	cut bool
}

func newLines(r io.Reader) *lines { return &lines{reader: bufio.NewReaderSize(r, 32<<10)} }

// binary looks at the start without reading it away.
func (l *lines) binary() (bool, error) {
	start, err := l.reader.Peek(sniffBytes)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return false, err
	}
	return isBinary(start), nil
}

// next returns the next line without its end. The slice holds until the next call. At the end the error is [io.EOF].
func (l *lines) next(into []byte) ([]byte, error) {
	line := into[:0]
	l.cut = false
	for {
		part, err := l.reader.ReadSlice('\n')
		l.bytes += int64(len(part))
		if room := maxLineBytes - len(line); len(part) > room {
			l.cut = l.cut || len(bytes.TrimRight(part, "\r\n")) > room
			part = part[:room]
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) == 0:
			return nil, io.EOF
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		}
		l.number++
		return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
	}
}
