package catalog

import (
	"cmp"
	"iter"
	"slices"

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
}

// all iterates over the sessions of a store with their numbers, newest first; equals by project and id. The session is the same one
// each time.
func (st *store) all() iter.Seq2[int, *Session] { return st.some(0, st.shelf.len()) }

// some is all from one number up to another.
func (st *store) some(from, to int) iter.Seq2[int, *Session] {
	return func(yield func(int, *Session) bool) {
		var s Session
		for i := from; i < to; i++ {
			if st.shelf.session(i, st.units, &s) && !yield(i, &s) {
				return
			}
		}
	}
}

// entry returns a session by its number.
func (st *store) entry(number int) *entry {
	e := &entry{Session: &Session{}, agent: st.reader.Agent().Info()}
	st.shelf.session(number, st.units, e.Session) // A number is one that was unpacked before.
	return e
}

// entries returns the sessions of all stores, newest first; equals by agent, project and id. It unpacks all of them; what needs to look at
// each one alone does not want that.
func entries(stores []*store, keep func(*Session) bool) []*entry {
	var out []*entry
	for _, st := range stores {
		info := st.reader.Agent().Info()
		for _, s := range st.all() {
			if keep(s) {
				kept := s.clone()
				out = append(out, &entry{Session: &kept, agent: info})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *entry) int { return cmp.Compare(b.TimeMS, a.TimeMS) })
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
// for, branch. A blank stands between two of them. They are added to parts.
func (s *Session) haystack(texts bool, parts []string) []string {
	parts = append(parts, s.projectName(), s.ProjectPath)
	if texts {
		parts = append(parts, s.summaries()...)
	}
	if s.Branch != "" {
		parts = append(parts, s.Branch)
	}
	return parts
}
