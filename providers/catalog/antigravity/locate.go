package antigravity

import (
	"context"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

// The kinds of files.
const (
	kindIndex        = "index"
	kindConversation = "conversation"
	kindLog          = "log"
)

const (
	indexName   = "conversation_summaries.db"
	logName     = "transcript.jsonl"
	fullLogName = "transcript_full.jsonl"
)

// Reader reads the store of the Antigravity command line. It has no state.
type Reader struct{}

var (
	_ catalog.Reader        = Reader{}
	_ catalog.Assembler     = Reader{}
	_ catalog.ContentReader = Reader{}
)

// New returns the reader.
func New() Reader { return Reader{} }

// Agent implements [catalog.Reader].
func (Reader) Agent() catalog.Agent { return catalog.Antigravity }

// Roots implements [catalog.Reader].
func (Reader) Roots(env catalog.Env) []catalog.Root {
	return []catalog.Root{{Path: env.InHome(".gemini", "antigravity-cli")}}
}

// Discover implements [catalog.Reader].
func (r Reader) Discover(ctx context.Context, d *catalog.Discovery) error {
	root := r.Roots(d.Env)[0].Path
	if root == "" {
		return nil
	}
	index := filepath.Join(root, indexName)
	d.Add(catalog.Unit{Path: index, Kind: kindIndex, With: []string{index + "-wal"}, Store: true})
	wanted := func(id string) bool { return isID(id) && (d.Exact == "" || strings.EqualFold(d.Exact, id)) }
	seen := map[string]bool{}
	err := bounded.Walk(ctx, filepath.Join(root, "conversations"), bounded.WalkOptions{}, func(e bounded.Entry) {
		// A conversation that just began has nothing but the log of its database.
		path := strings.TrimSuffix(e.Path, "-wal")
		id, ok := strings.CutSuffix(filepath.Base(path), ".db")
		if ok && wanted(id) && !seen[path] {
			seen[path] = true
			d.Add(catalog.Unit{Path: path, Kind: kindConversation, With: []string{path + "-wal"}})
		}
	}, d.Fault)
	if err != nil {
		return err
	}
	// Depth: id, .system_generated, logs, file. Much else lies in these folders.
	opts := bounded.WalkOptions{Depth: 4, Enter: func(rel string, depth int) bool {
		switch name := filepath.Base(rel); depth {
		case 1:
			return wanted(name)
		case 2:
			return name == ".system_generated"
		default:
			return name == "logs"
		}
	}}
	return bounded.Walk(ctx, filepath.Join(root, "brain"), opts, func(e bounded.Entry) {
		if e.Depth == 4 && filepath.Base(e.Path) == logName {
			d.Add(catalog.Unit{Path: e.Path, Kind: kindLog})
		}
	}, d.Fault)
}

// isID reports whether a text has the form of an id: 32 hexadecimal digits in five groups.
func isID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i, c := range []byte(text) {
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
				return false
			}
		}
	}
	return true
}

// idOf returns the id of the conversation that a unit is of.
func idOf(u catalog.Unit) string {
	if u.Kind == kindLog {
		return filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(u.Path))))
	}
	return strings.TrimSuffix(filepath.Base(u.Path), ".db")
}
