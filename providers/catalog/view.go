package catalog

import (
	"cmp"
	"slices"
	"strings"

	"agentd/providers/catalog/bounded"
)

// SessionView is a session in an answer. Its fields are the contract's; Texts, Details and Matches are there only when they
// were asked for.
type SessionView struct {
	// Key is "agent:session_id", for display and storage.
	Key string `json:"key"`
	// Agent is the agent's canonical name.
	Agent Agent `json:"agent"`
	// AgentName is the agent's name for people.
	AgentName string `json:"agent_name"`
	// SessionID is the agent's own id.
	SessionID string `json:"session_id"`
	// ProjectName is the last component of the project's path, "unknown" when there is none.
	ProjectName string `json:"project_name"`
	// ProjectPath is the recorded directory, empty when the session belongs to none.
	ProjectPath string `json:"project_path"`
	// TimestampMS is the last activity in Unix milliseconds, 0 when it is not known.
	TimestampMS int64 `json:"timestamp_ms"`
	// GitBranch is the branch that was recorded last.
	GitBranch *string `json:"git_branch"`
	// Worktree is the linked worktree.
	Worktree *string `json:"worktree"`
	// Interactive is false when it is known that no person held the session.
	Interactive bool `json:"interactive"`
	*Texts
	// Details are there when they were asked for.
	Details *DetailsView `json:"details,omitempty"`
	// Matches are there in a search of content.
	Matches []Match `json:"matches,omitempty"`
}

// Texts are what a session says of itself.
type Texts struct {
	// Summaries are the title, when there is one, and then prompts.
	Summaries []string `json:"summaries"`
	// Recap is the agent's account of where the session stands.
	Recap *string `json:"recap"`
}

// entry is a session among all of a scan.
type entry struct {
	*Session
	agent AgentInfo
	order int
}

// entries flattens the stores and sorts newest first; equals by agent, project and id.
func entries(stores []*store, keep func(*Session) bool) []*entry {
	n := 0
	for _, st := range stores {
		n += len(st.sessions)
	}
	out, room := make([]*entry, 0, n), make([]entry, n)
	for _, st := range stores {
		info := st.reader.Agent().Info()
		order := info.ID.order()
		for i := range st.sessions {
			if s := &st.sessions[i]; keep(s) {
				room[0] = entry{Session: s, agent: info, order: order}
				out, room = append(out, &room[0]), room[1:]
			}
		}
	}
	slices.SortFunc(out, func(a, b *entry) int {
		if byTime := cmp.Compare(b.TimeMS, a.TimeMS); byTime != 0 {
			return byTime // Nearly always; the texts are not worth comparing for nothing.
		}
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.ProjectPath, b.ProjectPath), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// view makes the contract's form.
func (e *entry) view(texts bool) SessionView {
	v := SessionView{
		Key: string(e.agent.ID) + ":" + e.ID, Agent: e.agent.ID, AgentName: e.agent.Name, SessionID: e.ID,
		ProjectName: bounded.CutGraphemes(e.projectName(), MaxLabelBytes), ProjectPath: e.ProjectPath, TimestampMS: e.TimeMS,
		GitBranch: optional(e.Branch, MaxLabelBytes), Worktree: optional(e.Worktree, MaxPathBytes), Interactive: !e.NonInteractive,
	}
	if texts {
		v.Texts = &Texts{Summaries: e.summaries(), Recap: optional(e.Recap, MaxSummaryBytes)}
	}
	return v
}

func optional(text string, limit int) *string {
	if text == "" {
		return nil
	}
	text = bounded.CutGraphemes(text, limit)
	return &text
}

// summaries returns the title and then prompts, each once. A title that is the start of a prompt, cut by the agent,
// stands for it.
func (s *Session) summaries() []string {
	out := make([]string, 0, MaxSummaries)
	for _, text := range append([]string{s.Title}, s.Prompts...) {
		text = bounded.CutGraphemes(text, MaxSummaryBytes)
		if text == "" || len(out) == MaxSummaries || slices.Contains(out, text) {
			continue
		}
		out = append(out, text)
	}
	return out
}

// haystack is what a query is matched against, in the words of the original: name, path, texts when they were asked
// for, branch.
func (e *entry) haystack(texts bool) string {
	parts := []string{e.projectName(), e.ProjectPath}
	if texts {
		parts = append(parts, e.summaries()...)
	}
	if e.Branch != "" {
		parts = append(parts, e.Branch)
	}
	return strings.Join(parts, " ")
}
