//go:build unix

package workspaceread_test

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe that nobody writes to does not hold a call.
func TestPipe(t *testing.T) {
	t.Parallel()
	bench := setup(t, map[string]string{"a": "text\n"})
	if err := syscall.Mkfifo(filepath.Join(bench.WorkspaceRoot, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	bench.Bad(read, `{"path":"pipe"}`, "it is a pipe")
	bench.Bad(search, `{"path":"pipe","pattern":"x"}`, "it is a pipe")
	bench.Bad(list, `{"path":"pipe"}`, "it is a pipe")
	if got := bench.Good(search, `{"pattern":"text"}`)["files"]; got != 1.0 {
		t.Errorf("files = %v, want 1", got)
	}
}
