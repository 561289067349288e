package jsonfile

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"agentd/persistence/jsonfile/diskfs"
)

// lazyMapping is a segment as memory. Folding reads every append of a full segment once, each on its own: with a call of the system
// for each of them that was a tenth of the cost of a busy store.
type lazyMapping struct {
	// allowed says that the segment has its final length.
	allowed atomic.Bool
	once    sync.Once
	// mapping is nil when the system has none to give.
	mapping *diskfs.Mapping
}

// reader is what a span's bytes are read from. The segment is pinned.
func (s *segment) reader() io.ReaderAt {
	if !s.mapped.allowed.Load() {
		return s.file
	}
	s.mapped.once.Do(func() {
		if mapper, ok := s.file.(diskfs.Mapper); ok {
			s.mapped.mapping, _ = mapper.Map(s.size) // Without it the file is read, which tells what is wrong.
		}
	})
	if s.mapped.mapping == nil {
		return s.file
	}
	return s.mapped.mapping
}

// close closes the file, if it is open, and gives the memory back. Nobody reads the segment any more.
func (s *segment) close() error {
	if s.file == nil {
		return nil
	}
	var err error
	if s.mapped.mapping != nil {
		err = s.mapped.mapping.Close()
		s.mapped.mapping = nil
	}
	err = errors.Join(err, s.file.Close())
	s.file = nil
	return err
}
