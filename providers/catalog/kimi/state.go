package kimi

import (
	"cmp"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/outline"
)

// state is what the state of a session tells.
type state struct {
	project, title, lastPrompt string
	branch, worktree           string
	parent, source, kind       string
	created, updated           int64
	archived                   bool
}

// decodeState reads the state of either version.
func decodeState(p *catalog.Parsing, data []byte) state {
	var s state
	var title, customTitle string
	var project, workDir string
	for key, v := range bounded.Fields(data) {
		switch string(key) {
		case "cwd":
			project = v.Text(catalog.MaxPathBytes + 1)
		case "workDir":
			workDir = v.Text(catalog.MaxPathBytes + 1)
		case "title":
			title = v.Text(catalog.MaxTextBytes)
		case "customTitle":
			customTitle = v.Text(catalog.MaxTextBytes)
		case "lastPrompt":
			s.lastPrompt = strings.TrimSpace(v.Text(catalog.MaxTextBytes))
		case "createdAt":
			s.created = p.Believe(bounded.Millis(v))
		case "updatedAt":
			s.updated = p.Believe(bounded.Millis(v))
		case "archived":
			s.archived = v.IsTrue()
		case "forkedFrom":
			s.source = v.Text(catalog.MaxIDBytes)
		case "gitBranch":
			s.branch = v.Text(4 * catalog.MaxLabelBytes)
		case "worktreeLabel":
			s.worktree = v.Text(catalog.MaxPathBytes)
		case "custom":
			s.custom(v)
		}
	}
	s.project = cmp.Or(project, workDir, s.project)
	if s.title = strings.TrimSpace(cmp.Or(customTitle, title)); s.title == "New Session" {
		s.title = "" // Nobody gave it.
	}
	return s
}

// custom reads what programs around Kimi Code noted.
func (s *state) custom(v bounded.Value) {
	for key, v := range bounded.Fields(v.Raw) {
		switch string(key) {
		case "cwd":
			s.project = v.Text(catalog.MaxPathBytes + 1)
		case "parent_session_id":
			s.parent = v.Text(catalog.MaxIDBytes)
		case "child_session_kind":
			s.kind = v.Text(64)
		case "gitBranch":
			s.branch = cmp.Or(s.branch, v.Text(4*catalog.MaxLabelBytes))
		case "worktreeLabel":
			s.worktree = cmp.Or(s.worktree, v.Text(catalog.MaxPathBytes))
		}
	}
}

// tell completes a session from the state.
func (s *state) tell(out *catalog.Session, o *outline.Outline) {
	out.ProjectPath, out.Title, out.Branch, out.Worktree = s.project, s.title, s.branch, s.worktree
	out.Archived = s.archived
	out.TimeMS = max(o.Newest(), s.updated, s.created)
	out.StartedMS = cmp.Or(s.created, out.StartedMS)
	if len(out.Prompts) == 0 && s.lastPrompt != "" {
		out.Prompts = []string{s.lastPrompt}
	}
	switch {
	case s.kind == "child":
		out.NonInteractive, out.Relation, out.Parent = true, catalog.SubAgent, s.parent
	case s.source != "" && s.source != out.ID:
		out.Relation, out.Parent = catalog.Fork, s.source
	}
}
