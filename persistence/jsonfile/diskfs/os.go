package diskfs

import (
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/gofrs/flock"
)

// OS is the real file system. Its zero value is ready.
type OS struct{}

var _ FS = OS{}

// osFile is an *os.File whose Sync is the cheapest call that keeps the promise of [File.Sync].
type osFile struct{ *os.File }

// Sync implements [File].
func (f osFile) Sync() error { return syncFile(f.File) }

// OpenFile implements [FS].
func (OS) OpenFile(path string, flag int, perm fs.FileMode) (File, error) {
	file, err := os.OpenFile(path, flag, perm)
	if err != nil {
		return nil, err
	}
	return osFile{file}, nil
}

// MkdirAll implements [FS].
func (OS) MkdirAll(path string, perm fs.FileMode) error { return os.MkdirAll(path, perm) }

// ReadDir implements [FS].
func (OS) ReadDir(path string) ([]fs.DirEntry, error) {
	// Not os.ReadDir: it sorts, which a folder of many sessions pays for in vain.
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.ReadDir(-1)
}

// Stat implements [FS].
func (OS) Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

// Rename implements [FS].
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove implements [FS].
func (OS) Remove(path string) error { return os.Remove(path) }

// SyncDir implements [FS].
func (OS) SyncDir(path string) error { return syncDir(path) }

// Lock implements [FS].
func (OS) Lock(path string) (io.Closer, error) {
	lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	held, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("locking %q: %w", path, err)
	}
	if !held {
		return nil, &HeldError{Path: path, PID: readHolder(path)}
	}
	noteHolder(path)
	return lock, nil
}
