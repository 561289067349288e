package diskfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// ErrHeld means that somebody else holds the lock. It comes as a [HeldError].
var ErrHeld = errors.New("lock is held")

// HeldError says who holds a lock.
type HeldError struct {
	// Path is the lock file.
	Path string
	// PID is the process that holds it, or 0 when that cannot be told.
	PID int
}

// Error implements error.
func (e *HeldError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s: lock is held", e.Path)
	}
	return fmt.Sprintf("%s: lock is held by process %d", e.Path, e.PID)
}

// Is makes errors.Is(err, ErrHeld) true.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// File is an open file.
type File interface {
	io.Reader
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Stat describes the file.
	Stat() (fs.FileInfo, error)
	// Truncate cuts or extends the file to a size in bytes.
	Truncate(size int64) error
	// Sync makes the content and the size durable. After an error nothing that was written
	// since the last good Sync may be trusted, even if a later Sync succeeds.
	Sync() error
}

// FS is what the store needs of a file system. Paths are as package os takes them.
type FS interface {
	// OpenFile opens a file as [os.OpenFile] does.
	OpenFile(path string, flag int, perm fs.FileMode) (File, error)
	// MkdirAll makes a folder and those above it.
	MkdirAll(path string, perm fs.FileMode) error
	// ReadDir lists a folder, in no order.
	ReadDir(path string) ([]fs.DirEntry, error)
	// Stat describes the file of a path.
	Stat(path string) (fs.FileInfo, error)
	// Rename gives a file another name, and replaces what had it.
	Rename(from, to string) error
	// Remove removes a file.
	Remove(path string) error
	// SyncDir makes the names in a folder durable.
	SyncDir(path string) error
	// Lock takes the exclusive lock of a file, which is made if need be. It does not wait: a [HeldError] says that
	// somebody has it. Closing the result gives it back, and so does the end of the process.
	Lock(path string) (io.Closer, error)
}
