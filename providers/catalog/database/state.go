package database

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"agentd/providers/catalog/bounded"
)

// MaxBytes is the largest database or log that is opened.
const MaxBytes = 64 << 30

// state is what tells whether the owner rewrote something. A log that only grew is the same state: what was read of
// it stays where it is.
type state struct {
	size    int64
	modTime time.Time
	wal     string // the header of the log, empty when there is none
}

// look checks the files and returns their state.
func look(path string) (state, error) {
	f, err := bounded.Open(path)
	if err != nil {
		return state{}, err
	}
	defer func() { _ = f.Close() }()
	if f.Size == 0 {
		return state{}, fmt.Errorf("opening %q: %w", path, ErrEmpty)
	}
	if f.Size > MaxBytes {
		return state{}, fmt.Errorf("opening %q: %w of %d", path, bounded.ErrTooLarge, int64(MaxBytes))
	}
	magic := make([]byte, 16)
	if n, err := f.ReadAt(magic, 0); n < len(magic) || !bytes.Equal(magic, []byte("SQLite format 3\x00")) {
		return state{}, fmt.Errorf("opening %q: %w", path, errors.Join(ErrNotDatabase, realError(err)))
	}
	wal, err := walHeader(path + "-wal")
	return state{size: f.Size, modTime: f.ModTime, wal: wal}, err
}

func walHeader(path string) (string, error) {
	f, err := bounded.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, bounded.ErrNotRegular):
		return "", nil
	case err != nil:
		return "", err
	}
	defer func() { _ = f.Close() }()
	header := make([]byte, walHeaderBytes)
	n, err := f.ReadAt(header, 0)
	if n < walHeaderBytes {
		return "", realError(err)
	}
	return string(header), nil
}

// realError drops the end of a file.
func realError(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
