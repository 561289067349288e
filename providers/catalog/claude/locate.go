package claude

import (
	"context"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

// rootVar moves the whole configuration folder.
const rootVar = "CLAUDE_CONFIG_DIR"

// The kinds of files.
const (
	kindTranscript = ""
	kindSubAgent   = "sub-agent"
	kindHistory    = "history"
)

// Reader reads the store of Claude Code. It has no state.
type Reader struct{}

var (
	_ catalog.Reader        = Reader{}
	_ catalog.Assembler     = Reader{}
	_ catalog.ContentReader = Reader{}
)

// New returns the reader.
func New() Reader { return Reader{} }

// Agent implements [catalog.Reader].
func (Reader) Agent() catalog.Agent { return catalog.Claude }

// Roots implements [catalog.Reader].
func (Reader) Roots(env catalog.Env) []catalog.Root {
	path, configured := env.Root(rootVar, env.InHome(".claude"))
	if configured {
		return []catalog.Root{{Path: path, Var: rootVar}}
	}
	return []catalog.Root{{Path: path}}
}

// Discover implements [catalog.Reader].
func (r Reader) Discover(ctx context.Context, d *catalog.Discovery) error {
	root := r.Roots(d.Env)[0].Path
	if root == "" {
		return nil
	}
	d.Add(catalog.Unit{Path: filepath.Join(root, "history.jsonl"), Kind: kindHistory})
	// Depth: project, transcript; below it <id>/subagents/agent-<id>.jsonl.
	opts := bounded.WalkOptions{Depth: 2}
	if d.NonInteractive {
		opts.Depth = 4
		opts.Enter = func(rel string, depth int) bool { return depth < 3 || filepath.Base(rel) == "subagents" }
	}
	return bounded.Walk(ctx, filepath.Join(root, "projects"), opts, func(e bounded.Entry) {
		if u, id := unit(e); id != "" && (d.Exact == "" || d.Exact == id) && (d.NonInteractive || u.Kind != kindSubAgent) {
			d.Add(u)
		}
	}, d.Fault)
}

// unit tells what a file is by its place and name. The id is empty for what is no transcript.
func unit(e bounded.Entry) (catalog.Unit, string) {
	id, ok := strings.CutSuffix(filepath.Base(e.Path), ".jsonl")
	if !ok {
		return catalog.Unit{}, ""
	}
	sub := strings.HasPrefix(id, "agent-")
	switch {
	case sub && (e.Depth == 2 || e.Depth == 4):
		return catalog.Unit{Path: e.Path, Kind: kindSubAgent}, id
	case !sub && e.Depth == 2:
		return catalog.Unit{Path: e.Path, Kind: kindTranscript}, id
	default:
		return catalog.Unit{}, ""
	}
}
