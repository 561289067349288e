//go:build unix

package main

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"agentd/providers/catalog/bounded"
)

// TestPipesInPlaceOfFilesAreRefused holds that nothing waits for the other end of a pipe, which no Ctrl-C could end.
func TestPipesInPlaceOfFilesAreRefused(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readSpaceFile(pipe); !errors.Is(err, bounded.ErrNotRegular) {
		t.Errorf("readSpaceFile(a pipe) = %v, want %v", err, bounded.ErrNotRegular)
	}
	if _, err := readLogins(pipe); !errors.Is(err, bounded.ErrNotRegular) {
		t.Errorf("readLogins(a pipe) = %v, want %v", err, bounded.ErrNotRegular)
	}
}
