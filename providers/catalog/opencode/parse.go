package opencode

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/database"
)

const (
	limitRows = "LIMIT 200000"
	// promptRows is how many of the newest sessions get their prompts, and promptlessMax how many of those without a title.
	promptRows, promptlessMax = 500, 5000
)

// Marks in Details.Ref: where the messages of a session are.
const (
	refOld = "1" // tables message and part
	refNew = "2" // table session_message
)

// Parse implements [catalog.Reader].
func (Reader) Parse(ctx context.Context, p *catalog.Parsing) error {
	switch p.Unit.Kind {
	case kindProject:
		return parseProject(p)
	case kindFile, kindOldFile:
		return parseFile(ctx, p)
	}
	var found []catalog.Session
	known := false
	err := database.View(ctx, p.Unit.Path, func(ctx context.Context, db *database.DB) error {
		found, known = nil, false
		seen := map[string]bool{}
		branches, err := workspaces(ctx, db)
		if err != nil {
			return err
		}
		for _, t := range []struct{ table, ref string }{{"session_v2", refNew}, {"session", refOld}} {
			rows, ok, err := tables{db, p, branches}.read(ctx, t.table)
			if err != nil {
				return err
			}
			known = known || ok
			for _, s := range rows {
				if !seen[s.ID] {
					seen[s.ID] = true
					s.Ref = t.ref
					found = append(found, s)
				}
			}
		}
		return addPrompts(ctx, db, found, p.Only())
	})
	if err == nil && !known {
		p.Skip("", catalog.Unsupported)
	}
	for _, s := range found {
		p.Emit(s)
	}
	return err
}

// workspaces returns the branch of each workspace.
func workspaces(ctx context.Context, db *database.DB) (map[string]string, error) {
	out := map[string]string{}
	have, err := db.Columns(ctx, "workspace")
	if err != nil || !have["id"] || !have["branch"] {
		return out, err
	}
	var id, branch database.Text
	err = db.Each(ctx, database.Select("workspace", have, []string{"id", "branch"}, limitRows), nil, []any{&id, &branch}, func() error {
		out[string(id)] = bounded.Clip(string(branch), 4*catalog.MaxLabelBytes)
		return nil
	})
	return out, err
}

// row is a row of a table of sessions.
type row struct {
	id, parent, fork, directory, title, workspace database.Text
	created, updated, archived                    database.Int
}

// tables reads tables of sessions.
type tables struct {
	db       *database.DB
	p        *catalog.Parsing
	branches map[string]string // by workspace
}

// read returns the sessions of a table, the newest first, and false when there is no such table.
func (t tables) read(ctx context.Context, table string) ([]catalog.Session, bool, error) {
	have, err := t.db.Columns(ctx, table)
	if err != nil || !have["id"] {
		return nil, false, err
	}
	tail := limitRows
	if have["time_updated"] {
		tail = "ORDER BY time_updated DESC " + tail
	}
	var r row
	var out []catalog.Session
	query := database.Select(table, have, []string{
		"id", "parent_id", "fork_session_id", "directory", "title", "workspace_id", "time_created", "time_updated", "time_archived",
	}, tail)
	err = t.db.Each(ctx, query, nil, []any{
		&r.id, &r.parent, &r.fork, &r.directory, &r.title, &r.workspace, &r.created, &r.updated, &r.archived,
	}, func() error {
		s := r.session(t.p)
		s.Branch = t.branches[string(r.workspace)]
		out = append(out, s)
		return nil
	})
	return out, true, err
}

func (r *row) session(p *catalog.Parsing) catalog.Session {
	s := catalog.Session{
		ID: bounded.Clip(string(r.id), catalog.MaxIDBytes+1), ProjectPath: bounded.Clip(string(r.directory), catalog.MaxPathBytes+1),
		Title:   bounded.Squeeze(string(r.title), catalog.MaxTextBytes),
		TimeMS:  cmp.Or(p.Believe(int64(r.updated)), p.Believe(int64(r.created))),
		Details: catalog.Details{Archived: r.archived != 0, StartedMS: p.Believe(int64(r.created))},
	}
	kinship(&s, string(r.parent), string(r.fork))
	inWorktree(&s)
	return s
}

// kinship notes what a session comes from.
func kinship(s *catalog.Session, parent, fork string) {
	switch {
	case parent != "":
		s.Parent, s.Relation, s.NonInteractive = bounded.Clip(parent, catalog.MaxIDBytes), catalog.SubAgent, true
	case fork != "":
		s.Parent, s.Relation = bounded.Clip(fork, catalog.MaxIDBytes), catalog.Fork
	}
}

// inWorktree names the worktree of a session in one that OpenCode made, <data>/opencode/worktree/<project>/<name>.
func inWorktree(s *catalog.Session) {
	_, rest, ok := strings.Cut(filepath.ToSlash(s.ProjectPath), "/opencode/worktree/")
	if !ok {
		return
	}
	if _, name, ok := strings.Cut(rest, "/"); ok {
		s.Worktree, _, _ = strings.Cut(name, "/")
	}
}

// untitled reports whether a title is none, or the one that every session starts with.
func untitled(title string) bool {
	return title == "" || strings.HasPrefix(title, "New session - ") || strings.HasPrefix(title, "Child session - ")
}

// Assemble implements [catalog.Assembler]: a session that a database has is not read from JSON files, which stay behind
// when it is moved there. OpenCode deletes a session with the ones that it started, so one of those without its parent is a
// remnant.
func (Reader) Assemble(a *catalog.Assembly) []catalog.Session {
	rows := a.All(kindDatabase)
	moved := make(map[string]bool, len(rows))
	for _, s := range rows {
		moved[s.ID] = true
	}
	out := rows[:0]
	for _, s := range rows {
		if s.Relation == catalog.SubAgent && !moved[s.Parent] {
			a.Skip(s.StoreFile+"#"+s.ID, catalog.Gone)
			continue
		}
		out = append(out, s)
	}
	projects := map[string]string{}
	for _, s := range a.All(kindProject) {
		projects[s.Ref] = s.ProjectPath
	}
	for _, kind := range []string{kindFile, kindOldFile} {
		for _, s := range a.All(kind) {
			s.ProjectPath = cmp.Or(s.ProjectPath, projects[filepath.Base(filepath.Dir(s.StoreFile))])
			if moved[s.ID] {
				a.Skip(s.StoreFile, catalog.Duplicate)
				continue
			}
			out = append(out, s)
		}
	}
	return out
}
