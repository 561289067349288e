package yolop

import (
	"context"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

const (
	dataVar = "YOLOP_DATA_DIR"
	xdgVar  = "XDG_DATA_HOME"
)

// The kinds of files.
const (
	kindWorkspace = ""       // a session's workspace, with its events
	kindEvents    = "events" // of a session without a workspace
)

// The names of files.
const (
	workspaceName = "workspace.json"
	eventsName    = "events.jsonl"
)

// Reader reads the store of Yolop. It has no state.
type Reader struct{}

var (
	_ catalog.Reader        = Reader{}
	_ catalog.ContentReader = Reader{}
)

// New returns the reader.
func New() Reader { return Reader{} }

// Agent implements [catalog.Reader].
func (Reader) Agent() catalog.Agent { return catalog.Yolop }

// Roots implements [catalog.Reader].
func (Reader) Roots(env catalog.Env) []catalog.Root {
	if v := env.Var(dataVar); v != "" {
		return []catalog.Root{{Path: env.Tilde(v), Var: dataVar}}
	}
	base, name := env.PlatformData(), ""
	switch env.OS {
	case "darwin":
	case "windows":
		base = env.InHome("AppData", "Roaming")
		if v := env.Var("APPDATA"); v != "" {
			base = env.Abs(v)
		}
	default:
		if _, configured := env.XDGData(); configured {
			name = xdgVar
		}
	}
	if base == "" {
		return []catalog.Root{{}}
	}
	return []catalog.Root{{Path: filepath.Join(base, "yolop"), Var: name}}
}

// Discover implements [catalog.Reader].
func (r Reader) Discover(ctx context.Context, d *catalog.Discovery) error {
	root := r.Roots(d.Env)[0].Path
	if root == "" {
		return nil
	}
	var ids []string // in order
	found := map[string]*files{}
	// Depth: session, file; or the log of an older version.
	opts := bounded.WalkOptions{Depth: 2, Enter: func(rel string, _ int) bool {
		return strings.HasPrefix(rel, "session_") && (d.Exact == "" || d.Exact == rel)
	}}
	err := bounded.Walk(ctx, filepath.Join(root, "sessions"), opts, func(e bounded.Entry) {
		id := filepath.Base(filepath.Dir(e.Path))
		old := false
		if e.Depth == 1 {
			id, old = strings.CutSuffix(filepath.Base(e.Path), ".jsonl")
			if !old || !strings.HasPrefix(id, "session_") || d.Exact != "" && d.Exact != id {
				return
			}
		}
		if found[id] == nil {
			found[id] = &files{}
			ids = append(ids, id)
		}
		found[id].take(e.Path, old)
	}, d.Fault)
	for _, id := range ids {
		found[id].add(d)
	}
	return err
}

// files are those of one session that matter.
type files struct{ workspace, events, old string }

func (f *files) take(path string, old bool) {
	switch name := filepath.Base(path); {
	case old:
		f.old = path
	case name == workspaceName:
		f.workspace = path
	case name == eventsName:
		f.events = path
	}
}

// add lists the session. The log of an older version counts as long as there is no other.
func (f *files) add(d *catalog.Discovery) {
	events := f.events
	switch {
	case events == "":
		events = f.old
	case f.old != "":
		d.Skip(f.old, catalog.PartOfSession)
	}
	switch {
	case f.workspace != "" && events != "":
		d.Add(catalog.Unit{Path: f.workspace, With: []string{events}})
	case f.workspace != "":
		d.Add(catalog.Unit{Path: f.workspace})
	case events != "":
		d.Add(catalog.Unit{Path: events, Kind: kindEvents})
	}
}

// idOf returns the id of the session that a file belongs to.
func idOf(path string) string {
	if name := filepath.Base(path); name != workspaceName && name != eventsName {
		return strings.TrimSuffix(name, ".jsonl")
	}
	return filepath.Base(filepath.Dir(path))
}

// logOf returns the events of a session, by the file that it was found by.
func logOf(store string) string {
	if filepath.Base(store) == workspaceName {
		return filepath.Join(filepath.Dir(store), eventsName)
	}
	return store
}

// oldLogOf returns where an older version kept the events of the session that a workspace is of.
func oldLogOf(store string) string { return filepath.Dir(store) + ".jsonl" }
