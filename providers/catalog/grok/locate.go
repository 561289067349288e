package grok

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

const homeVar = "GROK_HOME"

// The kinds of files.
const (
	kindSummary = ""     // a session's summary, with its chat
	kindChat    = "chat" // of a session without a summary
)

// The names of files.
const (
	summaryName = "summary.json"
	chatName    = "chat_history.jsonl"
	cwdName     = ".cwd"
)

// Reader reads the store of Grok Build. It has no state.
type Reader struct{}

var (
	_ catalog.Reader        = Reader{}
	_ catalog.ContentReader = Reader{}
)

// New returns the reader.
func New() Reader { return Reader{} }

// Agent implements [catalog.Reader].
func (Reader) Agent() catalog.Agent { return catalog.Grok }

// Roots implements [catalog.Reader].
func (Reader) Roots(env catalog.Env) []catalog.Root {
	if v := env.Var(homeVar); v != "" {
		return []catalog.Root{{Path: env.Tilde(v), Var: homeVar}}
	}
	return []catalog.Root{{Path: env.InHome(".grok")}}
}

// Discover implements [catalog.Reader].
func (r Reader) Discover(ctx context.Context, d *catalog.Discovery) error {
	root := r.Roots(d.Env)[0].Path
	if root == "" {
		return nil
	}
	var folders []string // in order
	found := map[string]map[string]bool{}
	directories := map[string]bool{} // folders with a file that tells the directory
	// Depth: directory, session, file.
	opts := bounded.WalkOptions{Depth: 3, Enter: func(rel string, depth int) bool {
		return depth == 1 || d.Exact == "" || d.Exact == filepath.Base(rel)
	}}
	err := bounded.Walk(ctx, filepath.Join(root, "sessions"), opts, func(e bounded.Entry) {
		name, dir := filepath.Base(e.Path), filepath.Dir(e.Path)
		switch {
		case e.Depth == 2 && name == cwdName:
			directories[dir] = true
		case e.Depth == 3 && (name == summaryName || name == chatName):
			if found[dir] == nil {
				found[dir] = map[string]bool{}
				folders = append(folders, dir)
			}
			found[dir][name] = true
		}
	}, d.Fault)
	for _, dir := range folders {
		d.Add(unitOf(dir, found[dir], directories[filepath.Dir(dir)]))
	}
	return err
}

// unitOf returns what is to be read of a session: the names are the files that it has.
func unitOf(dir string, names map[string]bool, told bool) catalog.Unit {
	u := catalog.Unit{Path: filepath.Join(dir, summaryName)}
	if !names[summaryName] {
		u = catalog.Unit{Path: filepath.Join(dir, chatName), Kind: kindChat}
	} else if names[chatName] {
		u.With = append(u.With, filepath.Join(dir, chatName))
	}
	if told {
		u.With = append(u.With, filepath.Join(filepath.Dir(dir), cwdName))
	}
	return u
}

// directoryOf returns the directory that the folder above a session's tells, for a session that does not say it.
func directoryOf(p *catalog.Parsing) string {
	for _, path := range p.Unit.With {
		if filepath.Base(path) == cwdName {
			if data, err := bounded.ReadAll(path, catalog.MaxPathBytes+1); err == nil {
				return strings.TrimSpace(bounded.Clean(data))
			}
		}
	}
	dir, err := url.PathUnescape(filepath.Base(filepath.Dir(filepath.Dir(p.Unit.Path))))
	if err != nil || !strings.ContainsAny(dir, `/\`) {
		return ""
	}
	return bounded.Clean([]byte(dir))
}
