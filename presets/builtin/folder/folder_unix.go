//go:build unix

package folder

import (
	"fmt"
	"syscall"
)

// openNonblock keeps the opening of a pipe that nobody writes to from waiting.
const openNonblock = syscall.O_NONBLOCK

// SyncDir makes what was created, renamed or removed in a folder inside this one durable.
func (f *Folder) SyncDir(name string) error {
	dir, err := f.root.Open(name)
	if err != nil {
		return fmt.Errorf("opening folder %q: %w", name, err)
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil {
		return fmt.Errorf("syncing folder %q: %w", name, err)
	}
	return nil
}
