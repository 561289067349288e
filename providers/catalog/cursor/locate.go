package cursor

import (
	"context"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

const (
	configVar  = "CURSOR_CONFIG_DIR"
	xdgVar     = "XDG_CONFIG_HOME"
	dataVar    = "CURSOR_DATA_DIR"
	programVar = "AGF_CURSOR_CLI"
)

// The kinds of files.
const (
	kindChat       = ""
	kindTranscript = "transcript"
	kindText       = "text" // a transcript in plain text
	kindSubAgent   = "sub-agent"
	// The same, where chats were moved: those of which the chat is not there are what the others left behind.
	kindLeftText     = "left text"
	kindLeftSubAgent = "left sub-agent"
)

// Reader reads the store of the Cursor command line. It has no state.
type Reader struct{}

var (
	_ catalog.Reader        = Reader{}
	_ catalog.Assembler     = Reader{}
	_ catalog.ContentReader = Reader{}
)

// New returns the reader.
func New() Reader { return Reader{} }

// Agent implements [catalog.Reader].
func (Reader) Agent() catalog.Agent { return catalog.Cursor }

// Roots implements [catalog.Reader]: first the folders that chats can lie in, then the one of transcripts, unless it is among them.
func (Reader) Roots(env catalog.Env) []catalog.Root {
	chats, data := places(env)
	for _, root := range chats {
		if root.Path == data.Path {
			return chats
		}
	}
	return append(chats, data)
}

// places returns the folders that chats can be in, of which the first one that has some counts, and the folder of transcripts.
func places(env catalog.Env) (chats []catalog.Root, data catalog.Root) {
	usual := env.InHome(".cursor")
	if path, ok := env.Root(configVar, ""); ok {
		chats = []catalog.Root{{Path: path, Var: configVar}}
	} else {
		if xdg := env.Var(xdgVar); filepath.IsAbs(xdg) {
			chats = append(chats, catalog.Root{Path: filepath.Join(xdg, "cursor"), Var: xdgVar})
		}
		chats = append(chats, catalog.Root{Path: usual})
	}
	data.Path = usual
	if path, ok := env.Root(dataVar, ""); ok {
		data = catalog.Root{Path: path, Var: dataVar}
	}
	return chats, data
}

// Discover implements [catalog.Reader].
func (Reader) Discover(ctx context.Context, d *catalog.Discovery) error {
	roots, data := places(d.Env)
	var chats []catalog.Unit
	for _, root := range roots {
		if root.Path == "" || len(chats) > 0 { // The program reads one of them.
			continue
		}
		// Depth: directory, id, file.
		err := bounded.Walk(ctx, filepath.Join(root.Path, "chats"), bounded.WalkOptions{Depth: 3}, func(e bounded.Entry) {
			if e.Depth == 3 && filepath.Base(e.Path) == "store.db" {
				meta := filepath.Join(filepath.Dir(e.Path), "meta.json")
				chats = append(chats, catalog.Unit{Path: e.Path, With: []string{meta, e.Path + "-wal"}})
			}
		}, d.Fault)
		if err != nil {
			return err
		}
	}
	transcripts, err := transcripts(ctx, d, data.Path)
	if err != nil {
		return err
	}
	chats, transcripts = ofID(chats, transcripts, d.Exact)
	for _, u := range append(chats, transcripts...) {
		d.Add(u)
	}
	return nil
}

// transcripts lists projects/<name>/agent-transcripts/<id>.jsonl, .txt, <id>/<id>.jsonl and <id>/subagents/<id>.jsonl.
func transcripts(ctx context.Context, d *catalog.Discovery, root string) (out []catalog.Unit, err error) {
	if root == "" {
		return nil, nil
	}
	opts := bounded.WalkOptions{Depth: 4, Enter: func(rel string, depth int) bool {
		base := filepath.Base(rel)
		return depth == 1 || depth == 2 && base == "agent-transcripts" || depth == 3 || depth == 4 && base == "subagents"
	}}
	if d.NonInteractive {
		opts.Depth = 5
	}
	text, subAgent := kindText, kindSubAgent
	if d.Env.Var(configVar) != "" && d.Env.Var(dataVar) == "" {
		text, subAgent = kindLeftText, kindLeftSubAgent
	}
	err = bounded.Walk(ctx, filepath.Join(root, "projects"), opts, func(e bounded.Entry) {
		name := filepath.Base(e.Path)
		lines := strings.HasSuffix(name, ".jsonl")
		switch {
		case e.Depth == 3 && strings.HasSuffix(name, ".txt"):
			out = append(out, catalog.Unit{Path: e.Path, Kind: text})
		case e.Depth == 3 && lines, e.Depth == 4 && lines && name == filepath.Base(filepath.Dir(e.Path))+".jsonl":
			out = append(out, catalog.Unit{Path: e.Path, Kind: kindTranscript})
		case e.Depth == 5 && lines:
			out = append(out, catalog.Unit{Path: e.Path, Kind: subAgent})
		}
	}, d.Fault)
	return out, err
}

// ofID returns the files of one session, and those that tell its directory: the chats of the same folder, or all chats when it has
// none of its own.
func ofID(chats, transcripts []catalog.Unit, id string) (ownChats, ownTranscripts []catalog.Unit) {
	if id == "" {
		return chats, transcripts
	}
	owners := map[string]bool{id: true}
	for _, u := range transcripts {
		if stem(u.Path) != id {
			continue
		}
		ownTranscripts = append(ownTranscripts, u)
		if isSubAgent(u) {
			owners[parentOf(u.Path)] = true
		}
	}
	folders := map[string]bool{}
	for _, u := range chats {
		if dir := filepath.Dir(u.Path); owners[filepath.Base(dir)] {
			folders[filepath.Dir(dir)] = true
		}
	}
	for _, u := range chats {
		if len(folders) == 0 || folders[filepath.Dir(filepath.Dir(u.Path))] {
			ownChats = append(ownChats, u)
		}
	}
	return ownChats, ownTranscripts
}

// isSubAgent reports whether a file is the transcript of a sub-agent.
func isSubAgent(u catalog.Unit) bool { return u.Kind == kindSubAgent || u.Kind == kindLeftSubAgent }

// stem is the name of a file without its ending.
func stem(path string) string {
	name := filepath.Base(path)
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// parentOf returns the id of the session that started the one of a sub-agent's transcript.
func parentOf(path string) string { return filepath.Base(filepath.Dir(filepath.Dir(path))) }

// projectOf returns the name of the folder of a transcript below projects.
func projectOf(path string) string {
	for dir := filepath.Dir(path); len(dir) > 1 && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if filepath.Base(dir) == "agent-transcripts" {
			return filepath.Base(filepath.Dir(dir))
		}
	}
	return ""
}
