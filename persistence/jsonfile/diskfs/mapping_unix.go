//go:build unix

package diskfs

import (
	"fmt"
	"syscall"
)

var _ Mapper = osFile{}

// Map implements [Mapper].
func (f osFile) Map(size int64) (*Mapping, error) {
	bytes, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED) //nolint:gosec // A descriptor and a file's size fit an int.
	if err != nil {
		return nil, fmt.Errorf("mapping %q: %w", f.Name(), err)
	}
	return &Mapping{bytes: bytes, unmap: func() error { return syscall.Munmap(bytes) }}, nil
}
