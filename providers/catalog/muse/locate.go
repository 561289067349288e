package muse

import (
	"context"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

const (
	dataVar = "XDG_DATA_HOME"
	logName = "session.jsonl"
	// logDepth is how deep below the folder of sessions a log lies: year, month, day, id, file.
	logDepth = 5
)

// Reader reads the store of Muse Code. It has no state.
type Reader struct{}

var (
	_ catalog.Reader        = Reader{}
	_ catalog.ContentReader = Reader{}
)

// New returns the reader.
func New() Reader { return Reader{} }

// Agent implements [catalog.Reader].
func (Reader) Agent() catalog.Agent { return catalog.Muse }

// Roots implements [catalog.Reader].
func (Reader) Roots(env catalog.Env) []catalog.Root {
	data, configured := env.Root(dataVar, env.InHome(".local", "share"))
	if data == "" {
		return []catalog.Root{{}}
	}
	root := catalog.Root{Path: filepath.Join(data, "muse", "sessions")}
	if configured {
		root.Var = dataVar
	}
	return []catalog.Root{root}
}

// Discover implements [catalog.Reader].
func (r Reader) Discover(ctx context.Context, d *catalog.Discovery) error {
	root := r.Roots(d.Env)[0].Path
	if root == "" {
		return nil
	}
	opts := bounded.WalkOptions{Depth: logDepth}
	if d.NonInteractive && d.Exact == "" {
		// Sub-agents' logs lie in subagent/<id>, and are walked for the count alone.
		opts.Depth = logDepth + 2
		opts.Enter = func(rel string, depth int) bool {
			return depth < logDepth || filepath.Base(rel) == "subagent" || filepath.Base(filepath.Dir(rel)) == "subagent"
		}
	}
	return bounded.Walk(ctx, root, opts, func(e bounded.Entry) {
		switch id := filepath.Base(filepath.Dir(e.Path)); {
		case filepath.Base(e.Path) != logName:
		case e.Depth > logDepth:
			d.Skip(e.Path, catalog.PartOfSession)
		case e.Depth == logDepth && (d.Exact == "" || strings.EqualFold(d.Exact, id)):
			d.Add(catalog.Unit{Path: e.Path})
		}
	}, d.Fault)
}
