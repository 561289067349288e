package claude

import (
	"context"
	"os"
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
	kindHistory    = "history"
	kindSummaries  = "summaries" // a transcript of which only the summaries at its start are wanted
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
	if d.Exact != "" {
		return discoverOne(ctx, d, root)
	}
	// Depth: project, transcript; below it <id>/subagents/agent-<id>.jsonl, which is walked for the count alone.
	opts := bounded.WalkOptions{Depth: 2}
	if d.NonInteractive {
		opts.Depth = 4
		opts.Enter = func(rel string, depth int) bool { return depth < 3 || filepath.Base(rel) == "subagents" }
	}
	return bounded.Walk(ctx, filepath.Join(root, "projects"), opts, func(e bounded.Entry) {
		id, ok := strings.CutSuffix(filepath.Base(e.Path), ".jsonl")
		switch {
		case !ok || e.Depth == 1:
		case strings.HasPrefix(id, "agent-"):
			d.Skip(e.Path, catalog.PartOfSession)
		case e.Depth == 2:
			d.Add(catalog.Unit{Path: e.Path})
		}
	}, d.Fault)
}

// discoverOne lists the files of one session. Only the folders that have its transcript are looked into: the title of an old
// version's session can stand in any file beside it.
func discoverOne(ctx context.Context, d *catalog.Discovery, root string) error {
	projects, name := filepath.Join(root, "projects"), d.Exact+".jsonl"
	opts := bounded.WalkOptions{Depth: 2, Enter: func(rel string, _ int) bool {
		_, err := os.Lstat(filepath.Join(projects, rel, name))
		return err == nil
	}}
	return bounded.Walk(ctx, projects, opts, func(e bounded.Entry) {
		switch base := filepath.Base(e.Path); {
		case e.Depth == 1 || !strings.HasSuffix(base, ".jsonl") || strings.HasPrefix(base, "agent-"):
		case base == name:
			d.Add(catalog.Unit{Path: e.Path})
		default:
			d.Add(catalog.Unit{Path: e.Path, Kind: kindSummaries})
		}
	}, d.Fault)
}
