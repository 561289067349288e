package kimi

import (
	"context"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

const homeVar = "KIMI_CODE_HOME"

// The kinds of files.
const (
	kindState = ""      // a session's state, with its wire
	kindWire  = "wire"  // of a session without a state
	kindIndex = "index" // of all sessions
)

// metaDir is where earlier builds kept the state, below the session's folder.
const metaDir = "session-meta"

// Reader reads the store of Kimi Code. It has no state.
type Reader struct{}

var (
	_ catalog.Reader        = Reader{}
	_ catalog.Assembler     = Reader{}
	_ catalog.ContentReader = Reader{}
)

// New returns the reader.
func New() Reader { return Reader{} }

// Agent implements [catalog.Reader].
func (Reader) Agent() catalog.Agent { return catalog.Kimi }

// Roots implements [catalog.Reader].
func (Reader) Roots(env catalog.Env) []catalog.Root {
	if v := env.Var(homeVar); v != "" {
		return []catalog.Root{{Path: env.Tilde(v), Var: homeVar}}
	}
	return []catalog.Root{{Path: env.InHome(".kimi-code")}}
}

// Discover implements [catalog.Reader].
func (r Reader) Discover(ctx context.Context, d *catalog.Discovery) error {
	root := r.Roots(d.Env)[0].Path
	if root == "" {
		return nil
	}
	d.Add(catalog.Unit{Path: filepath.Join(root, "session_index.jsonl"), Kind: kindIndex})
	var folders []string // in order
	found := map[string]*files{}
	count := d.NonInteractive && d.Exact == ""
	// Depth: work directory, session, state; or below the session, session-meta, state; or agents, name, wire.
	opts := bounded.WalkOptions{Depth: 5, Enter: func(rel string, depth int) bool {
		name := filepath.Base(rel)
		switch depth {
		case 2:
			return d.Exact == "" || d.Exact == name
		case 3:
			return name == metaDir || name == "agents"
		case 4:
			return filepath.Base(filepath.Dir(rel)) == "agents" && (name == "main" || count)
		default:
			return true
		}
	}}
	err := bounded.Walk(ctx, filepath.Join(root, "sessions"), opts, func(e bounded.Entry) {
		dir := sessionDir(e)
		if dir == "" {
			return
		}
		if found[dir] == nil {
			found[dir] = &files{}
			folders = append(folders, dir)
		}
		if !found[dir].take(e) {
			d.Skip(e.Path, catalog.PartOfSession)
		}
	}, d.Fault)
	for _, dir := range folders {
		if u, ok := found[dir].unit(); ok {
			d.Add(u)
		}
	}
	return err
}

// files are those of one session that matter.
type files struct{ state, oldState, wire string }

// take takes a file. It returns false for one that is another agent's.
func (f *files) take(e bounded.Entry) bool {
	switch {
	case e.Depth == 3 && filepath.Base(e.Path) == "state.json":
		f.state = e.Path
	case e.Depth == 4 && filepath.Base(e.Path) == "state.json":
		f.oldState = e.Path
	case e.Depth == 5 && filepath.Base(e.Path) == "wire.jsonl":
		if filepath.Base(filepath.Dir(e.Path)) != "main" {
			return false
		}
		f.wire = e.Path
	}
	return true
}

// unit returns what is to be read, when there is anything.
func (f *files) unit() (catalog.Unit, bool) {
	u := catalog.Unit{Path: f.state}
	if u.Path == "" {
		u.Path = f.oldState
	}
	switch {
	case u.Path == "":
		u.Path, u.Kind = f.wire, kindWire
	case f.wire != "":
		u.With = []string{f.wire}
	}
	return u, u.Path != ""
}

// sessionDir returns the folder of the session that a file belongs to.
func sessionDir(e bounded.Entry) string {
	dir := e.Path
	for range e.Depth - 2 {
		dir = filepath.Dir(dir)
	}
	if e.Depth < 3 {
		return ""
	}
	return dir
}

// folderOf returns the folder of the session of which a state or wire is.
func folderOf(path string) string {
	dir := filepath.Dir(path)
	switch {
	case strings.HasSuffix(path, ".jsonl"):
		return filepath.Dir(filepath.Dir(dir))
	case filepath.Base(dir) == metaDir:
		return filepath.Dir(dir)
	default:
		return dir
	}
}
