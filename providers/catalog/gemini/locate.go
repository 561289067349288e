package gemini

import (
	"context"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

// homeVar names the folder that .gemini lies in.
const homeVar = "GEMINI_CLI_HOME"

// The kinds of files.
const (
	kindLines    = ""
	kindObject   = "json"
	kindProjects = "projects"
	kindRoot     = "root"
	kindTrusted  = "trusted" // directories that a person trusts; only their names matter
	kindLogs     = "logs"
)

// Reader reads the store of Gemini CLI. It has no state.
type Reader struct{}

var (
	_ catalog.Reader        = Reader{}
	_ catalog.Assembler     = Reader{}
	_ catalog.ContentReader = Reader{}
)

// New returns the reader.
func New() Reader { return Reader{} }

// Agent implements [catalog.Reader].
func (Reader) Agent() catalog.Agent { return catalog.Gemini }

// Roots implements [catalog.Reader].
func (Reader) Roots(env catalog.Env) []catalog.Root {
	home, configured := env.Root(homeVar, env.Home)
	switch {
	case home == "":
		return []catalog.Root{{}}
	case configured:
		return []catalog.Root{{Path: filepath.Join(home, ".gemini"), Var: homeVar}}
	default:
		return []catalog.Root{{Path: filepath.Join(home, ".gemini")}}
	}
}

// Discover implements [catalog.Reader].
func (r Reader) Discover(ctx context.Context, d *catalog.Discovery) error {
	root := r.Roots(d.Env)[0].Path
	if root == "" {
		return nil
	}
	d.Add(catalog.Unit{Path: filepath.Join(root, "projects.json"), Kind: kindProjects})
	d.Add(catalog.Unit{Path: filepath.Join(root, "trustedFolders.json"), Kind: kindTrusted})
	var sessions []catalog.Unit
	// Depth: folder, chats, parent of a sub-agent, file.
	opts := bounded.WalkOptions{Depth: 3, Enter: func(rel string, depth int) bool { return depth != 2 || filepath.Base(rel) == "chats" }}
	if d.NonInteractive {
		opts.Depth = 4
	}
	err := bounded.Walk(ctx, filepath.Join(root, "tmp"), opts, func(e bounded.Entry) {
		name := filepath.Base(e.Path)
		switch {
		case e.Depth == 2 && name == ".project_root":
			d.Add(catalog.Unit{Path: e.Path, Kind: kindRoot})
		case e.Depth == 2 && name == "logs.json":
			d.Add(catalog.Unit{Path: e.Path, Kind: kindLogs})
		case e.Depth < 3:
		case strings.HasSuffix(name, ".jsonl"):
			sessions = append(sessions, catalog.Unit{Path: e.Path})
		case strings.HasSuffix(name, ".json"):
			sessions = append(sessions, catalog.Unit{Path: e.Path, Kind: kindObject})
		}
	}, d.Fault)
	if err != nil {
		return err
	}
	for _, u := range ofID(sessions, d.Exact) {
		d.Add(u)
	}
	return bounded.Walk(ctx, filepath.Join(root, "history"), bounded.WalkOptions{Depth: 2}, func(e bounded.Entry) {
		if e.Depth == 2 && filepath.Base(e.Path) == ".project_root" {
			d.Add(catalog.Unit{Path: e.Path, Kind: kindRoot})
		}
	}, d.Fault)
}

// ofID returns the files whose name has the start of an id; all when there is none, because nothing forces a name to.
func ofID(files []catalog.Unit, id string) []catalog.Unit {
	start := bounded.Clip(id, 8)
	var named []catalog.Unit
	for _, u := range files {
		if start != "" && strings.Contains(filepath.Base(u.Path), start) {
			named = append(named, u)
		}
	}
	if len(named) == 0 {
		return files
	}
	return named
}

// folderOf returns the name of the folder below tmp or history that a file belongs to, and the id of the session that
// started the one in the file.
func folderOf(path string) (folder, parent string) {
	dir := filepath.Dir(path)
	if filepath.Base(path) == ".project_root" {
		return filepath.Base(dir), ""
	}
	if filepath.Base(dir) != "chats" {
		parent, dir = filepath.Base(dir), filepath.Dir(dir)
	}
	return filepath.Base(filepath.Dir(dir)), parent
}
