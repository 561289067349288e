package qwen

import (
	"context"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

// Reader reads the store of Qwen Code. It has no state.
type Reader struct{}

var (
	_ catalog.Reader        = Reader{}
	_ catalog.ContentReader = Reader{}
)

// New returns the reader.
func New() Reader { return Reader{} }

// Agent implements [catalog.Reader].
func (Reader) Agent() catalog.Agent { return catalog.Qwen }

// archiveDir holds what a person put away, below the folder of chats.
const archiveDir = "archive"

// Discover implements [catalog.Reader].
func (r Reader) Discover(ctx context.Context, d *catalog.Discovery) error {
	for _, root := range r.Roots(d.Env) {
		if root.Path == "" {
			continue
		}
		for _, place := range []string{"projects", "tmp"} {
			if err := discover(ctx, d, filepath.Join(root.Path, place)); err != nil {
				return err
			}
		}
	}
	return nil
}

func discover(ctx context.Context, d *catalog.Discovery, dir string) error {
	var transcripts []string
	sideFiles := map[string]bool{}
	// Depth: project, chats, transcript; or project, chats, archive, transcript.
	opts := bounded.WalkOptions{Depth: 4, Enter: func(rel string, depth int) bool {
		return depth == 1 || depth == 2 && filepath.Base(rel) == "chats" || depth == 3 && filepath.Base(rel) == archiveDir
	}}
	err := bounded.Walk(ctx, dir, opts, func(e bounded.Entry) {
		if e.Depth < 3 {
			return
		}
		name := filepath.Base(e.Path)
		id, isLines := strings.CutSuffix(name, ".jsonl")
		switch {
		case strings.HasSuffix(name, worktreeSuffix):
			sideFiles[e.Path] = true
		case isLines && isID(id):
			if d.Exact == "" || d.Exact == id {
				transcripts = append(transcripts, e.Path)
			}
		case strings.HasPrefix(name, "session-") && strings.HasSuffix(name, ".json"):
			d.Skip(e.Path, catalog.Unresumable)
		case isLines && !strings.HasSuffix(id, ".ledger"):
			d.Skip(e.Path, catalog.NotASession)
		}
	}, d.Fault)
	for _, path := range transcripts {
		u := catalog.Unit{Path: path}
		if side := strings.TrimSuffix(path, ".jsonl") + worktreeSuffix; sideFiles[side] {
			u.With = []string{side}
		}
		d.Add(u)
	}
	return err
}

// isID reports whether a name is an id: 32 to 36 hexadecimal digits and hyphens.
func isID(name string) bool {
	return len(name) >= 32 && len(name) <= 36 && strings.Trim(name, "0123456789abcdefABCDEF-") == ""
}
