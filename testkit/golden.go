package testkit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// UpdateEnv is the environment variable that, set to 1, makes [Golden] and [RunScenarios] write what they get in place of comparing it. Read the difference
// before it is committed.
const UpdateEnv = "UPDATE_GOLDEN"

// Updating reports whether golden files are written.
func Updating() bool { return os.Getenv(UpdateEnv) == "1" }

// Golden compares text with a file, and fails the test if they differ.
func Golden(tb testing.TB, path string, got []byte) {
	tb.Helper()
	if Updating() {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			tb.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		tb.Fatalf("reading what is expected: %v; make it with %s=1", err, UpdateEnv)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		tb.Errorf("%s differs (-want +got), %s=1 rewrites it:\n%s", path, UpdateEnv, diff)
	}
}
