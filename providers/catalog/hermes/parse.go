package hermes

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
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

// Parse implements [catalog.Reader].
func (Reader) Parse(ctx context.Context, p *catalog.Parsing) error {
	var s scan
	err := database.View(ctx, p.Unit.Path, func(ctx context.Context, db *database.DB) error {
		s = scan{db: db, p: p}
		return s.run(ctx)
	})
	if err == nil && !s.known {
		p.Skip("", catalog.Unsupported)
	}
	for _, found := range s.found {
		p.Emit(found)
	}
	for _, id := range s.silent {
		p.Skip(p.Unit.Path+"#"+id, catalog.NoConversation)
	}
	return err
}

// scan is one reading of a database.
type scan struct {
	db     *database.DB
	p      *catalog.Parsing
	known  bool // there is a table of sessions
	rows   []row
	last   map[string]int64 // the time of the last message, by session
	found  []catalog.Session
	silent []string // sessions in which nothing was said
}

func (s *scan) run(ctx context.Context) error {
	if err := s.readRows(ctx); err != nil || !s.known {
		return err
	}
	have, err := s.db.Columns(ctx, "messages")
	if err != nil {
		return err
	}
	if err := s.readTimes(ctx, have); err != nil {
		return err
	}
	reasons := map[string]string{} // why sessions ended
	keys := map[string]string{}    // the chats that they belong to
	for i := range s.rows {
		reasons[string(s.rows[i].id)], keys[string(s.rows[i].id)] = string(s.rows[i].reason), string(s.rows[i].key)
	}
	for i := range s.rows {
		r := &s.rows[i]
		_, said := s.last[string(r.id)]
		if !said && r.count <= 0 && r.title == "" {
			s.silent = append(s.silent, bounded.Clip(string(r.id), catalog.MaxIDBytes))
			continue
		}
		out := r.session(s.p, s.last[string(r.id)])
		kinship(&out, r, reasons[string(r.parent)], keys[string(r.parent)])
		s.found = append(s.found, out)
	}
	slices.SortStableFunc(s.found, func(a, b catalog.Session) int { return cmp.Compare(b.TimeMS, a.TimeMS) })
	return s.addPrompts(ctx, have)
}

// row is a row of the table of sessions. Times are seconds with decimals.
type row struct {
	id, source, parent, config, title, reason, key database.Text
	cwd, branch                                    database.Text
	started, ended, active                         database.Text
	count, archived, hidden                        database.Int
}

func (s *scan) readRows(ctx context.Context) error {
	have, err := s.db.Columns(ctx, "sessions")
	if err != nil || !have["id"] {
		return err
	}
	s.known = true
	var r row
	query := database.Select("sessions", have, []string{
		"id", "source", "parent_session_id", "model_config", "title", "end_reason", "session_key", "cwd", "git_branch",
		"started_at", "ended_at", "last_activity_at", "message_count", "archived", "hidden",
	}, limitRows)
	return s.db.Each(ctx, query, nil, []any{
		&r.id, &r.source, &r.parent, &r.config, &r.title, &r.reason, &r.key, &r.cwd, &r.branch,
		&r.started, &r.ended, &r.active, &r.count, &r.archived, &r.hidden,
	}, func() error {
		s.rows = append(s.rows, r)
		return nil
	})
}

// readTimes finds the last message of each session. Times that cannot be are passed over, because a damaged one would
// hide the others.
func (s *scan) readTimes(ctx context.Context, have map[string]bool) error {
	s.last = map[string]int64{}
	if !have["session_id"] || !have["timestamp"] {
		return nil
	}
	var id database.Text
	var at database.Int
	const query = "SELECT session_id, max(CASE WHEN timestamp BETWEEN 946684800 AND 99999999999 THEN CAST(timestamp * 1000 + 0.5 AS INTEGER) END) FROM messages GROUP BY session_id " + limitRows
	return s.db.Each(ctx, query, nil, []any{&id, &at}, func() error {
		s.last[string(id)] = s.p.Believe(int64(at))
		return nil
	})
}

func (r *row) session(p *catalog.Parsing, last int64) catalog.Session {
	started := p.Believe(bounded.ParseTime(string(r.started)))
	s := catalog.Session{
		ID: bounded.Clip(string(r.id), catalog.MaxIDBytes+1), ProjectPath: bounded.Clip(strings.TrimSpace(string(r.cwd)), catalog.MaxPathBytes+1),
		Title: bounded.Squeeze(string(r.title), catalog.MaxTextBytes), Branch: bounded.Clip(string(r.branch), 4*catalog.MaxLabelBytes),
		TimeMS: cmp.Or(last, p.Believe(bounded.ParseTime(string(r.active))), started, p.Believe(bounded.ParseTime(string(r.ended)))),
		// Schedules and tools are no persons; what is hidden was made by the program for itself.
		NonInteractive: slices.Contains([]string{"cron", "subagent", "tool", "delegate", "batch", "kanban"}, string(r.source)) || r.hidden != 0,
		Details:        catalog.Details{StartedMS: started, Archived: r.archived != 0},
	}
	if s.ProjectPath == "" {
		s.ProjectName = "hermes"
	}
	inWorktree(&s)
	return s
}

// inWorktree names the worktree of a session in one that the program made, <project>/.worktrees/<name>.
func inWorktree(s *catalog.Session) {
	root, rest, ok := strings.Cut(filepath.ToSlash(s.ProjectPath), "/.worktrees/")
	if !ok {
		return
	}
	s.Worktree, _, _ = strings.Cut(rest, "/")
	s.ProjectName = root[strings.LastIndexByte(root, '/')+1:]
}

// kinship notes what a session comes from, by the marks that the program left, and by why and where its parent ended.
func kinship(s *catalog.Session, r *row, reason, key string) {
	if r.parent == "" {
		return
	}
	s.Parent = bounded.Clip(string(r.parent), catalog.MaxIDBytes)
	// A continuation inherits the marks of its parent, so only one that names the parent itself counts.
	marked := func(name string) bool {
		return bounded.Pick([]byte(r.config), name).Text(catalog.MaxIDBytes) == s.Parent
	}
	resets := []string{"session_reset", "session_switch", "idle", "daily", "suspended", "resume_pending_expired"}
	switch {
	case marked("_delegate_from"), s.NonInteractive && r.hidden == 0:
		s.Relation, s.NonInteractive = catalog.SubAgent, true
	case marked("_branched_from"), reason == "branched":
		s.Relation = catalog.Fork
	case marked("_reset_from"), slices.Contains(resets, reason) && key != "" && key == string(r.key):
		s.Parent = "" // It follows the other one in the same chat, and that is all.
	case reason == "compression":
		s.Relation = catalog.Continuation
	default:
		s.Relation, s.NonInteractive = catalog.SubAgent, true
	}
}
