package grok

import (
	"cmp"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

// summary is what the summary of a session tells.
type summary struct {
	id, project, title, recap string
	branch, worktree, remote  string
	parent, kind              string
	created, updated, active  int64
	hidden                    bool
	messages                  float64
}

func decodeSummary(p *catalog.Parsing, data []byte) summary {
	var s summary
	var generated, first, turn string
	at := func(v bounded.Value) int64 { return p.Believe(bounded.Millis(v)) }
	for key, v := range bounded.Fields(data) {
		switch string(key) {
		case "info":
			s.info(v)
		case "generated_title":
			generated = strings.TrimSpace(v.Text(catalog.MaxTextBytes))
		case "session_summary":
			first = strings.TrimSpace(v.Text(catalog.MaxTextBytes))
		case "last_turn_summary":
			turn = v.Text(catalog.MaxTextBytes)
		case "last_recap":
			s.recap = v.Text(catalog.MaxTextBytes)
		case "created_at":
			s.created = at(v)
		case "updated_at":
			s.updated = at(v)
		case "last_active_at":
			s.active = at(v)
		case "head_branch":
			s.branch = v.Text(4 * catalog.MaxLabelBytes)
		case "worktree_label":
			s.worktree = v.Text(catalog.MaxPathBytes)
		case "git_remotes":
			s.remote = remote(v)
		case "parent_session_id":
			s.parent = v.Text(catalog.MaxIDBytes)
		case "session_kind":
			s.kind = v.Text(64)
		case "hidden":
			s.hidden = v.IsTrue()
		case "num_chat_messages":
			s.messages, _ = v.Number()
		}
	}
	s.title, s.recap = cmp.Or(generated, first), cmp.Or(s.recap, turn)
	return s
}

func (s *summary) info(v bounded.Value) {
	for key, v := range bounded.Fields(v.Raw) {
		switch string(key) {
		case "id":
			s.id = v.Text(catalog.MaxIDBytes + 1)
		case "cwd":
			s.project = v.Text(catalog.MaxPathBytes + 1)
		}
	}
}

// remote returns the address of the first Git remote: the list holds addresses, or objects that have one.
func remote(v bounded.Value) string {
	for entry := range bounded.Elements(v.Raw) {
		if url := cmp.Or(entry.Text(catalog.MaxPathBytes), bounded.Pick(entry.Raw, "url").Text(catalog.MaxPathBytes)); url != "" {
			return url
		}
	}
	return ""
}

// tell completes a session from the summary.
func (s *summary) tell(out *catalog.Session) {
	out.ProjectPath, out.Title, out.Recap = s.project, s.title, s.recap
	out.Branch, out.Worktree, out.Repository = s.branch, s.worktree, s.remote
	out.TimeMS, out.StartedMS = cmp.Or(s.active, s.updated, s.created), s.created
	subAgent := strings.HasPrefix(s.kind, "subagent")
	out.NonInteractive = s.hidden || subAgent
	switch {
	case subAgent:
		out.Relation, out.Parent = catalog.SubAgent, s.parent
	case s.parent != "" && s.parent != out.ID:
		out.Relation, out.Parent = catalog.Fork, s.parent
	}
}
