package claude

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"agentd/providers/catalog"
)

// The reader's own notes in Details.Ref of a transcript: what is known, and the ids of its last messages.
const (
	noteFirst = "f" // the first prompt was seen
	noteKind  = "k" // who wrote the lines was seen
)

// ref writes the notes.
func (s *sight) ref(title string) string {
	notes := ""
	if s.firstPrompt != "" {
		notes += noteFirst
	}
	if s.terminal || s.headless {
		notes += noteKind
	}
	if title != "" {
		return notes
	}
	return notes + " " + strings.Join(s.leaves, " ")
}

// Assemble implements [catalog.Assembler]: it completes transcripts from the history and from the summaries that older
// versions wrote into other files.
func (Reader) Assemble(a *catalog.Assembly) []catalog.Session {
	history := map[string]catalog.Session{}
	for _, s := range a.All(kindHistory) {
		history[s.ID] = s
	}
	summaries := map[string]string{}
	out := make([]catalog.Session, 0, len(a.Parts))
	found := map[string]bool{}
	for _, part := range a.Parts {
		if part.Unit.Kind == kindHistory {
			continue
		}
		if len(history) > 0 {
			found[strings.TrimSuffix(filepath.Base(part.Unit.Path), ".jsonl")] = true
		}
		for i := range part.Sessions {
			s := &part.Sessions[i]
			if s.ID == "" {
				summaries[s.Ref] = s.Title
				continue
			}
			out = append(out, *s)
		}
	}
	for i := range out {
		complete(&out[i], history, summaries)
	}
	if a.Exact == "" {
		for _, id := range slices.Sorted(maps.Keys(history)) {
			if !found[id] {
				a.Skip(history[id].StoreFile+"#"+id, catalog.Gone)
			}
		}
	}
	return out
}

// complete adds to a transcript what other files know of it.
func complete(s *catalog.Session, history map[string]catalog.Session, summaries map[string]string) {
	notes, leaves, _ := strings.Cut(s.Ref, " ")
	s.Ref = ""
	if s.Title == "" {
		for _, leaf := range slices.Backward(strings.Fields(leaves)) {
			if s.Title = summaries[leaf]; s.Title != "" {
				break
			}
		}
	}
	h, ok := history[s.ID]
	if !ok || s.Relation == catalog.SubAgent {
		return
	}
	if s.ProjectPath == "" {
		s.ProjectPath = h.ProjectPath
		inWorktree(s)
	}
	if !strings.Contains(notes, noteFirst) && len(h.Prompts) > 0 {
		s.Prompts = append(h.Prompts[:1:1], s.Prompts...)
	}
	if len(h.Prompts) > 0 {
		s.NonInteractive = false // A person typed into it, whoever started it.
	}
}
