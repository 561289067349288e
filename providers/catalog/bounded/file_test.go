package bounded_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"agentd/providers/catalog/bounded"
)

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	if _, err := bounded.Open(t.TempDir()); !errors.Is(err, bounded.ErrNotRegular) {
		t.Errorf("Open of a folder = %v, want %v", err, bounded.ErrNotRegular)
	}
	if _, err := bounded.Open(filepath.Join(t.TempDir(), "x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of nothing = %v, want %v", err, fs.ErrNotExist)
	}
}

func TestReadAll(t *testing.T) {
	t.Parallel()
	path := open(t, []byte("\xef\xbb\xbf{}")).Path
	if got, err := bounded.ReadAll(path, 10); err != nil || string(got) != "{}" {
		t.Errorf("ReadAll = %q, %v, want {}", got, err)
	}
	if _, err := bounded.ReadAll(path, 3); !errors.Is(err, bounded.ErrTooLarge) {
		t.Errorf("ReadAll beyond the bound = %v, want %v", err, bounded.ErrTooLarge)
	}
}

func TestFileDoesNotSeeWhatIsAppended(t *testing.T) {
	t.Parallel()
	f := open(t, []byte("{1}\n"))
	if err := os.WriteFile(f.Path, []byte("{1}\n{2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"0:{1}"}, collect(t, f.Head(100))); diff != "" {
		t.Errorf("Head (-want +got):\n%s", diff)
	}
}

func TestZstd(t *testing.T) {
	t.Parallel()
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := enc.EncodeAll([]byte("{1}\n"+strings.Repeat("x", 1<<20)), nil)
	f := open(t, packed)
	r, err := f.Zstd()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if diff := cmp.Diff([]string{"0:{1}", "4:xxxxxxxx…96 (torn)"}, collect(t, bounded.Lines(r, 100))); diff != "" {
		t.Errorf("Lines (-want +got):\n%s", diff)
	}
}

func TestWalk(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{"a.x", "d/b.x", "d/e/c.x", "f/g.x"} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	walk := func(opts bounded.WalkOptions) ([]string, error) {
		got := []string{}
		err := bounded.Walk(t.Context(), root, opts, func(e bounded.Entry) { got = append(got, filepath.ToSlash(e.Rel)) }, nil)
		return got, err
	}
	tests := []struct {
		name string
		opts bounded.WalkOptions
		want []string
	}{
		{"one level", bounded.WalkOptions{}, []string{"a.x"}},
		{"two levels", bounded.WalkOptions{Depth: 2}, []string{"a.x", "d/b.x", "f/g.x"}},
		{"all", bounded.WalkOptions{Depth: 9}, []string{"a.x", "d/b.x", "d/e/c.x", "f/g.x"}},
		{"not all folders", bounded.WalkOptions{Depth: 9, Enter: func(rel string, _ int) bool { return rel != "d" }}, []string{"a.x", "f/g.x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := walk(tt.opts)
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("Walk (-want +got, error %v):\n%s", err, diff)
			}
		})
	}
	t.Run("bound", func(t *testing.T) {
		t.Parallel()
		if _, err := walk(bounded.WalkOptions{Depth: 9, MaxEntries: 2}); !errors.Is(err, bounded.ErrTooLarge) {
			t.Errorf("Walk beyond the bound = %v, want %v", err, bounded.ErrTooLarge)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := bounded.Walk(ctx, root, bounded.WalkOptions{}, func(bounded.Entry) {}, nil)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Walk = %v, want %v", err, context.Canceled)
		}
	})
}
