package hermes_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentd/providers/catalog"
	"agentd/providers/catalog/hermes"
	"agentd/testkit/catalogtest"
)

const (
	rootID      = "20260901_120000_aaaa01"
	oldID       = "20260901_120000_aaaa02"
	nextID      = "20260901_120000_aaaa03"
	branchID    = "20260901_120000_aaaa04"
	childID     = "20260901_120000_aaaa05"
	resetID     = "20260901_120000_aaaa06"
	cronID      = "20260901_120000_aaaa07"
	profileID   = "20260901_120000_aaaa08"
	emptyID     = "20260901_120000_aaaa09"
	treeID      = "20260901_120000_aaaa0a"
	delegatedID = "20260901_120000_aaaa0b"
)

// schema is the present one, reduced to what is read.
func schema() []string {
	return []string{
		`CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, session_key TEXT, model TEXT, model_config TEXT, parent_session_id TEXT, started_at REAL,
			ended_at REAL, end_reason TEXT, message_count INTEGER DEFAULT 0, cwd TEXT, git_branch TEXT, title TEXT, last_activity_at REAL, archived INTEGER DEFAULT 0, hidden INTEGER DEFAULT 0)`,
		`CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT, content TEXT, tool_name TEXT, tool_calls TEXT, timestamp REAL,
			reasoning TEXT, active INTEGER DEFAULT 1, compacted INTEGER DEFAULT 0, display_kind TEXT)`,
		"CREATE INDEX idx_messages_session ON messages (session_id, timestamp)",
	}
}

// insert makes a row of a table out of columns and values, which stand in turn. Values are SQL; the last one of a column counts.
func insert(table string, pairs ...string) string {
	var columns, values []string
	for i := 0; i < len(pairs); i += 2 {
		if at := slices.Index(columns, pairs[i]); at >= 0 {
			values[at] = pairs[i+1]
			continue
		}
		columns, values = append(columns, pairs[i]), append(values, pairs[i+1])
	}
	return "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")"
}

func session(id string, more ...string) string {
	return insert("sessions", append([]string{"id", "'" + id + "'", "source", "'cli'", "started_at", fmt.Sprintf("%d.25", catalogtest.Time/1000)}, more...)...)
}

// say adds a message, so many seconds and a half after the time of the store.
func say(id, role, text string, seconds int64, more ...string) string {
	return insert("messages", append([]string{
		"session_id", "'" + id + "'", "role", "'" + role + "'", "content", "'" + text + "'", "timestamp", fmt.Sprintf("%d.5", catalogtest.Time/1000+seconds),
	}, more...)...)
}

func statements() []string {
	const json = `CAST(x'00' || CAST('json:[{"type":"text","text":"Question with a picture"},{"type":"image_url","image_url":{"url":"data:"}}]' AS BLOB) AS TEXT)`
	return append(
		schema(),
		session(rootID, "title", "'A title'", "cwd", "'/work/app'", "git_branch", "'main'", "end_reason", "'compression'", "session_key", "'k'"),
		say(rootID, "user", "[CONTEXT COMPACTION] what was said", 1),
		say(rootID, "user", "First question", 2, "active", "0", "compacted", "1"),
		say(rootID, "user", "Taken back", 3, "active", "0"),
		say(rootID, "assistant", "The zebra answers.", 4, "tool_calls", `'[{"id":"c","type":"function","function":{"name":"terminal","arguments":"{\"command\":\"ls\"}"}}]'`, "reasoning", "'thought'"),
		say(rootID, "tool", "files", 5, "tool_name", "'terminal'"),
		say(rootID, "user", "Last question", 6),
		say(rootID, "assistant", "Yes.", 1e12), // A damaged time.
		session(oldID, "message_count", "2", "model", "'m'"),
		session(nextID, "parent_session_id", "'"+rootID+"'", "cwd", "'/work/app'"),
		insert("messages", "session_id", "'"+nextID+"'", "role", "'user'", "content", json, "timestamp", "0"),
		say(nextID, "assistant", "The giraffe goes on.", 100),
		session(branchID, "parent_session_id", "'"+nextID+"'", "model_config", `'{"_branched_from":"`+nextID+`"}'`, "title", "'Branch'", "archived", "1"),
		say(branchID, "user", "Branch question", 110),
		session(childID, "parent_session_id", "'"+nextID+"'", "title", "'Child'"),
		say(childID, "assistant", "The walrus was spawned.", 120),
		session(delegatedID, "parent_session_id", "'"+rootID+"'", "title", "'Delegated'", "model_config", `'{"_delegate_from":"`+rootID+`"}'`),
		session("20260901_120000_ended", "title", "'Ended'", "end_reason", "'session_reset'", "session_key", "'chat'", "source", "'telegram'"),
		session(resetID, "parent_session_id", "'20260901_120000_ended'", "session_key", "'chat'", "title", "'After a reset'", "source", "'telegram'"),
		session(cronID, "title", "'Nightly'", "source", "'cron'"),
		session(treeID, "title", "'In a worktree'", "cwd", "'/work/app/.worktrees/hermes-1a2b/sub'"),
		session(emptyID),
	)
}

