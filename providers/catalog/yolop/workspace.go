package yolop

import (
	"cmp"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

// workspace is what the workspace of a session tells.
type workspace struct {
	project, repository, title, summary string
	branch, worktree, kind, parent      string
	created, updated                    int64
}

func decodeWorkspace(p *catalog.Parsing, data []byte) workspace {
	var w workspace
	var old, root string
	for key, v := range bounded.Fields(data) {
		switch string(key) {
		case "active_root":
			w.project = v.Text(catalog.MaxPathBytes + 1)
		case "workspace_root":
			old = v.Text(catalog.MaxPathBytes + 1)
		case "canonical_repo_root":
			w.repository = v.Text(catalog.MaxPathBytes)
		case "repo_root":
			root = v.Text(catalog.MaxPathBytes)
		case "title":
			w.title = v.Text(catalog.MaxTextBytes)
		case "summary":
			w.summary = v.Text(catalog.MaxTextBytes)
		case "created_at":
			w.created = p.Believe(bounded.Millis(v))
		case "updated_at":
			w.updated = p.Believe(bounded.Millis(v))
		case "session_kind":
			w.kind = v.Text(64)
		case "parent_session_id":
			w.parent = v.Text(catalog.MaxIDBytes)
		case "worktree":
			w.tree(v)
		}
	}
	w.project, w.repository = cmp.Or(w.project, old), cmp.Or(w.repository, root)
	return w
}

func (w *workspace) tree(v bounded.Value) {
	var slug, path string
	for key, v := range bounded.Fields(v.Raw) {
		switch string(key) {
		case "branch":
			w.branch = v.Text(4 * catalog.MaxLabelBytes)
		case "slug":
			slug = v.Text(catalog.MaxPathBytes)
		case "path":
			path = v.Text(catalog.MaxPathBytes)
		}
	}
	w.worktree = cmp.Or(slug, path)
}

// tell completes a session from the workspace. newest is the time of the last event.
func (w *workspace) tell(out *catalog.Session, newest int64) {
	out.ProjectPath, out.Branch, out.Worktree = w.project, w.branch, w.worktree
	out.TimeMS = cmp.Or(newest, w.updated, w.created)
	out.StartedMS = cmp.Or(w.created, out.StartedMS)
	if w.worktree != "" && w.repository != "" { // The worktree's own name is the session's id.
		slashed := strings.TrimRight(filepath.ToSlash(w.repository), "/")
		out.ProjectName = slashed[strings.LastIndexByte(slashed, '/')+1:]
	}
	if len(out.Prompts) == 0 && w.summary != "" {
		out.Prompts = []string{w.summary}
	}
	switch w.kind {
	case "print", "nested", "automated", "test":
		out.NonInteractive = true
	}
	if w.parent != "" && w.parent != out.ID {
		out.Relation, out.Parent = catalog.SubAgent, w.parent
	} else if w.kind == "nested" {
		out.Relation = catalog.SubAgent
	}
}
