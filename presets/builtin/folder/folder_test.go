package folder_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentd/presets/builtin/folder"
)

func open(tb testing.TB) *folder.Folder {
	tb.Helper()
	f, err := folder.Create(filepath.Join(tb.TempDir(), "a", "b"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(f.Close)
	return f
}

func TestOpenAndCreate(t *testing.T) {
	t.Parallel()
	for _, make := range []func(string) (*folder.Folder, error){folder.Open, folder.Create} {
		if _, err := make(""); !errors.Is(err, folder.ErrNoFolder) {
			t.Errorf("without a path = %v, want ErrNoFolder", err)
		}
	}
	if _, err := folder.Open(filepath.Join(t.TempDir(), "nope")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of nothing = %v", err)
	}
}

func TestLocal(t *testing.T) {
	t.Parallel()
	f := open(t)
	for path, want := range map[string]string{
		"": ".", ".": ".", "./x": "x", "a/../b": "b", "a//b": filepath.Join("a", "b"), f.Path(): ".", filepath.Join(f.Path(), "x"): "x",
		"..": "", "../x": "", "a/../../x": "", filepath.Dir(f.Path()): "", "a\x00b": "", strings.Repeat("x", folder.MaxPathBytes+1): "",
	} {
		got, err := f.Local(path)
		if got != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, folder.ErrPath) {
			t.Errorf("Local(%.40q) = %q, %v; want %q", path, got, err, want)
		}
	}
}

// FuzzLocal: whatever is accepted stays inside, for the path functions and for the system.
func FuzzLocal(f *testing.F) {
	for _, seed := range []string{"a/b", "../x", "/etc/passwd", "a/./../..", "\x00", "..\\x", "C:\\x", "con"} {
		f.Add(seed)
	}
	dir := open(f)
	f.Fuzz(func(t *testing.T, path string) {
		local, err := dir.Local(path)
		if err != nil {
			return
		}
		relative, err := filepath.Rel(dir.Path(), filepath.Join(dir.Path(), local))
		if err != nil || relative == ".." || strings.HasPrefix(relative, ".."+string(filepath.Separator)) {
			t.Fatalf("Local(%q) = %q, which leaves the folder", path, local)
		}
		if _, err := dir.Lstat(local); errors.Is(err, folder.ErrPath) {
			t.Fatalf("Local(%q) = %q, which the system refuses", path, local)
		}
	})
}

func TestReplace(t *testing.T) {
	t.Parallel()
	f := open(t)
	if err := f.Replace("x", []byte("one"), 0o644, nil); err != nil {
		t.Fatal(err)
	}
	_, seen, err := f.ReadFile("x", 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.ReadFile("x", 2); !errors.Is(err, folder.ErrTooLarge) {
		t.Errorf("reading more than the limit = %v, want ErrTooLarge", err)
	}
	if err := f.Replace("x", []byte("two, longer"), 0o644, seen); err != nil {
		t.Fatal(err)
	}
	if err := f.Replace("x", []byte("three"), 0o644, seen); !errors.Is(err, folder.ErrChanged) {
		t.Errorf("replacing what has changed = %v, want ErrChanged", err)
	}
	if err := f.Replace(filepath.Join("nope", "x"), nil, 0o644, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("replacing in a folder that is not there = %v", err)
	}
	if data, _, err := f.ReadFile("x", 100); err != nil || string(data) != "two, longer" {
		t.Errorf("the file is %q, %v", data, err)
	}
	entries, err := os.ReadDir(f.Path())
	if err != nil || len(entries) != 1 {
		t.Errorf("files left: %v, %v", entries, err)
	}
}

func TestIsVersionControl(t *testing.T) {
	t.Parallel()
	for want, names := range map[bool][]string{
		true: {".git", ".GIT", ".git.", ".git ", ".hg", ".svn", ".jj"}, false: {".gitignore", "git", ".github"},
	} {
		for _, name := range names {
			if got := folder.IsVersionControl(name); got != want {
				t.Errorf("IsVersionControl(%q) = %t, want %t", name, got, want)
			}
		}
	}
}
