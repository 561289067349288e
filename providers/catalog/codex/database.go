package codex

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/database"
)

// limitRows bounds the rows of a table.
const limitRows = "LIMIT 500000"

// namedByUser marks, in Details.Ref of a row, that the title is a name that was given.
const namedByUser = "n"

// thread is a row of the database.
type thread struct {
	id, cwd, title, name, firstMessage, preview, branch, repository database.Text
	source, threadSource, role, attachedTo                          database.Text
	created, createdMS, updated, updatedMS, archived                database.Int
}

// parseDatabase emits a fragment for each row.
func parseDatabase(ctx context.Context, p *catalog.Parsing) error {
	var rows []catalog.Session
	err := database.View(ctx, p.Unit.Path, func(ctx context.Context, db *database.DB) error {
		rows = nil
		have, err := db.Columns(ctx, "threads")
		if err != nil || !have["id"] {
			return err
		}
		parents, err := spawned(ctx, db)
		if err != nil {
			return err
		}
		var t thread
		query := database.Select("threads", have, []string{
			"id", "cwd", "title", "name", "first_user_message", "preview", "git_branch", "git_origin_url", "source", "thread_source",
			"agent_role", "attached_thread_parent_id", "created_at", "created_at_ms", "updated_at", "updated_at_ms", "archived",
		}, limitRows)
		return db.Each(ctx, query, nil, []any{
			&t.id, &t.cwd, &t.title, &t.name, &t.firstMessage, &t.preview, &t.branch, &t.repository, &t.source, &t.threadSource,
			&t.role, &t.attachedTo, &t.created, &t.createdMS, &t.updated, &t.updatedMS, &t.archived,
		}, func() error {
			rows = append(rows, t.session(p, parents[string(t.id)]))
			return nil
		})
	})
	for _, s := range rows {
		p.Emit(s)
	}
	return err
}

// spawned returns the parent of each thread that another one started.
func spawned(ctx context.Context, db *database.DB) (map[string]string, error) {
	parents := map[string]string{}
	have, err := db.Columns(ctx, "thread_spawn_edges")
	if err != nil || !have["child_thread_id"] {
		return parents, err
	}
	var child, parent database.Text
	query := database.Select("thread_spawn_edges", have, []string{"child_thread_id", "parent_thread_id"}, limitRows)
	err = db.Each(ctx, query, nil, []any{&child, &parent}, func() error {
		parents[string(child)] = string(parent)
		return nil
	})
	return parents, err
}

// session makes a fragment of a row.
func (t *thread) session(p *catalog.Parsing, parent string) catalog.Session {
	who := startedBy([]byte(t.source), string(t.threadSource), "")
	s := catalog.Session{
		ID: bounded.Clip(string(t.id), catalog.MaxIDBytes+1), ProjectPath: bounded.Clip(string(t.cwd), catalog.MaxPathBytes+1),
		TimeMS: cmp.Or(p.Believe(int64(t.updatedMS)), p.Believe(bounded.GuessMillis(float64(t.updated)))),
		Branch: bounded.Clip(string(t.branch), 4*catalog.MaxLabelBytes),
		Details: catalog.Details{
			Archived: t.archived != 0, Repository: bounded.Clip(string(t.repository), catalog.MaxTextBytes),
			StartedMS: cmp.Or(p.Believe(int64(t.createdMS)), p.Believe(bounded.GuessMillis(float64(t.created)))),
		},
	}
	s.Parent = cmp.Or(parent, who.parent, string(t.attachedTo))
	if who.subAgent || t.role != "" || s.Parent != "" {
		s.Relation, s.NonInteractive = catalog.SubAgent, true
	}
	s.NonInteractive = s.NonInteractive || who.headless
	prompt := bounded.Clip(typed(cmp.Or(string(t.firstMessage), string(t.preview))), catalog.MaxTextBytes)
	if prompt != "" {
		s.Prompts = []string{prompt}
	}
	switch {
	case t.name != "":
		s.Title, s.Ref = bounded.Squeeze(string(t.name), catalog.MaxTextBytes), namedByUser
	case !startOf(string(t.title), cmp.Or(string(t.firstMessage), prompt)):
		s.Title = bounded.Clip(firstLine(typed(string(t.title))), catalog.MaxTextBytes)
	}
	return s
}

// startOf reports whether a title is only the start of a prompt.
func startOf(title, prompt string) bool {
	title = strings.TrimRight(bounded.Squeeze(title, catalog.MaxTextBytes), ".… ")
	return strings.HasPrefix(bounded.Squeeze(prompt, catalog.MaxTextBytes), title)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(line)
}

// storeName is the name of a database for reports.
func storeName(s catalog.Session) string { return filepath.Base(s.StoreFile) + "#" + s.ID }
