package mcp

import (
	"bufio"
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

// next returns the next line without its line feed; a last line may have none. The slice belongs to the caller. The error is io.EOF at
// the end of the stream, ErrLineTooLong, or that of the stream.
func (r *lineReader) next() ([]byte, error) {
	var line []byte
	for {
		part, err := r.in.ReadSlice('\n')
		ended := err == nil
		if ended {
			part = part[:len(part)-1]
		}
		if len(line)+len(part) > r.limit {
			return nil, fmt.Errorf("%w: more than %d bytes", ErrLineTooLong, r.limit)
		}
		line = append(line, part...)
		switch {
		case ended:
			return line, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		default:
			return nil, fmt.Errorf("reading the client's line: %w", err)
		}
	}
}
