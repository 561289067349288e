package opencode

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

const (
	dataVar     = "XDG_DATA_HOME"
	databaseVar = "OPENCODE_DB"
	usualName   = "opencode.db"
)

// The kinds of files.
const (
	kindDatabase = "database"
	kindFile     = "file"    // storage/session/<project>/<id>.json
	kindOldFile  = "oldfile" // project/<name>/storage/session/info/<id>.json
	kindProject  = "project" // storage/project/<project>.json
)

// Reader reads the store of OpenCode. It has no state.
type Reader struct{}

var (
	_ catalog.Reader        = Reader{}
	_ catalog.Assembler     = Reader{}
	_ catalog.ContentReader = Reader{}
)

// New returns the reader.
func New() Reader { return Reader{} }

// Agent implements [catalog.Reader].
func (Reader) Agent() catalog.Agent { return catalog.OpenCode }

// Roots implements [catalog.Reader]. The second place is a database that was configured.
func (Reader) Roots(env catalog.Env) []catalog.Root {
	data, configured := env.XDGData()
	if data == "" {
		return []catalog.Root{{}}
	}
	roots := []catalog.Root{{Path: filepath.Join(data, "opencode")}}
	if configured {
		roots[0].Var = dataVar
	}
	if path := configuredDatabase(env); path != "" {
		roots = append(roots, catalog.Root{Path: path, Var: databaseVar})
	}
	return roots
}

// configuredDatabase returns the database that the environment names. A relative name is one in the data folder.
func configuredDatabase(env catalog.Env) string {
	data, _ := env.XDGData()
	switch v := env.Var(databaseVar); {
	case v == "" || v == ":memory:":
		return ""
	case filepath.IsAbs(v):
		return filepath.Clean(v)
	default:
		return filepath.Join(data, "opencode", v)
	}
}

// Discover implements [catalog.Reader].
func (r Reader) Discover(ctx context.Context, d *catalog.Discovery) error {
	root := r.Roots(d.Env)[0].Path
	if root == "" {
		return nil
	}
	for _, path := range databases(d, root) {
		d.Add(catalog.Unit{Path: path, Kind: kindDatabase, With: []string{path + "-wal"}, Store: true})
	}
	err := bounded.Walk(ctx, filepath.Join(root, "storage", "project"), bounded.WalkOptions{}, func(e bounded.Entry) {
		if strings.HasSuffix(e.Path, ".json") {
			d.Add(catalog.Unit{Path: e.Path, Kind: kindProject})
		}
	}, d.Fault)
	if err != nil {
		return err
	}
	err = bounded.Walk(ctx, filepath.Join(root, "storage", "session"), bounded.WalkOptions{Depth: 2}, func(e bounded.Entry) {
		id, ok := strings.CutSuffix(filepath.Base(e.Path), ".json")
		if ok && e.Depth == 2 && (d.Exact == "" || d.Exact == id) {
			d.Add(catalog.Unit{Path: e.Path, Kind: kindFile, With: []string{messagesOf(e.Path, id)}})
		}
	}, d.Fault)
	if err != nil {
		return err
	}
	// Depth: project, storage, session, info, file.
	opts := bounded.WalkOptions{Depth: 5, Enter: func(rel string, depth int) bool {
		return depth == 1 || strings.HasSuffix(filepath.ToSlash(rel), []string{"", "", "/storage", "/storage/session", "/storage/session/info"}[min(depth, 4)])
	}}
	return bounded.Walk(ctx, filepath.Join(root, "project"), opts, func(e bounded.Entry) {
		id, ok := strings.CutSuffix(filepath.Base(e.Path), ".json")
		if ok && e.Depth == 5 && (d.Exact == "" || d.Exact == id) {
			d.Add(catalog.Unit{Path: e.Path, Kind: kindOldFile, With: []string{messagesOf(e.Path, id)}})
		}
	}, d.Fault)
}

// messagesOf returns the folder of the messages of a session that is kept as JSON.
func messagesOf(path, id string) string {
	dir := filepath.Dir(path)
	if filepath.Base(dir) == "info" {
		return filepath.Join(filepath.Dir(dir), "message", id)
	}
	return filepath.Join(filepath.Dir(filepath.Dir(dir)), "message", id)
}

// databases lists the databases of all channels, the usual one first after a configured one.
func databases(d *catalog.Discovery, root string) []string {
	var paths []string
	add := func(path string) {
		for _, have := range paths {
			if have == path {
				return
			}
		}
		paths = append(paths, path)
	}
	if path := configuredDatabase(d.Env); path != "" {
		add(path)
	}
	add(filepath.Join(root, usualName))
	entries, err := os.ReadDir(root)
	if err != nil && !os.IsNotExist(err) {
		d.Fault(root, err)
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, "opencode-") && strings.HasSuffix(name, ".db") {
			add(filepath.Join(root, name))
		}
	}
	return paths
}
