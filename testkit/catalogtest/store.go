package catalogtest

import (
	"crypto/sha256"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentd/providers/catalog"
)

// bench is one written store.
type bench struct {
	cfg   Config
	env   catalog.Env
	wants []Want
}

// setup writes a store in a home of its own.
func (cfg Config) setup(tb testing.TB, vars map[string]string) *bench {
	tb.Helper()
	env := NewEnv(tb)
	maps.Copy(env.Vars, vars)
	for k, v := range env.Vars {
		env.Vars[k] = below(env, v)
	}
	b := &bench{cfg: cfg, env: env, wants: cfg.Write(tb, env)}
	if len(b.wants) < 2 {
		tb.Fatalf("Write returned %d sessions, want at least 2", len(b.wants))
	}
	for i := range b.wants {
		b.wants[i].Project = below(env, b.wants[i].Project)
	}
	return b
}

func below(env catalog.Env, path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(env.Home, filepath.FromSlash(rest))
	}
	return path
}

// catalog returns a new catalog over the store.
func (b *bench) catalog(tb testing.TB, workers int) *catalog.Catalog {
	tb.Helper()
	c, err := catalog.New([]catalog.Reader{b.cfg.Reader}, &catalog.Options{Env: &b.env, Workers: workers, Version: "test"})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// everything asks for all that there is.
func everything() catalog.SearchRequest {
	return catalog.SearchRequest{Limit: new(catalog.MaxPage), IncludeSummaries: true, IncludeNonInteractive: true, IncludeArchived: true, Details: true}
}

// search returns all sessions by id.
func (b *bench) search(tb testing.TB, c *catalog.Catalog) map[string]catalog.SessionView {
	tb.Helper()
	found, err := c.Search(tb.Context(), everything())
	if err != nil {
		tb.Fatalf("Search: %v", err)
	}
	return byID(found)
}

func byID(found *catalog.SearchResult) map[string]catalog.SessionView {
	out := map[string]catalog.SessionView{}
	for _, s := range found.Sessions {
		out[s.SessionID] = s
	}
	return out
}

// files returns the regular files of the store, slash-separated and below the home.
func (b *bench) files(tb testing.TB) []string {
	tb.Helper()
	var out []string
	err := filepath.WalkDir(b.env.Home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			rel, _ := filepath.Rel(b.env.Home, path)
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// snapshot returns what is below the home.
func (b *bench) snapshot(tb testing.TB) map[string]string {
	tb.Helper()
	return Snapshot(tb, b.env.Home)
}

// Snapshot returns what is in a folder: the mode, the time and a hash of the content of everything, by path. Two that are
// equal prove that nothing was changed between them.
func Snapshot(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		state := info.Mode().String()
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(data)
			state += info.ModTime().String() + string(sum[:])
		}
		out[path] = state
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}
