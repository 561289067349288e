package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// lineReader cuts a stream into lines, and holds no more of it than the longest one that is allowed.
type lineReader struct {
	in    *bufio.Reader
	limit int
}

func newLineReader(in io.Reader, limit int) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, 4096), limit: limit}
}

// next returns the next line without its line feed; a last line may have none. A line is too long as soon as it has too many bytes, whether
// its end has come or not. The slice belongs to the caller. The error is io.EOF at the end of the stream, ErrLineTooLong, or that of the stream.
func (r *lineReader) next() ([]byte, error) {
	var line []byte
	for {
		if _, err := r.in.Peek(1); err != nil {
			return r.last(line, err)
		}
		part, _ := r.in.Peek(r.in.Buffered()) // What is there cannot fail.
		end := bytes.IndexByte(part, '\n')
		if end >= 0 {
			part = part[:end]
		}
		if len(line)+len(part) > r.limit {
			return nil, fmt.Errorf("%w: more than %d bytes", ErrLineTooLong, r.limit)
		}
		line = append(line, part...)
		if end >= 0 {
			_, _ = r.in.Discard(end + 1)
			return line, nil
		}
		_, _ = r.in.Discard(len(part))
	}
}

// last returns what stands before the end of the stream.
func (r *lineReader) last(line []byte, err error) ([]byte, error) {
	switch {
	case errors.Is(err, io.EOF) && len(line) > 0:
		return line, nil
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	default:
		return nil, fmt.Errorf("reading the client's line: %w", err)
	}
}
