//go:build !unix

package bounded

import (
	"fmt"
	"os"
)

// openRegular asks before it opens, because opening a named pipe may wait.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("opening %q: %w", path, ErrNotRegular)
	}
	return os.Open(path)
}
