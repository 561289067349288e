package antigravity

import (
	"cmp"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
)

// Assemble implements [catalog.Assembler]: it joins what the index, the databases and the logs tell of a conversation.
func (Reader) Assemble(a *catalog.Assembly) []catalog.Session {
	index := map[string]int{} // by id, in lower case
	var out []catalog.Session
	indexed := 0
	add := func(s catalog.Session) {
		key := strings.ToLower(s.ID)
		i, ok := index[key]
		if !ok {
			index[key] = len(out)
			out = append(out, s)
			return
		}
		out[i] = catalog.Merge(out[i], s)
	}
	for _, s := range a.All(kindIndex) {
		add(s)
	}
	indexed = len(out)
	for _, part := range a.Parts {
		if part.Unit.Kind != kindConversation {
			continue
		}
		// A database that tells nothing, or that cannot be read, is that of a conversation all the same.
		s := catalog.Session{ID: idOf(part.Unit), Details: catalog.Details{StoreFile: part.Unit.Path}}
		if len(part.Sessions) > 0 {
			s = part.Sessions[0]
		}
		if i, ok := index[strings.ToLower(s.ID)]; ok {
			complete(&out[i], s)
			continue
		}
		s.NonInteractive = s.NonInteractive || s.ProjectPath == ""
		add(s)
	}
	for _, s := range a.All(kindLog) {
		i, ok := index[strings.ToLower(s.ID)]
		if !ok {
			a.Skip(s.StoreFile, catalog.Unresumable)
			continue
		}
		complete(&out[i], s)
	}
	return told(a, out, indexed)
}

// told leaves out conversations that are in no index and of which nothing is known but their file.
func told(a *catalog.Assembly, all []catalog.Session, indexed int) []catalog.Session {
	out := all[:indexed:indexed]
	for _, s := range all[indexed:] {
		if s.TimeMS == 0 && len(s.Prompts) == 0 && s.ProjectPath == "" {
			a.Skip(s.StoreFile, catalog.NoConversation)
			continue
		}
		out = append(out, s)
	}
	return out
}

// complete adds to a conversation what one of its files tells. That becomes the store's file, unless its database is it.
func complete(s *catalog.Session, from catalog.Session) {
	if filepath.Base(s.StoreFile) == indexName {
		s.StoreFile = from.StoreFile
	}
	s.ProjectPath = cmp.Or(s.ProjectPath, from.ProjectPath)
	s.TimeMS = max(s.TimeMS, from.TimeMS)
	s.StartedMS = cmp.Or(s.StartedMS, from.StartedMS)
	if len(from.Prompts) > 0 {
		s.Prompts = from.Prompts // The index has a short form of one of them.
	}
	if s.Parent == "" && from.Parent != "" {
		s.Parent, s.Relation, s.NonInteractive = from.Parent, from.Relation, true
	}
}
