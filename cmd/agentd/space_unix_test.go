//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"agentd/cmd/agentd/internal/home"
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
	dir := home.Dir(t.TempDir())
	for _, path := range []string{dir.Grants(), dir.Overrides()} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), syscall.Mkfifo(path, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := dir.GrantFile().Load(t.Context()); !errors.Is(err, bounded.ErrNotRegular) {
		t.Errorf("loading grants from a pipe = %v, want %v", err, bounded.ErrNotRegular)
	}
	if _, err := dir.OverrideFile().Load(t.Context()); !errors.Is(err, bounded.ErrNotRegular) {
		t.Errorf("loading overrides from a pipe = %v, want %v", err, bounded.ErrNotRegular)
	}
}
