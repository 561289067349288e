package diskfs

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
)

// Mapper is a [File] whose first bytes can be read as memory, where the system can do that. It is worth it for many small reads.
type Mapper interface {
	// Map maps the first bytes of the file. They may not be cut off while the mapping is open.
	Map(size int64) (*Mapping, error)
}

// errFault means that the system could not give what a mapping holds: the disk failed, or somebody cut the file.
var errFault = errors.New("the file cannot be read: its disk failed, or it was cut")

// Mapping is a part of a file as memory, from its beginning. It is safe for concurrent reading.
type Mapping struct {
	bytes []byte
	unmap func() error
}

// ReadAt implements [io.ReaderAt]. A fault of the disk is an error, as it is with a File.
func (m *Mapping) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 || off > int64(len(m.bytes)) {
		return 0, fmt.Errorf("reading a mapping of %d bytes at %d: %w", len(m.bytes), off, io.EOF)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		reason := recover()
		if reason == nil {
			return
		}
		if _, fault := reason.(interface{ Addr() uintptr }); !fault {
			panic(reason)
		}
		n, err = 0, fmt.Errorf("reading a mapping at %d: %w", off, errFault)
	}()
	if n = copy(p, m.bytes[off:]); n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Close gives the memory back. Nobody may be reading.
func (m *Mapping) Close() error {
	m.bytes = nil
	return m.unmap()
}
