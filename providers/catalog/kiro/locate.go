package kiro

import (
	"context"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

const homeVar = "KIRO_HOME"

// The kinds of files.
const (
	kindDatabase  = "database"
	kindSession   = ""          // of the second engine
	kindWorkspace = "workspace" // of the third engine
)

// Reader reads the store of Kiro. It has no state.
type Reader struct{}

var (
	_ catalog.Reader        = Reader{}
	_ catalog.ContentReader = Reader{}
)

// New returns the reader.
func New() Reader { return Reader{} }

// Agent implements [catalog.Reader].
func (Reader) Agent() catalog.Agent { return catalog.Kiro }

// Roots implements [catalog.Reader]: the folder of sessions, and the database.
func (Reader) Roots(env catalog.Env) []catalog.Root {
	home := catalog.Root{Path: env.InHome(".kiro")}
	if v := env.Var(homeVar); v != "" {
		home = catalog.Root{Path: env.Tilde(v), Var: homeVar}
	}
	roots := []catalog.Root{home}
	if data := env.PlatformData(); data != "" {
		roots = append(roots, catalog.Root{Path: filepath.Join(data, "kiro-cli", "data.sqlite3")})
	}
	return roots
}

// Discover implements [catalog.Reader].
func (r Reader) Discover(ctx context.Context, d *catalog.Discovery) error {
	roots := r.Roots(d.Env)
	if len(roots) > 1 {
		path := roots[1].Path
		d.Add(catalog.Unit{Path: path, Kind: kindDatabase, With: []string{path + "-wal"}, Store: true})
	}
	if roots[0].Path == "" {
		return nil
	}
	// Depth: workspace (or "cli"), id, file.
	return bounded.Walk(ctx, filepath.Join(roots[0].Path, "sessions"), bounded.WalkOptions{Depth: 3}, func(e bounded.Entry) {
		dir := filepath.Dir(e.Path)
		id, isJSON := strings.CutSuffix(filepath.Base(e.Path), ".json")
		switch {
		case !isJSON:
		case e.Depth == 2 && filepath.Base(dir) == "cli" && (d.Exact == "" || d.Exact == id):
			d.Add(catalog.Unit{Path: e.Path, With: []string{logOf(e.Path)}})
		case e.Depth == 3 && id == "session" && (d.Exact == "" || d.Exact == filepath.Base(dir)):
			d.Add(catalog.Unit{Path: e.Path, Kind: kindWorkspace, With: []string{logOf(e.Path)}})
		}
	}, d.Fault)
}

// logOf returns the log that lies beside a session's file.
func logOf(path string) string {
	if filepath.Base(path) == "session.json" {
		return filepath.Join(filepath.Dir(path), "messages.jsonl")
	}
	return strings.TrimSuffix(path, ".json") + ".jsonl"
}
