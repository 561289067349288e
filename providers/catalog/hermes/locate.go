package hermes

import (
	"context"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

const (
	homeVar      = "HERMES_HOME"
	databaseName = "state.db"
)

// Reader reads the store of Hermes Agent. It has no state.
type Reader struct{}

var (
	_ catalog.Reader        = Reader{}
	_ catalog.ContentReader = Reader{}
)

// New returns the reader.
func New() Reader { return Reader{} }

// Agent implements [catalog.Reader].
func (Reader) Agent() catalog.Agent { return catalog.Hermes }

// Roots implements [catalog.Reader].
func (Reader) Roots(env catalog.Env) []catalog.Root {
	if v := strings.TrimSpace(env.Var(homeVar)); v != "" {
		return []catalog.Root{{Path: env.Tilde(v), Var: homeVar}}
	}
	return []catalog.Root{{Path: usualHome(env)}}
}

// usualHome returns the home that the program has without being told another one.
func usualHome(env catalog.Env) string {
	if env.OS != "windows" {
		return env.InHome(".hermes")
	}
	if data := env.PlatformData(); data != "" {
		return filepath.Join(data, "hermes")
	}
	return ""
}

// Discover implements [catalog.Reader].
func (r Reader) Discover(ctx context.Context, d *catalog.Discovery) error {
	root := r.Roots(d.Env)[0].Path
	if root == "" {
		return nil
	}
	add := func(path string, only bool) {
		d.Add(catalog.Unit{Path: path, With: []string{path + "-wal"}, Store: only})
	}
	add(filepath.Join(root, databaseName), true)
	// Depth: profile, file.
	return bounded.Walk(ctx, filepath.Join(root, "profiles"), bounded.WalkOptions{Depth: 2}, func(e bounded.Entry) {
		if e.Depth == 2 && filepath.Base(e.Path) == databaseName {
			add(e.Path, false)
		}
	}, d.Fault)
}
