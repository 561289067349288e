package opencode_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/providers/catalog"
	"agentd/providers/catalog/opencode"
	"agentd/testkit/catalogtest"
)

// schema is that of version 1 with what version 2 adds, reduced to what is read.
func schema() []string {
	const session = ` (id text PRIMARY KEY, project_id text, workspace_id text, parent_id text, directory text, title text,
		time_created integer, time_updated integer, time_archived integer`
	return []string{
		"CREATE TABLE session" + session + ")",
		"CREATE TABLE session_v2" + session + ", fork_session_id text)",
		"CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text)",
		"CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, data text)",
		"CREATE TABLE session_message (id text PRIMARY KEY, session_id text, type text, seq integer, time_created integer, data text)",
		"CREATE TABLE workspace (id text PRIMARY KEY, branch text)",
		"CREATE INDEX message_idx ON message (session_id, time_created, id)",
		"CREATE INDEX part_idx ON part (message_id, id)",
		"INSERT INTO workspace VALUES ('w1', 'feature/x')",
	}
}

func quote(s string) string {
	if s == "" {
		return "NULL"
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// session inserts a row.
func session(table, id, directory, title, parent string, updated int64) string {
	return fmt.Sprintf("INSERT INTO %s (id, workspace_id, parent_id, directory, title, time_created, time_updated) VALUES ('%s', 'w1', %s, %s, %s, %d, %d)",
		table, id, quote(parent), quote(directory), quote(title), updated-5000, updated)
}

// talk inserts a prompt and its answer, as version 1 keeps them.
func talk(id, prompt, answer string, at int64) []string {
	return []string{
		fmt.Sprintf("INSERT INTO message VALUES ('msg_%s_1', '%s', %d, '{\"role\":\"user\"}')", id, id, at),
		fmt.Sprintf("INSERT INTO part VALUES ('prt_%s_1', 'msg_%s_1', '%s', '{\"type\":\"text\",\"synthetic\":true,\"text\":\"machine\"}')", id, id, id),
		fmt.Sprintf("INSERT INTO part VALUES ('prt_%s_2', 'msg_%s_1', '%s', '{\"type\":\"text\",\"text\":\"%s\"}')", id, id, id, prompt),
		fmt.Sprintf("INSERT INTO message VALUES ('msg_%s_2', '%s', %d, '{\"role\":\"assistant\"}')", id, id, at+1),
		fmt.Sprintf("INSERT INTO part VALUES ('prt_%s_3', 'msg_%s_2', '%s', '{\"type\":\"reasoning\",\"text\":\"thought\"}')", id, id, id),
		fmt.Sprintf("INSERT INTO part VALUES ('prt_%s_4', 'msg_%s_2', '%s', '{\"type\":\"tool\",\"tool\":\"bash\",\"state\":{\"input\":{\"command\":\"ls\"},\"output\":\"files\"}}')", id, id, id),
		fmt.Sprintf("INSERT INTO part VALUES ('prt_%s_5', 'msg_%s_2', '%s', '{\"type\":\"text\",\"text\":\"%s\"}')", id, id, id, answer),
	}
}

const (
	oldID      = "ses_aaaaaaaaaaaaaaaaaaaaaaaa01"
	recentID   = "ses_aaaaaaaaaaaaaaaaaaaaaaaa02"
	childID    = "ses_aaaaaaaaaaaaaaaaaaaaaaaa03"
	forkID     = "ses_aaaaaaaaaaaaaaaaaaaaaaaa04"
	channelID  = "ses_aaaaaaaaaaaaaaaaaaaaaaaa05"
	fileID     = "ses_aaaaaaaaaaaaaaaaaaaaaaaa06"
	oldFileID  = "ses_aaaaaaaaaaaaaaaaaaaaaaaa07"
	archivedID = "ses_aaaaaaaaaaaaaaaaaaaaaaaa08"
)

// writeStore writes one of each kind of session.
func writeStore(tb testing.TB, env catalog.Env) []catalogtest.Want {
	tb.Helper()
	root := ".local/share/opencode/"
	if env.Var("XDG_DATA_HOME") != "" {
		root = "moved/opencode/"
	}
	at := catalogtest.Time
	statements := append(
		schema(),
		session("session", oldID, "/work/app", "A title", "", at),
		session("session", recentID, "/work/stale", "Stale", "", at+900_000),
		session("session_v2", recentID, "/data/opencode/worktree/abc/spike", "", "", at+100_000),
		session("session", childID, "/work/app", "Child", oldID, at+200_000),
		session("session", "ses_orphan", "/work/app", "Child of a deleted session", "ses_gone", at+200_000),
		session("session_v2", forkID, "/work/app", "Forked", "", at+300_000),
		fmt.Sprintf("UPDATE session_v2 SET fork_session_id = '%s' WHERE id = '%s'", recentID, forkID),
		session("session", archivedID, "/work/app", "Put away", "", at+400_000),
		fmt.Sprintf("UPDATE session SET time_archived = %d WHERE id = '%s'", at+400_001, archivedID),
		session("session", fileID, "/work/moved/to/the/database", "Moved", "", at-700_000),
		"DELETE FROM session WHERE id = '"+fileID+"'",
	)
	statements = append(statements, talk(oldID, "First question", "The zebra answers.", at-4000)...)
	statements = append(
		statements,
		fmt.Sprintf(`INSERT INTO session_message VALUES ('msg_a', '%s', 'system', 1, %d, '{"text":"be good"}')`, recentID, at),
		fmt.Sprintf(`INSERT INTO session_message VALUES ('msg_b', '%s', 'user', 2, %d, '{"text":"Recent question"}')`, recentID, at+1),
		fmt.Sprintf(`INSERT INTO session_message VALUES ('msg_c', '%s', 'assistant', 3, %d, '{"content":[{"type":"text","text":"The giraffe answers."},{"type":"tool","name":"bash","state":{"input":{"command":"ls"},"content":[{"type":"text","text":"files"}]}}]}')`, recentID, at+2),
	)
	catalogtest.PutSQLite(tb, env, root+"opencode.db", 0, statements...)
	catalogtest.PutSQLite(tb, env, root+"opencode-dev.db", 0, append(append(schema(), session("session", channelID, "/work/dev", "Development", "", at+500_000)), talk(channelID, "Channel question", "The walrus answers.", at)...)...)

	catalogtest.Put(tb, env, root+"storage/session/proj/"+fileID+".json", fmt.Sprintf(`{"id":%q,"projectID":"proj","title":"In a file","time":{"created":%d,"updated":%d}}`, fileID, at-800_000, at-700_000), 0)
	catalogtest.Put(tb, env, root+"storage/project/proj.json", `{"id":"proj","worktree":"/work/file"}`, 0)
	catalogtest.Put(tb, env, root+"storage/message/"+fileID+"/msg_"+fileID+"1.json", `{"id":"m1","role":"user","time":{"created":1788264000000}}`, 0)
	catalogtest.Put(tb, env, root+"storage/part/msg_"+fileID+"1/prt_1.json", `{"id":"prt_1","type":"text","text":"File question"}`, 0)
	catalogtest.Put(tb, env, root+"storage/message/"+fileID+"/msg_"+fileID+"2.json", `{"id":"m2","role":"assistant"}`, 0)
	catalogtest.Put(tb, env, root+"storage/part/msg_"+fileID+"2/prt_2.json", `{"id":"prt_2","type":"text","text":"The ocelot answers."}`, 0)

	old := root + "project/-work-older/storage/session/"
	catalogtest.Put(tb, env, old+"info/"+oldFileID+".json", fmt.Sprintf(`{"id":%q,"title":"Older","time":{"created":%d,"updated":%d}}`, oldFileID, at-900_000, at-850_000), 0)
	catalogtest.Put(tb, env, old+"message/"+oldFileID+"/msg_"+oldFileID+".json", `{"role":"user","parts":[{"type":"text","text":"Older heron question"}],"metadata":{"assistant":{"path":{"cwd":"/work/older"}},"time":{"created":1788264000000}}}`, 0)

	return []catalogtest.Want{
		{ID: oldID, Project: "/work/app", TimeMS: at, Title: "A title", Prompt: "First question", Branch: "feature/x", Said: "zebra"},
		{ID: recentID, Project: "/data/opencode/worktree/abc/spike", TimeMS: at + 100_000, Prompt: "Recent question", Branch: "feature/x", Worktree: "spike", Said: "giraffe"},
		{ID: childID, Project: "/work/app", TimeMS: at + 200_000, Title: "Child", Branch: "feature/x", NonInteractive: true, Parent: oldID, Relation: catalog.SubAgent},
		{ID: forkID, Project: "/work/app", TimeMS: at + 300_000, Title: "Forked", Branch: "feature/x", Parent: recentID, Relation: catalog.Fork},
		{ID: archivedID, Project: "/work/app", TimeMS: at + 400_000, Title: "Put away", Branch: "feature/x", Archived: true},
		{ID: channelID, Project: "/work/dev", TimeMS: at + 500_000, Title: "Development", Prompt: "Channel question", Branch: "feature/x", Said: "walrus"},
		{ID: fileID, Project: "/work/file", TimeMS: at - 700_000, Title: "In a file", Prompt: "File question", Said: "ocelot"},
		{ID: oldFileID, Project: "/work/older", TimeMS: at - 850_000, Title: "Older", Prompt: "Older heron question", Said: "heron"},
	}
}

func shared(rel string) bool {
	return strings.HasSuffix(rel, ".db") || strings.HasSuffix(rel, "storage/project/proj.json")
}

func TestReader(t *testing.T) {
	t.Parallel()
	catalogtest.Run(t, catalogtest.Config{
		Reader: opencode.New(), Write: writeStore, Vars: map[string]string{"XDG_DATA_HOME": "~/moved"}, Shared: shared,
	})
}

func newCatalog(t *testing.T, env catalog.Env) *catalog.Catalog {
	t.Helper()
	c, err := catalog.New([]catalog.Reader{opencode.New()}, &catalog.Options{Env: &env})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPlanNamesAnUnusualDatabase(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		vars map[string]string
		id   string
		want map[string]string // paths below the data folder
	}{
		{"usual", nil, oldID, map[string]string{}},
		{"of a channel", nil, channelID, map[string]string{"OPENCODE_DB": "opencode-dev.db"}},
		{"usual beside a configured one", map[string]string{"OPENCODE_DB": "other.db"}, oldID, map[string]string{"OPENCODE_DB": "opencode.db"}},
		{"in memory", map[string]string{"OPENCODE_DB": ":memory:"}, oldID, map[string]string{}},
		{"of a file", nil, fileID, map[string]string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := catalogtest.NewEnv(t)
			maps.Copy(env.Vars, tt.vars)
			writeStore(t, env)
			plan, err := newCatalog(t, env).ResumePlan(t.Context(), catalog.PlanRequest{Agent: "opencode", SessionID: tt.id})
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			for k, v := range tt.want {
				want[k] = filepath.Join(env.Home, ".local", "share", "opencode", v)
			}
			if diff := cmp.Diff(want, plan.Plan.Env); diff != "" {
				t.Errorf("env (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConfiguredDatabase(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	catalogtest.PutSQLite(t, env, "elsewhere/x.sqlite", 0, append(schema(), session("session", oldID, "/work/app", "Elsewhere", "", catalogtest.Time))...)
	env.Vars["OPENCODE_DB"] = filepath.Join(env.Home, "elsewhere", "x.sqlite")
	found, err := newCatalog(t, env).Search(t.Context(), catalog.SearchRequest{})
	if err != nil || found.Total != 1 {
		t.Errorf("Search = %v, %v, want one session", found, err)
	}
}

func TestLongTranscript(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	statements := append(schema(), session("session", oldID, "/work/app", "Long", "", catalogtest.Time), session("session_v2", recentID, "/work/app", "Long", "", catalogtest.Time))
	const count = 250
	for i := range count {
		statements = append(
			statements,
			fmt.Sprintf("INSERT INTO message VALUES ('msg_%03d', '%s', %d, '{\"role\":\"user\"}')", i, oldID, catalogtest.Time+int64(i/3)),
			fmt.Sprintf("INSERT INTO part VALUES ('prt_%03d', 'msg_%03d', '', '{\"type\":\"text\",\"text\":\"number %d\"}')", i, i, i),
			fmt.Sprintf("INSERT INTO session_message VALUES ('new_%03d', '%s', 'user', %d, 1, '{\"text\":\"number %d\"}')", i, recentID, i, i),
		)
	}
	catalogtest.PutSQLite(t, env, ".local/share/opencode/opencode.db", 0, statements...)
	c := newCatalog(t, env)
	for _, id := range []string{oldID, recentID} {
		s, err := c.Session(t.Context(), catalog.ShowRequest{Agent: "opencode", SessionID: id})
		if err != nil {
			t.Fatal(err)
		}
		for _, backward := range []bool{false, true} {
			n := 0
			for rec, err := range opencode.New().Records(t.Context(), catalog.ContentRequest{Session: s, NewestFirst: backward}) {
				if err != nil {
					t.Fatal(err)
				}
				want := fmt.Sprintf("number %d", n)
				if backward {
					want = fmt.Sprintf("number %d", count-1-n)
				}
				if rec.Text != want {
					t.Fatalf("session %q, newest first %v: record %d = %q, want %q", id, backward, n, rec.Text, want)
				}
				n++
			}
			if n != count {
				t.Errorf("session %q, newest first %v: %d records, want %d", id, backward, n, count)
			}
		}
	}
}
