package atomicfile_test

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"agentd/persistence/jsonfile/atomicfile"
)

func TestWriteJSON(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "below", "grants.json")
	for _, value := range []map[string]string{{"a": "<b>"}, {}} {
		if err := atomicfile.WriteJSON(path, value); err != nil {
			t.Fatalf("WriteJSON(%v) = %v", value, err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != "{}\n" {
		t.Errorf("content = %q, %v, want the last value", text, err)
	}
	if runtime.GOOS != "windows" {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode = %v, %v, want 0600", info.Mode(), err)
		}
	}
	assertNames(t, filepath.Dir(path), "grants.json")
}

func TestWriteJSONKeepsOldContentOnError(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.json")
	if err := atomicfile.WriteJSON(path, 1); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.WriteJSON(path, func() {}); err == nil {
		t.Error("WriteJSON(func) = nil, want an error")
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "1\n" {
		t.Errorf("content = %q, %v, want the old value", text, err)
	}
}

func TestWriteConcurrently(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.json")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if err := atomicfile.Write(path, []byte("whole")); err != nil {
				t.Errorf("Write = %v", err)
			}
		})
	}
	group.Wait()
	if text, err := os.ReadFile(path); err != nil || string(text) != "whole" {
		t.Errorf("content = %q, %v, want one whole write", text, err)
	}
	assertNames(t, filepath.Dir(path), "c.json")
}

func TestClean(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{".c.json.XYZ.tmp", "c.json", "kept.tmp", ".hidden"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := atomicfile.Clean(dir); n != 1 || err != nil {
		t.Errorf("Clean = %d, %v, want 1", n, err)
	}
	assertNames(t, dir, ".hidden", "c.json", "kept.tmp")
	if n, err := atomicfile.Clean(filepath.Join(dir, "none")); n != 0 || err != nil {
		t.Errorf("Clean(no folder) = %d, %v, want 0", n, err)
	}
}

func assertNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if len(got) != len(want) {
		t.Fatalf("files = %q, want %q", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("files = %q, want %q", got, want)
		}
	}
}
