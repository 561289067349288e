//go:build unix

package diskfs

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// syncDir makes the names in a folder durable.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// noteHolder notes this process in a lock file that it holds. The note only makes the error of a
// second process kinder, so a full disk, which it may fail on, is no reason to keep anybody out.
func noteHolder(path string) {
	_ = os.WriteFile(path, fmt.Appendln(nil, os.Getpid()), 0o600)
}

// readHolder tells which process noted itself in a lock file, or 0.
func readHolder(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}
