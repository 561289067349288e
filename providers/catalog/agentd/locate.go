package agentd

import (
	"context"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

const (
	homeVar = "AGENTD_HOME"
	xdgVar  = "XDG_DATA_HOME"
)

// The kinds of files.
const (
	kindSnapshot  = ""
	kindSegment   = "segment"
	kindTombstone = "tombstone"
)

// The folders of a data directory.
const (
	sessionsDir   = "agent-sessions"
	journalDir    = "journal"
	tombstonesDir = "deleted"
	quarantineDir = "quarantine"
)

// Reader reads the sessions of agentd. It has no state.
type Reader struct{}

var (
	_ catalog.Reader        = Reader{}
	_ catalog.Assembler     = Reader{}
	_ catalog.ContentReader = Reader{}
)

// New returns the reader.
func New() Reader { return Reader{} }

// Agent implements [catalog.Reader].
func (Reader) Agent() catalog.Agent { return catalog.Agentd }

// Roots implements [catalog.Reader]. It looks where the commands of agentd look.
func (Reader) Roots(env catalog.Env) []catalog.Root {
	if v := env.Var(homeVar); v != "" {
		return []catalog.Root{{Path: env.Abs(v), Var: homeVar}}
	}
	if base, configured := env.XDGData(); configured {
		return []catalog.Root{{Path: filepath.Join(base, "agentd"), Var: xdgVar}}
	}
	base := env.PlatformData()
	if base == "" {
		return []catalog.Root{{}}
	}
	return []catalog.Root{{Path: filepath.Join(base, "agentd")}}
}

// Discover implements [catalog.Reader].
func (r Reader) Discover(ctx context.Context, d *catalog.Discovery) error {
	root := r.Roots(d.Env)[0].Path
	if root == "" {
		return nil
	}
	var snapshots []string
	deleted := map[string]bool{}
	// Depth: snapshot; or folder, file.
	opts := bounded.WalkOptions{Depth: 3, Enter: func(rel string, depth int) bool {
		switch first, _, _ := strings.Cut(filepath.ToSlash(rel), "/"); first {
		case journalDir, tombstonesDir:
			return depth == 1
		default:
			return first == quarantineDir
		}
	}}
	err := bounded.Walk(ctx, filepath.Join(root, sessionsDir), opts, func(e bounded.Entry) {
		id, isJSON := strings.CutSuffix(filepath.Base(e.Path), ".json")
		folder, _, _ := strings.Cut(filepath.ToSlash(e.Rel), "/")
		switch {
		case e.Depth == 1 && isJSON:
			snapshots = append(snapshots, e.Path)
		case e.Depth == 1:
		case folder == journalDir && strings.HasSuffix(e.Path, ".log"):
			d.Add(catalog.Unit{Path: e.Path, Kind: kindSegment})
		case folder == tombstonesDir && isJSON:
			deleted[id] = true
			d.Add(catalog.Unit{Path: e.Path, Kind: kindTombstone})
		case folder == quarantineDir && isJSON:
			d.Skip(e.Path, catalog.Unresumable)
		}
	}, d.Fault)
	for _, path := range snapshots {
		if id := idOf(path); !deleted[id] && (d.Exact == "" || d.Exact == id) {
			d.Add(catalog.Unit{Path: path})
		}
	}
	return err
}

// idOf returns the id in the name of a snapshot or a tombstone.
func idOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ".json") }
