package bounded

import (
	"fmt"
	"io"
	"os"
	"time"
)

// File is an open regular file with the size and time that it had when it was opened. What is appended later is not
// seen. It is not safe for concurrent use.
type File struct {
	// Path is the path that was opened.
	Path string
	// Size is the length in bytes at the time of opening.
	Size int64
	// ModTime is the modification time at the time of opening.
	ModTime time.Time

	f    *os.File
	pool *Scratch
}

// Scratch lends read buffers to the files that one worker opens one after another, so that ten thousand files cost
// two buffers. The zero value is ready. It is not safe for concurrent use.
type Scratch struct {
	free [][]byte
}

// Open opens a regular file for reading. Symbolic links are followed. It never blocks on a pipe.
// The error wraps [ErrNotRegular] or the system's own error.
func Open(path string) (*File, error) { return (&Scratch{}).Open(path) }

// Open is [Open] with buffers that are lent by s and come back when the file is closed.
func (s *Scratch) Open(path string) (*File, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("opening %q: %w", path, ErrNotRegular)
	}
	if err != nil {
		_ = f.Close() // Nothing was written: the first error is the one that counts.
		return nil, err
	}
	return &File{Path: path, Size: info.Size(), ModTime: info.ModTime(), f: f, pool: s}, nil
}

// Close closes the file. Lines that were handed out are not valid afterwards.
func (f *File) Close() error { return f.f.Close() }

// ReadAt reads like [io.ReaderAt], never behind the size at the time of opening.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if off >= f.Size {
		return 0, io.EOF
	}
	short := int64(len(p)) > f.Size-off
	if short {
		p = p[:f.Size-off]
	}
	n, err := f.f.ReadAt(p, off)
	if err == nil && short {
		err = io.EOF
	}
	return n, err
}

// Bytes returns the whole file. The error wraps [ErrTooLarge] when it is longer than limit bytes.
func (f *File) Bytes(limit int64) ([]byte, error) {
	if f.Size > limit {
		return nil, fmt.Errorf("reading %q of %d bytes: %w of %d", f.Path, f.Size, ErrTooLarge, limit)
	}
	data := make([]byte, f.Size)
	n, err := f.ReadAt(data, 0)
	if err == io.EOF { //nolint:errorlint // io.ReaderAt returns io.EOF itself.
		err = nil
	}
	return trimBOM(data[:n]), err
}

// ReadAll opens the regular file at path and returns its content without a byte order mark. The error wraps
// [ErrNotRegular], [ErrTooLarge] or the system's own error.
func ReadAll(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return f.Bytes(limit)
}

// borrow returns a buffer of n bytes or more.
func (f *File) borrow(n int) []byte {
	for i, b := range f.pool.free {
		if cap(b) >= n {
			last := len(f.pool.free) - 1
			f.pool.free[i] = f.pool.free[last]
			f.pool.free = f.pool.free[:last]
			return b[:cap(b)]
		}
	}
	return make([]byte, n)
}

// giveBack returns a buffer for the next use, unless it is unusually large.
func (f *File) giveBack(b []byte) {
	const keepBytes, keepBuffers = 256 << 10, 4
	if cap(b) <= keepBytes && len(f.pool.free) < keepBuffers {
		f.pool.free = append(f.pool.free, b)
	}
}