// writeStore writes one of each kind of session, and a profile of an older version.
func writeStore(tb testing.TB, env catalog.Env) []catalogtest.Want {
	tb.Helper()
	root, err := filepath.Rel(env.Home, hermes.New().Roots(env)[0].Path)
	if err != nil {
		tb.Fatal(err)
	}
	root = filepath.ToSlash(root)
	catalogtest.PutSQLite(tb, env, root+"/state.db", 0, statements()...)
	catalogtest.PutSQLite(
		tb, env, root+"/profiles/coder/state.db", 0, "CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, started_at REAL, title TEXT, parent_session_id TEXT)",
		"CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, timestamp REAL)",
		session(profileID), say(profileID, "user", "Profile question", 200), say(profileID, "assistant", "The ocelot answers.", 201),
	)
	at := catalogtest.Time
	return []catalogtest.Want{
		{ID: rootID, Project: "/work/app", TimeMS: at + 6500, Title: "A title", Prompt: "First question", Branch: "main", Said: "zebra"},
		{ID: oldID, TimeMS: at + 250},
		{ID: nextID, Project: "/work/app", TimeMS: at + 100_500, Prompt: "Question with a picture", Parent: rootID, Relation: catalog.Continuation, Said: "giraffe"},
		{ID: branchID, TimeMS: at + 110_500, Title: "Branch", Prompt: "Branch question", Parent: nextID, Relation: catalog.Fork, Archived: true},
		{ID: childID, TimeMS: at + 120_500, Title: "Child", Parent: nextID, Relation: catalog.SubAgent, NonInteractive: true, Said: "walrus"},
		{ID: delegatedID, TimeMS: at + 250, Title: "Delegated", Parent: rootID, Relation: catalog.SubAgent, NonInteractive: true},
		{ID: "20260901_120000_ended", TimeMS: at + 250, Title: "Ended"},
		{ID: resetID, TimeMS: at + 250, Title: "After a reset"},
		{ID: cronID, TimeMS: at + 250, Title: "Nightly", NonInteractive: true},
		{ID: treeID, Project: "/work/app/.worktrees/hermes-1a2b/sub", TimeMS: at + 250, Title: "In a worktree", Worktree: "hermes-1a2b"},
		{ID: profileID, TimeMS: at + 201_500, Prompt: "Profile question", Said: "ocelot"},
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	catalogtest.Run(t, catalogtest.Config{
		Reader: hermes.New(), Write: writeStore, Vars: map[string]string{"HERMES_HOME": "~/moved"},
		Shared: func(rel string) bool { return strings.HasSuffix(rel, "state.db") },
	})
}

func newCatalog(t *testing.T, env catalog.Env) *catalog.Catalog {
	t.Helper()
	c, err := catalog.New([]catalog.Reader{hermes.New()}, &catalog.Options{Env: &env})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPlans(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	writeStore(t, env)
	home := hermes.New().Roots(env)[0].Path
	for id, want := range map[string]string{rootID: "", profileID: filepath.Join(home, "profiles", "coder")} {
		plan, err := newCatalog(t, env).ResumePlan(t.Context(), catalog.PlanRequest{Agent: "hermes", SessionID: id})
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Plan.Env["HERMES_HOME"]; got != want {
			t.Errorf("session %q: HERMES_HOME = %q, want %q", id, got, want)
		}
		if (plan.Plan.Cwd == nil) != (id == profileID) {
			t.Errorf("session %q: cwd = %v", id, plan.Plan.Cwd)
		}
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	writeStore(t, env)
	rel, err := filepath.Rel(env.Home, hermes.New().Roots(env)[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	catalogtest.PutSQLite(t, env, filepath.ToSlash(rel)+"/profiles/other/state.db", 0, "CREATE TABLE else_ (a)")
	reports, err := newCatalog(t, env).Doctor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[catalog.Reason]int{}
	for _, s := range reports[0].Skipped {
		got[s.Reason] = s.Count
	}
	if got[catalog.NoConversation] != 1 || got[catalog.Unsupported] != 1 || len(got) != 2 {
		t.Errorf("skipped = %v, want the session in which nothing was said, and a database of something else", got)
	}
}

func TestTranscript(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	writeStore(t, env)
	s, err := newCatalog(t, env).Session(t.Context(), catalog.ShowRequest{Agent: "hermes", SessionID: rootID})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for rec, err := range hermes.New().Records(t.Context(), catalog.ContentRequest{Session: s}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(rec.Role)+": "+rec.Text)
	}
	want := "system: [CONTEXT COMPACTION] what was said|user: First question|assistant: The zebra answers.|tool: terminal {\"command\":\"ls\"}|tool: terminal\nfiles|user: Last question|assistant: Yes."
	if strings.Join(got, "|") != want {
		t.Errorf("Records = %q, want %q", strings.Join(got, "|"), want)
	}
}

func TestLongTranscript(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	const count = 450
	all := append(schema(), session(rootID, "title", "'Long'"))
	for i := range int64(count) {
		all = append(all, say(rootID, "user", fmt.Sprintf("number %d", i), i))
	}
	rel, err := filepath.Rel(env.Home, hermes.New().Roots(env)[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	catalogtest.PutSQLite(t, env, filepath.ToSlash(rel)+"/state.db", 0, all...)
	s, err := newCatalog(t, env).Session(t.Context(), catalog.ShowRequest{Agent: "hermes", SessionID: rootID})
	if err != nil {
		t.Fatal(err)
	}
	for _, backward := range []bool{false, true} {
		if n := countUp(t.Context(), t, s, backward, count); n != count {
			t.Errorf("newest first %v: %d records, want %d", backward, n, count)
		}
	}
}

// countUp checks that the records are numbered in order, and returns how many there are.
func countUp(ctx context.Context, t *testing.T, s catalog.Session, backward bool, count int) (n int) {
	t.Helper()
	for rec, err := range hermes.New().Records(ctx, catalog.ContentRequest{Session: s, NewestFirst: backward}) {
		if err != nil {
			t.Fatal(err)
		}
		want := n
		if backward {
			want = count - 1 - n
		}
		if rec.Text != fmt.Sprintf("number %d", want) {
			t.Fatalf("newest first %v: record %d = %q, want number %d", backward, n, rec.Text, want)
		}
		n++
	}
	return n
}
