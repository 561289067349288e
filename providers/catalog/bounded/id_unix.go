//go:build unix

package bounded

import (
	"io/fs"
	"path/filepath"
	"syscall"
)

// fileID names a directory whatever path leads to it.
func fileID(path string, info fs.FileInfo) any {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return [2]uint64{uint64(st.Dev), uint64(st.Ino)} //nolint:unconvert // The types differ by system.
	}
	return filepath.Clean(path)
}
