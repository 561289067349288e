package opencode

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// errEventTooLarge means that an event was over the limit and was skipped whole; the reader is usable.
var errEventTooLarge = errors.New("event is too large")

// sseReader reads the data of server-sent events. It knows what the format has and this server never uses: comments, other
// fields, several data lines.
type sseReader struct {
	in  *bufio.Reader
	max int
}

func newSSEReader(r io.Reader, maxBytes int) *sseReader {
	return &sseReader{in: bufio.NewReaderSize(r, 32<<10), max: maxBytes}
}

// next returns the data of the next event that has any. After [errEventTooLarge] it may be called again; after another
// error not. An event that the stream's end cuts short is dropped, as the format says.
func (s *sseReader) next() (string, error) {
	var data []byte
	seen, large := false, false
	for {
		line, cut, err := s.line(s.max - len(data))
		if err != nil {
			return "", err
		}
		large = large || cut
		if len(line) == 0 && !cut {
			switch {
			case large:
				return "", errEventTooLarge
			case seen:
				return string(data), nil
			}
			continue
		}
		value, ok := bytes.CutPrefix(line, []byte("data"))
		if !ok || len(value) > 0 && value[0] != ':' || large {
			continue
		}
		value = bytes.TrimPrefix(value, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		if seen {
			data = append(data, '\n')
		}
		data, seen = append(data, value...), true
	}
}

// line reads one line without its end, "\n" or "\r\n". Of a line over limit the rest is dropped, and cut is true.
func (s *sseReader) line(limit int) (line []byte, cut bool, err error) {
	limit = max(limit, 0) + len("data: ")
	for ended := false; !ended; {
		part, err := s.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, false, err
		}
		ended = err == nil
		if ended {
			part = part[:len(part)-1]
		}
		// One byte more than the limit, for the carriage return.
		take := min(len(part), limit+1-len(line))
		line = append(line, part[:take]...)
		cut = cut || take < len(part)
	}
	line = bytes.TrimSuffix(line, []byte("\r"))
	return line, cut || len(line) > limit, nil
}
