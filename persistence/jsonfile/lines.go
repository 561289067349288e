package jsonfile

import (
	"bufio"
	"errors"
	"io"
)

// lineReader reads a part of a file line by line, with the memory of its longest line.
type lineReader struct {
	reader *bufio.Reader
	// limit is where reading ends.
	limit int64
	// off and line are those of the next line.
	off  int64
	line int
	// long holds a line that is longer than the reader's buffer.
	long []byte
}

// errEnd means that there is no further line.
var errEnd = errors.New("end of the lines")

// errUnended means that the last line has no end, or that a line is longer than any that is written.
var errUnended = errors.New("the line has no end")

func newLineReader(file io.ReaderAt, from, limit int64) *lineReader {
	size := int(min(256<<10, max(limit-from, 16)))
	return &lineReader{
		reader: bufio.NewReaderSize(io.NewSectionReader(file, from, limit-from), size),
		limit:  limit,
		off:    from,
	}
}

// next returns the next line without its end. It is valid until the next call.
func (l *lineReader) next() ([]byte, error) {
	if l.off >= l.limit {
		return nil, errEnd
	}
	l.line++
	l.long = l.long[:0]
	for {
		piece, err := l.reader.ReadSlice('\n')
		l.off += int64(len(piece))
		switch {
		case err == nil && len(l.long) == 0:
			return piece[:len(piece)-1], nil
		case err == nil:
			l.long = append(l.long, piece[:len(piece)-1]...)
			return l.long, nil
		case errors.Is(err, bufio.ErrBufferFull) && len(l.long) < maxFrameBytes:
			l.long = append(l.long, piece...)
		case errors.Is(err, bufio.ErrBufferFull), errors.Is(err, io.EOF):
			return nil, errUnended
		default:
			return nil, err
		}
	}
}
