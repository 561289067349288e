//go:build !unix

package bounded

import (
	"io/fs"
	"path/filepath"
)

// fileID names a directory whatever path leads to it.
func fileID(path string, _ fs.FileInfo) any {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
