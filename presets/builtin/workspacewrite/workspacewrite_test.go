package workspacewrite_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/presets/builtin/backup"
	"agentd/presets/builtin/bundletest"
	"agentd/presets/builtin/workspacedelete"
	"agentd/presets/builtin/workspacewrite"
)

const (
	write   = "space_workspace_write"
	edit    = "space_workspace_edit"
	backups = "space_workspace_backups"
	restore = "space_workspace_restore"
	remove  = "space_workspace_delete"
)

func setup(tb testing.TB, files map[string]string) *bundletest.Bench {
	tb.Helper()
	bench := bundletest.New(tb, workspacewrite.New(), workspacedelete.New())
	for name, text := range files {
		path := filepath.Join(bench.WorkspaceRoot, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return bench
}

func arguments(pairs ...string) string {
	fields := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		fields[pairs[i]] = pairs[i+1]
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// tree returns every file of the workspace with its content, and empty folders with a slash.
func tree(tb testing.TB, root string) map[string]string {
	tb.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir():
			if inside, err := os.ReadDir(path); err != nil || len(inside) > 0 {
				return err
			}
			out[filepath.ToSlash(name)+"/"] = ""
		case entry.Type()&os.ModeSymlink != 0:
			target, err := os.Readlink(path)
			out[filepath.ToSlash(name)] = "-> " + target
			return err
		default:
			text, err := os.ReadFile(path)
			out[filepath.ToSlash(name)] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func TestWrite(t *testing.T) {
	t.Parallel()
	bench := setup(t, map[string]string{"old": "before"})
	created := bench.Good(write, arguments("path", "new/deep/file.txt", "content", "hello\n"))
	want := map[string]any{"ok": true, "path": "new/deep/file.txt", "bytes": 6.0, "created": true, "backup": "000001"}
	if diff := cmp.Diff(want, created); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	replaced := bench.Good(write, arguments("path", "old", "content", ""))
	if diff := cmp.Diff(map[string]any{"ok": true, "path": "old", "bytes": 0.0, "backup": "000002"}, replaced); diff != "" {
		t.Errorf("replaced (-want +got):\n%s", diff)
	}
	same := bench.Good(write, arguments("path", "old", "content", ""))
	if diff := cmp.Diff(map[string]any{"ok": true, "path": "old", "bytes": 0.0, "unchanged": true}, same); diff != "" {
		t.Errorf("unchanged (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"new/deep/file.txt": "hello\n", "old": ""}, tree(t, bench.WorkspaceRoot)); diff != "" {
		t.Errorf("workspace (-want +got):\n%s", diff)
	}
	bench.Bad(write, `{"path":"old","content":"x","only_new":true}`, "exists")
}

func TestEdit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text, arguments, want string
		refused                     string
	}{
		{"unique", "one two three", arguments("path", "f", "old_text", "two", "new_text", "2"), "one 2 three", ""},
		{"to nothing", "one two", arguments("path", "f", "old_text", " two", "new_text", ""), "one", ""},
		{"signs are no expression", "a.b axb", arguments("path", "f", "old_text", "a.b", "new_text", "$1"), "$1 axb", ""},
		{"several lines", "a\nb\nc\n", arguments("path", "f", "old_text", "a\nb", "new_text", "x"), "x\nc\n", ""},
		{"lines with carriage returns", "a\r\nb\r\nc\r\n", arguments("path", "f", "old_text", "a\nb", "new_text", "x\ny"), "x\r\ny\r\nc\r\n", ""},
		{"twice", "x x", arguments("path", "f", "old_text", "x", "new_text", "y"), "", "2 times"},
		{"twice, all", "x x", `{"path":"f","old_text":"x","new_text":"y","replace_all":true}`, "y y", ""},
		{"not there", "x", arguments("path", "f", "old_text", "z", "new_text", "y"), "", "does not stand"},
		{"no change", "x", arguments("path", "f", "old_text", "x", "new_text", "x"), "", "the same"},
		{"empty", "x", arguments("path", "f", "old_text", "", "new_text", "x"), "", "invalid arguments"},
		{"no file", "x", arguments("path", "g", "old_text", "x", "new_text", "y"), "", "no such file"},
		{"too large", strings.Repeat("x", 9<<20) + "y", arguments("path", "f", "old_text", "y", "new_text", "z"), "", "too large"},
		{"binary is bytes too", "a\x00b\xff", arguments("path", "f", "old_text", "a", "new_text", "c"), "c\x00b\xff", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			bench := setup(t, map[string]string{"f": test.text})
			if test.refused != "" {
				bench.Bad(edit, test.arguments, test.refused)
				if got := tree(t, bench.WorkspaceRoot); got["f"] != test.text || len(got) != 1 {
					t.Error("a refused edit changed the workspace")
				}
				return
			}
			answer := bench.Good(edit, test.arguments)
			if got := tree(t, bench.WorkspaceRoot)["f"]; got != test.want || answer["backup"] != "000001" || answer["replaced"] == nil {
				t.Errorf("file = %q, want %q; answer %v", got, test.want, answer)
			}
		})
	}
}

// Every change can be taken back, and the taking back too.
func TestRestore(t *testing.T) {
	t.Parallel()
	bench := setup(t, map[string]string{"f": "one", "gone": "gone", "dir/x": "x"})
	if err := os.Symlink("f", filepath.Join(bench.WorkspaceRoot, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(bench.WorkspaceRoot, "gone"), 0o750); err != nil {
		t.Fatal(err)
	}
	start := tree(t, bench.WorkspaceRoot)
	for _, call := range [][2]string{
		{edit, arguments("path", "f", "old_text", "one", "new_text", "two")},
		{write, arguments("path", "f", "content", "three")},
		{write, arguments("path", "new", "content", "new")},
		{remove, arguments("path", "gone")},
		{remove, arguments("path", "link")},
		{remove, arguments("path", "dir/x")},
		{remove, arguments("path", "dir")},
	} {
		bench.Good(call[0], call[1])
	}
	end := tree(t, bench.WorkspaceRoot)
	if diff := cmp.Diff(map[string]string{"f": "three", "new": "new"}, end); diff != "" {
		t.Errorf("after the changes (-want +got):\n%s", diff)
	}
	list := bench.Good(backups, `{}`)
	if list["total"] != 7.0 || list["truncated"] != false {
		t.Errorf("backups = %v", list)
	}
	for id := 7; id >= 1; id-- {
		bench.Good(restore, arguments("backup", fmt.Sprintf("%06d", id)))
	}
	if diff := cmp.Diff(start, tree(t, bench.WorkspaceRoot)); diff != "" {
		t.Errorf("after restoring (-start +got):\n%s", diff)
	}
	if info, err := os.Stat(filepath.Join(bench.WorkspaceRoot, "gone")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o750 {
		t.Errorf("the permissions of a restored file: %v, %v", info.Mode(), err)
	}
	for id := 14; id >= 8; id-- {
		bench.Good(restore, arguments("backup", fmt.Sprintf("%06d", id)))
	}
	if diff := cmp.Diff(end, tree(t, bench.WorkspaceRoot)); diff != "" {
		t.Errorf("after taking the restoring back (-want +got):\n%s", diff)
	}
	if got := bench.Good(backups, `{"limit":2}`); len(got["backups"].([]any)) != 2 || got["total"] != 21.0 || got["truncated"] != true {
		t.Errorf("two backups = %v", got)
	}
}

func TestRefusedRestores(t *testing.T) {
	t.Parallel()
	bench := setup(t, map[string]string{"f": "one"})
	bench.Good(write, arguments("path", "f", "content", "two"))
	for _, id := range []string{"", "0", "1", "000002", "000000", "-00001", "../../x", "00001\x00"} {
		bench.Bad(restore, arguments("backup", id), "unknown backup")
	}
	place := filepath.Join(bench.ArtifactDir, backup.Dir, "000001")
	if err := os.WriteFile(filepath.Join(place, "content"), []byte("bad"), 0o600); err != nil {
		t.Fatal(err)
	}
	bench.Bad(restore, arguments("backup", "000001"), "SHA-256")
	text, err := os.ReadFile(filepath.Join(place, "entry.json"))
	if err != nil {
		t.Fatal(err)
	}
	for old, want := range map[string][2]string{
		`"path": "f"`: {`"path": "../f"`, "not allowed"}, `backup/1`: {`backup/2`, "schema"}, `"kind": "file"`: {`"kind": "door"`, "damaged"},
	} {
		spoiled := strings.Replace(string(text), old, want[0], 1)
		if err := os.WriteFile(filepath.Join(place, "entry.json"), []byte(spoiled), 0o600); err != nil {
			t.Fatal(err)
		}
		bench.Bad(restore, arguments("backup", "000001"), want[1])
	}
	bench.WorkspaceRoot = t.TempDir()
	if err := os.WriteFile(filepath.Join(place, "entry.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	bench.Bad(restore, arguments("backup", "000001"), "another workspace")
}

func TestPermissionsAreKept(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // There are no such bits there.
	}
	bench := setup(t, map[string]string{"script": "#!/bin/sh\n"})
	path := filepath.Join(bench.WorkspaceRoot, "script")
	if err := os.Chmod(path, 0o777); err != nil {
		t.Fatal(err)
	}
	bench.Good(edit, arguments("path", "script", "old_text", "sh", "new_text", "bash"))
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o777 {
		t.Errorf("mode = %v, %v; want 0777", info.Mode(), err)
	}
}

// Nothing outside of the workspace, no link and nothing of version control is changed.
func TestContainment(t *testing.T) {
	t.Parallel()
	bench := setup(t, map[string]string{"f": "x", ".git/hooks/pre-commit": "x", "sub/.git/config": "x", "dir/full": "x"})
	outside := t.TempDir()
	victim := filepath.Join(outside, "victim")
	if err := os.WriteFile(victim, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": victim, "folder": outside, "inner": "f"} {
		if err := os.Symlink(target, filepath.Join(bench.WorkspaceRoot, name)); err != nil {
			t.Fatal(err)
		}
	}
	before, beforeOutside := tree(t, bench.WorkspaceRoot), tree(t, outside)
	for _, path := range []string{
		victim, "../x", "folder/victim", "folder/new", "folder/new/deep", ".", "", "..", "a\x00b", "f/below",
		".git/hooks/pre-commit", ".GIT/hooks/x", "sub/.git/config", ".git", ".git./config", strings.Repeat("x", 5000),
	} {
		for tool, call := range map[string]string{
			write: arguments("path", path, "content", "y"), edit: arguments("path", path, "old_text", "x", "new_text", "y"), remove: arguments("path", path),
		} {
			if result := bench.Call(t.Context(), tool, call); !result.IsError {
				t.Errorf("%s %q = %s", tool, path, result.Text)
			}
		}
	}
	for _, path := range []string{"link", "inner", "folder"} { // They may be deleted, which hurts nothing but the link.
		for tool, call := range map[string]string{write: arguments("path", path, "content", "y"), edit: arguments("path", path, "old_text", "x", "new_text", "y")} {
			bench.Bad(tool, call, "it is a link")
		}
	}
	bench.Bad(remove, arguments("path", "dir"), "not empty")
	bench.Bad(remove, arguments("path", "nope"), "no such file")
	bench.Bad(write, arguments("path", "dir", "content", "y"), "it is a folder")
	if diff := cmp.Diff(before, tree(t, bench.WorkspaceRoot)) + cmp.Diff(beforeOutside, tree(t, outside)); diff != "" {
		t.Errorf("something changed:\n%s", diff)
	}
	bench.Good(remove, arguments("path", "link"))
	if diff := cmp.Diff(beforeOutside, tree(t, outside)); diff != "" {
		t.Errorf("deleting a link reached what it points to:\n%s", diff)
	}
	bench.ArtifactDir = ""
	bench.Bad(write, arguments("path", "f", "content", "y"), "artifact folder")
	bench.Bad(remove, arguments("path", "f"), "artifact folder")
	bench.WorkspaceRoot = ""
	bench.Bad(write, arguments("path", "f", "content", "y"), "no folder is configured")
	bench.Bad(remove, arguments("path", "f"), "no folder is configured")
	if tree(t, filepath.Dir(victim))["victim"] != "x" {
		t.Error("the victim changed")
	}
}

// If the old content cannot be kept, nothing changes.
func TestNothingWithoutABackup(t *testing.T) {
	t.Parallel()
	bench := setup(t, map[string]string{"f": "x"})
	large := filepath.Join(bench.WorkspaceRoot, "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, backup.MaxContentBytes+1); err != nil {
		t.Fatal(err)
	}
	bench.Bad(remove, arguments("path", "large"), "too large")
	bench.Bad(write, arguments("path", "large", "content", "y"), "too large")
	if info, err := os.Stat(large); err != nil || info.Size() != backup.MaxContentBytes+1 {
		t.Errorf("the large file: %v, %v", info, err)
	}
	if err := os.MkdirAll(bench.ArtifactDir, 0o700); err != nil {
		t.Fatal(err)
	}
	blocked := filepath.Join(bench.ArtifactDir, backup.Dir)
	if err := os.RemoveAll(blocked); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(blocked, []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	bench.Bad(write, arguments("path", "f", "content", "y"), "backups")
	bench.Bad(remove, arguments("path", "f"), "backups")
	if got := tree(t, bench.WorkspaceRoot)["f"]; got != "x" {
		t.Errorf("the file is now %q", got)
	}
}

// Calls at the same time: every change has its own backup, and no edit is lost.
func TestParallelEdits(t *testing.T) {
	t.Parallel()
	const count = 12
	var text strings.Builder
	files := map[string]string{}
	for i := range count {
		fmt.Fprintf(&text, "<%d>", i)
		files[fmt.Sprint("f", i)] = "x"
	}
	files["shared"] = text.String()
	bench := setup(t, files)
	var group sync.WaitGroup
	for i := range count {
		group.Go(func() {
			for tool, call := range map[string]string{
				edit: arguments("path", "shared", "old_text", fmt.Sprintf("<%d>", i), "new_text", "+"), remove: arguments("path", fmt.Sprint("f", i)),
			} {
				if result := bench.Call(t.Context(), tool, call); result.IsError {
					t.Errorf("%s %s = %s", tool, call, result.Text)
				}
			}
		})
	}
	group.Wait()
	if diff := cmp.Diff(map[string]string{"shared": strings.Repeat("+", count)}, tree(t, bench.WorkspaceRoot)); diff != "" {
		t.Errorf("workspace (-want +got):\n%s", diff)
	}
	if got := bench.Good(backups, `{}`)["total"]; got != 2.0*count {
		t.Errorf("backups = %v, want %d", got, 2*count)
	}
}
