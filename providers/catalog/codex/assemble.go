package codex

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"agentd/providers/catalog"
)

// Assemble implements [catalog.Assembler]: it completes rollouts from the databases and the lists.
func (Reader) Assemble(a *catalog.Assembly) []catalog.Session {
	rows := map[string]catalog.Session{}
	for _, s := range a.All(kindDatabase) {
		if _, ok := rows[s.ID]; !ok { // The newest database comes first.
			rows[s.ID] = s
		}
	}
	names, history := byID(a.All(kindNames)), byID(a.All(kindHistory))
	out := slices.Concat(a.All(kindRollout), a.All(kindPacked))
	found := make(map[string]bool, len(out))
	for i := range out {
		s := &out[i]
		found[s.ID] = true
		if row, ok := rows[s.ID]; ok {
			completeFromRow(s, row)
		}
		if name := names[s.ID].Title; name != "" && (s.Title == "" || s.Ref != namedByUser) {
			s.Title = name
		}
		if h, ok := history[s.ID]; ok {
			completeFromHistory(s, h)
		}
		s.Ref = ""
	}
	if a.Exact == "" {
		for _, id := range slices.Sorted(maps.Keys(rows)) {
			if !found[id] {
				a.Skip(storeName(rows[id]), rowReason(id))
			}
		}
	}
	return out
}

// rowReason says why a row without a rollout is not listed.
func rowReason(id string) catalog.Reason {
	if !catalog.ValidID(id) {
		return catalog.InvalidMetadata
	}
	return catalog.Gone
}

func byID(all []catalog.Session) map[string]catalog.Session {
	out := make(map[string]catalog.Session, len(all))
	for _, s := range all {
		out[s.ID] = s
	}
	return out
}

// completeFromRow adds what a database knows. Its branch is of today; the rollout's is of the start.
func completeFromRow(s *catalog.Session, row catalog.Session) {
	if strings.Contains(s.Ref, weakTime) {
		s.TimeMS = cmp.Or(row.TimeMS, s.TimeMS)
	}
	switch {
	case strings.Contains(s.Ref, noFirst) || len(s.Prompts) == 0:
		s.Prompts = append(row.Prompts[:len(row.Prompts):len(row.Prompts)], s.Prompts...)
	case len(row.Prompts) > 0 && !startOf(row.Prompts[0], s.Prompts[0]):
		// A fork's first prompt can be its parent's, whose conversation the rollout need not repeat.
		s.Prompts = slices.Insert(slices.Clone(s.Prompts), 1, row.Prompts[0])
	}
	s.Ref = row.Ref
	s.Title = row.Title
	s.ProjectPath = cmp.Or(s.ProjectPath, row.ProjectPath)
	s.Branch = cmp.Or(row.Branch, s.Branch)
	s.Repository = cmp.Or(row.Repository, s.Repository)
	s.StartedMS = cmp.Or(s.StartedMS, row.StartedMS)
	s.NonInteractive = s.NonInteractive || row.NonInteractive
	s.Archived = s.Archived || row.Archived
	if row.Relation == catalog.SubAgent && s.Relation != catalog.SubAgent {
		s.Parent, s.Relation = cmp.Or(row.Parent, s.Parent), catalog.SubAgent
	}
	s.Parent = cmp.Or(s.Parent, row.Parent)
}

// completeFromHistory adds what a person typed.
func completeFromHistory(s *catalog.Session, h catalog.Session) {
	if s.Relation == catalog.SubAgent || len(h.Prompts) == 0 {
		return
	}
	s.NonInteractive = false // A person typed into it, whoever started it.
	if len(s.Prompts) == 0 {
		s.Prompts = h.Prompts
	}
}
