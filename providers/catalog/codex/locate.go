package codex

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

const (
	homeVar   = "CODEX_HOME"
	sqliteVar = "CODEX_SQLITE_HOME"
)

// The kinds of files.
const (
	kindRollout  = ""
	kindPacked   = "zst"
	kindDatabase = "database"
	kindNames    = "names"
	kindHistory  = "history"
)

// archiveDir is where Codex moves the rollouts of archived sessions.
const archiveDir = "archived_sessions"

// Reader reads the store of Codex. It has no state.
type Reader struct{}

var (
	_ catalog.Reader        = Reader{}
	_ catalog.Assembler     = Reader{}
	_ catalog.ContentReader = Reader{}
)

// New returns the reader.
func New() Reader { return Reader{} }

// Agent implements [catalog.Reader].
func (Reader) Agent() catalog.Agent { return catalog.Codex }

// Roots implements [catalog.Reader]. The second place is where the databases are, when that is another one.
func (Reader) Roots(env catalog.Env) []catalog.Root {
	p := locate(env)
	roots := []catalog.Root{{Path: p.home}}
	if p.homeConfigured {
		roots[0].Var = homeVar
	}
	if p.sqlite != p.home {
		roots = append(roots, catalog.Root{Path: p.sqlite, Var: p.sqliteVar})
	}
	return roots
}

// places are the two folders of the store.
type places struct {
	home           string
	homeConfigured bool
	sqlite         string
	sqliteVar      string // the variable that configured it
	config         error  // why the configuration file cannot be used
}

func locate(env catalog.Env) places {
	var p places
	p.home, p.homeConfigured = env.Root(homeVar, env.InHome(".codex"))
	p.sqlite = p.home
	if p.home == "" {
		return p
	}
	configured, err := configuredSQLiteHome(filepath.Join(p.home, "config.toml"))
	p.config = err
	switch fromEnv := strings.TrimSpace(env.Var(sqliteVar)); {
	case configured != "" && (filepath.IsAbs(configured) || strings.HasPrefix(configured, "~")):
		p.sqlite = env.Tilde(configured)
	case configured != "":
		p.sqlite = filepath.Join(p.home, configured)
	case fromEnv != "":
		p.sqlite, p.sqliteVar = env.Abs(fromEnv), sqliteVar
	}
	return p
}

// Discover implements [catalog.Reader].
func (Reader) Discover(ctx context.Context, d *catalog.Discovery) error {
	p := locate(d.Env)
	if p.home == "" {
		return nil
	}
	if p.config != nil {
		d.Fault(filepath.Join(p.home, "config.toml"), p.config)
	}
	// Some versions keep the databases in a folder of their own without saying so anywhere.
	for _, path := range databases(d, p.sqlite, p.home, filepath.Join(p.home, "sqlite")) {
		d.Add(catalog.Unit{Path: path, Kind: kindDatabase, With: []string{path + "-wal"}})
	}
	d.Add(catalog.Unit{Path: filepath.Join(p.home, "session_index.jsonl"), Kind: kindNames})
	d.Add(catalog.Unit{Path: filepath.Join(p.home, "history.jsonl"), Kind: kindHistory})
	var rollouts []catalog.Unit
	for _, dir := range []string{"sessions", archiveDir} {
		err := bounded.Walk(ctx, filepath.Join(p.home, dir), bounded.WalkOptions{Depth: 8}, func(e bounded.Entry) {
			name := filepath.Base(e.Path)
			switch {
			case strings.HasSuffix(name, ".jsonl"):
				rollouts = append(rollouts, catalog.Unit{Path: e.Path})
			case strings.HasSuffix(name, ".jsonl.zst"):
				rollouts = append(rollouts, catalog.Unit{Path: e.Path, Kind: kindPacked})
			case strings.HasPrefix(name, "rollout-") && strings.HasSuffix(name, ".json"):
				d.Skip(e.Path, catalog.Unresumable)
			}
		}, d.Fault)
		if err != nil {
			return err
		}
	}
	for _, u := range ofID(rollouts, d.Exact) {
		d.Add(u)
	}
	return nil
}

// ofID returns the rollouts that bear an id in their name; all when there is none, because nothing forces a name to.
func ofID(rollouts []catalog.Unit, id string) []catalog.Unit {
	var named []catalog.Unit
	for _, u := range rollouts {
		if id != "" && strings.Contains(filepath.Base(u.Path), id) {
			named = append(named, u)
		}
	}
	if len(named) == 0 {
		return rollouts
	}
	return named
}

// databases lists the state databases in folders, the highest number first and, for one number, in the order of the
// folders. Names without a number come last.
func databases(d *catalog.Discovery, dirs ...string) []string {
	type numbered struct {
		path   string
		number int
	}
	var found []numbered
	seen := map[string]bool{}
	for _, dir := range dirs {
		if seen[dir] {
			continue
		}
		seen[dir] = true
		entries, err := os.ReadDir(dir)
		if err != nil && !os.IsNotExist(err) {
			d.Fault(dir, err)
		}
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), ".sqlite")
			if !ok || (name != "state" && !strings.HasPrefix(name, "state_")) {
				continue
			}
			n, err := strconv.Atoi(strings.TrimPrefix(name, "state_"))
			if err != nil {
				n = -1
			}
			found = append(found, numbered{filepath.Join(dir, e.Name()), n})
		}
	}
	slices.SortStableFunc(found, func(a, b numbered) int { return b.number - a.number })
	paths := make([]string, len(found))
	for i, f := range found {
		paths[i] = f.path
	}
	return paths
}
