package catalog

import (
	"cmp"
	"slices"
)

// unite makes one session of all that have the same id and project: a resume that left a second file, a compaction,
// a copy. One without a project joins the only other one of its id. The order of the result is that of the first of
// each; it takes the place of what was given.
func unite(all []Session, skips *skipCounter) []Session {
	type identity struct{ id, project string }
	index := make(map[identity]int, len(all))
	projects := projectsOf(all)
	out := all[:0]
	for n := range all {
		s := &all[n]
		key := identity{s.ID, s.ProjectPath}
		if only := projects[s.ID]; key.project == "" && len(only) == 1 {
			key.project = only[0]
		}
		i, ok := index[key]
		if !ok {
			index[key] = len(out)
			if out = all[:len(out)+1]; len(out) != n+1 { // Sessions are large, and nearly all stay where they are.
				out[len(out)-1] = *s
			}
			continue
		}
		if out[i].StoreFile != s.StoreFile {
			skips.add(s.StoreFile, Duplicate)
		}
		out[i] = Merge(out[i], *s)
	}
	return out
}

// projectsOf returns the projects of each id. When every session has one, nobody asks for them.
func projectsOf(all []Session) map[string][]string {
	if !someLack(all) {
		return nil
	}
	projects := make(map[string][]string, len(all))
	for _, s := range all {
		if s.ProjectPath != "" && !slices.Contains(projects[s.ID], s.ProjectPath) {
			projects[s.ID] = append(projects[s.ID], s.ProjectPath)
		}
	}
	return projects
}

func someLack(all []Session) bool {
	for i := range all {
		if all[i].ProjectPath == "" {
			return true
		}
	}
	return false
}

// Merge joins two accounts of one session: the newer one leads, and what it does not know is taken from the other.
// It is interactive when either is, and archived only when both are.
func Merge(a, b Session) Session {
	if b.TimeMS > a.TimeMS {
		a, b = b, a
	}
	a.ProjectPath = cmp.Or(a.ProjectPath, b.ProjectPath)
	a.ProjectName = cmp.Or(a.ProjectName, b.ProjectName)
	a.TimeMS = cmp.Or(a.TimeMS, b.TimeMS)
	a.Title = cmp.Or(a.Title, b.Title)
	a.Recap = cmp.Or(a.Recap, b.Recap)
	a.Branch = cmp.Or(a.Branch, b.Branch)
	a.Worktree = cmp.Or(a.Worktree, b.Worktree)
	if len(a.Prompts) == 0 {
		a.Prompts = b.Prompts
	}
	a.NonInteractive = a.NonInteractive && b.NonInteractive
	a.Archived = a.Archived && b.Archived
	if a.Parent == "" {
		a.Parent, a.Relation = b.Parent, b.Relation
	}
	a.Repository = cmp.Or(a.Repository, b.Repository)
	if a.StartedMS == 0 || (b.StartedMS > 0 && b.StartedMS < a.StartedMS) {
		a.StartedMS = b.StartedMS
	}
	return a
}
