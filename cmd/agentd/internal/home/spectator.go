package home

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"agentd/persistence/jsonfile/diskfs"
)

// errReadOnly means that somebody tried to write through a spectator.
var errReadOnly = errors.New("opened for reading only")

// spectator is a disk that is only looked at: what a store does to it when it opens and closes has no effect. It takes no lock, so that
// it reads beside the process that owns the directory.
type spectator struct{ diskfs.OS }

var _ diskfs.FS = spectator{}

// OpenFile implements [diskfs.FS].
func (s spectator) OpenFile(path string, flag int, perm fs.FileMode) (diskfs.File, error) {
	if flag != os.O_RDONLY {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errReadOnly}
	}
	return s.OS.OpenFile(path, flag, perm)
}

// MkdirAll implements [diskfs.FS].
func (spectator) MkdirAll(string, fs.FileMode) error { return nil }

// ReadDir implements [diskfs.FS]. A folder that was not made is empty.
func (s spectator) ReadDir(path string) ([]fs.DirEntry, error) {
	entries, err := s.OS.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}

// Rename implements [diskfs.FS].
func (spectator) Rename(from, to string) error {
	return &os.LinkError{Op: "rename", Old: from, New: to, Err: errReadOnly}
}

// Remove implements [diskfs.FS]. What the owner left behind or is just writing stays where it is.
func (spectator) Remove(string) error { return nil }

// SyncDir implements [diskfs.FS].
func (spectator) SyncDir(string) error { return nil }

// Lock implements [diskfs.FS].
func (spectator) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }
