package catalogtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func testLinks(t *testing.T, cfg Config) {
	if runtime.GOOS == "windows" {
		return // Links need a right that tests rarely have.
	}
	t.Run("that lead back up", func(t *testing.T) {
		t.Parallel()
		b := cfg.setup(t, nil)
		var dirs []string
		err := filepath.WalkDir(b.env.Home, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && path != b.env.Home {
				dirs = append(dirs, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			for name, target := range map[string]string{"loop": ".", "up": "..", "self.jsonl": "self.jsonl"} {
				if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
		}
		b.compare(t, b.search(t, b.catalog(t, 4)))
	})
	t.Run("in place of a root", func(t *testing.T) {
		t.Parallel()
		b := cfg.setup(t, nil)
		for i, root := range cfg.Reader.Roots(b.env) {
			info, err := os.Lstat(root.Path)
			if err != nil || !info.IsDir() {
				continue
			}
			real := filepath.Join(b.env.Home, "elsewhere", string(rune('a'+i)))
			if err := os.MkdirAll(filepath.Dir(real), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(root.Path, real); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(real, root.Path); err != nil {
				t.Fatal(err)
			}
		}
		b.compare(t, b.search(t, b.catalog(t, 4)))
	})
}
