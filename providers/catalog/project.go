package catalog

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentd/providers/catalog/bounded"
)

// DetailsView is what a session's details are in an answer.
type DetailsView struct {
	// Parent is the id of the session that this one came from, or null.
	Parent *string `json:"parent"`
	// Relation is what it is to its parent, or null.
	Relation *Relation `json:"relation"`
	// Archived is whether a person put it away.
	Archived bool `json:"archived"`
	// StartedMS is the first activity in Unix milliseconds, 0 when it is not known.
	StartedMS int64 `json:"started_ms"`
	// Repository is the recorded Git remote, or null.
	Repository *string `json:"repository"`
	// ProjectExists is whether the project directory exists now.
	ProjectExists bool `json:"project_exists"`
	// LikelyProject is where a missing project directory probably is now, or null.
	LikelyProject *string `json:"likely_project"`
	// StoreFile is the file that holds the session.
	StoreFile string `json:"store_file"`
}

func (e *entry) details(known *projects) *DetailsView {
	d := &DetailsView{
		Parent: optional(e.Parent, MaxIDBytes), Archived: e.Archived, StartedMS: e.StartedMS,
		Repository: optional(bounded.Mask(e.Repository), MaxSummaryBytes), StoreFile: e.StoreFile,
	}
	if e.Relation != "" {
		d.Relation = &e.Relation
	}
	if e.ProjectPath == "" {
		return d
	}
	if d.ProjectExists = known.exists(e.ProjectPath); !d.ProjectExists {
		d.LikelyProject = optional(known.likely(e.Session), MaxPathBytes)
	}
	return d
}

// projects knows the directories that sessions were started in, so that a moved one can be found again.
type projects struct {
	present map[string]bool     // whether a path is a directory, once it was asked for
	byName  map[string][]string // recorded paths by last component, those of newer sessions first
	remotes map[string][]string // recorded paths by Git remote
}

// newProjects learns from sessions, newest first.
func newProjects(all []*entry) *projects {
	p := &projects{present: map[string]bool{}, byName: map[string][]string{}, remotes: map[string][]string{}}
	seen := map[string]bool{}
	for i := range all {
		path, remote := all[i].ProjectPath, all[i].Repository
		if path == "" {
			continue
		}
		if remote != "" && !seen[remote+"\x00"+path] {
			seen[remote+"\x00"+path] = true
			p.remotes[remote] = append(p.remotes[remote], path)
		}
		if !seen[path] {
			seen[path] = true
			name := lastComponent(path)
			p.byName[name] = append(p.byName[name], path)
		}
	}
	return p
}

func (p *projects) exists(path string) bool {
	is, ok := p.present[path]
	if !ok {
		is = isDir(path)
		p.present[path] = is
	}
	return is
}

// likely returns where the directory of a session probably is now, or nothing: the repository that a removed worktree
// belonged to; a directory of another session with the same Git remote; one of the same name that another session was started in
// and that exists; the only directory of the same name next to where a parent directory was. It guesses nothing among several.
func (p *projects) likely(s *Session) string {
	for _, mark := range []string{"/.claude/worktrees/", "/.git/worktrees/", "/.worktrees/"} {
		if root, _, ok := strings.Cut(filepath.ToSlash(s.ProjectPath), mark); ok && p.exists(filepath.FromSlash(root)) {
			return filepath.FromSlash(root)
		}
	}
	if s.Repository != "" {
		if at := p.single(p.remotes[s.Repository]); at != "" {
			return at
		}
	}
	if at := p.single(p.byName[lastComponent(s.ProjectPath)]); at != "" {
		return at
	}
	return movedParent(s.ProjectPath)
}

// single returns the one path that exists.
func (p *projects) single(paths []string) string {
	var found []string
	for _, path := range paths {
		if p.exists(path) {
			found = append(found, path)
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// maxSiblings bounds the directories that are looked at for a renamed parent.
const maxSiblings = 1000

// movedParent looks for a renamed parent: /a/old/app is missing, and exactly one /a/*/app exists.
func movedParent(path string) string {
	parent := filepath.Dir(path)
	for range 64 {
		grand := filepath.Dir(parent)
		if parent == grand {
			return ""
		}
		if isDir(grand) {
			break
		}
		parent = grand
	}
	rel, err := filepath.Rel(parent, path)
	if err != nil || isDir(parent) {
		return ""
	}
	dir, err := os.Open(filepath.Dir(parent))
	if err != nil {
		return ""
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(maxSiblings)
	if err != nil || len(names) == maxSiblings {
		return ""
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !isDir(filepath.Join(filepath.Dir(parent), name, rel)) })
	if len(names) != 1 {
		return ""
	}
	return filepath.Join(filepath.Dir(parent), names[0], rel)
}
