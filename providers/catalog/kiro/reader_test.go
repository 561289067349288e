package kiro_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"agentd/providers/catalog"
	"agentd/providers/catalog/kiro"
	"agentd/testkit/catalogtest"
)

const (
	tableID  = "aaaaaaaa-0000-4000-8000-000000000001"
	oldID    = "aaaaaaaa-0000-4000-8000-000000000002"
	emptyID  = "aaaaaaaa-0000-4000-8000-000000000003"
	fileID   = "aaaaaaaa-0000-4000-8000-000000000004"
	childID  = "aaaaaaaa-0000-4000-8000-000000000005"
	editorID = "sess_aaaaaaaa-0000-4000-8000-000000000006"
	leftID   = "aaaaaaaa-0000-4000-8000-000000000007"
	shapeID  = "aaaaaaaa-0000-4000-8000-000000000008"
)

func turn(prompt, reply string) string {
	return fmt.Sprintf(`{"user":{"content":{"Prompt":{"prompt":%q}},"timestamp":"2026-09-01T12:00:00Z"},"assistant":{"Response":{"message_id":"m","content":%q}}}`, prompt, reply)
}

func row(id, cwd, value string, at int64) string {
	return fmt.Sprintf("INSERT INTO conversations_v2 VALUES ('%s', '%s', CAST(x'%x' AS TEXT), %d, %d)", cwd, id, value, at-1000, at)
}

// statements are those of a database with one of each kind of conversation.
func statements() []string {
	tool := `{"user":{"content":{"ToolUseResults":{"tool_use_results":[{"content":[{"Text":"files"}]}]}}},"assistant":{"ToolUse":{"content":"more","tool_uses":[{"name":"ls"}]}}}`
	return []string{
		"CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT)",
		"CREATE TABLE conversations_v2 (key TEXT, conversation_id TEXT, value TEXT, created_at INTEGER, updated_at INTEGER, PRIMARY KEY (key, conversation_id))",
		row(tableID, "/work/app", `{"conversation_id":"x","history":[`+turn("Table question", "The zebra answers.")+","+tool+","+turn("Last question", "Yes.")+`]}`, catalogtest.Time),
		row(shapeID, "/work/app", `{"messages":[{"role":"user","content":"Shape question"},{"role":"assistant","content":"The badger answers."}]}`, catalogtest.Time+1000),
		row(emptyID, "/work/app", `{"history":[]}`, catalogtest.Time),
		"INSERT INTO conversations VALUES ('/work/old', '{\"conversation_id\":\"" + oldID + "\",\"history\":[" + turn("Old question", "The lemur answers.") + "]}')",
	}
}

// writeStore writes one of each kind of session.
func writeStore(tb testing.TB, env catalog.Env) []catalogtest.Want {
	tb.Helper()
	root := ".kiro"
	if env.Var("KIRO_HOME") != "" {
		root = "moved"
	}
	at := catalogtest.Time
	rel, err := filepath.Rel(env.Home, kiro.New().Roots(env)[1].Path)
	if err != nil {
		tb.Fatal(err)
	}
	catalogtest.PutSQLite(tb, env, filepath.ToSlash(rel), 0, statements()...)

	prompt := func(text string, seconds int64) string {
		return fmt.Sprintf(`{"version":"v1","kind":"Prompt","data":{"message_id":"m%d","content":[{"kind":"text","data":%q}],"meta":{"timestamp":%d}}}`+"\n", seconds, text, seconds)
	}
	reply := func(id, text string) string {
		return fmt.Sprintf(`{"version":"v1","kind":"AssistantMessage","data":{"message_id":%q,"content":[{"kind":"text","data":%q},{"kind":"toolUse","data":{"toolUseId":"t","name":"ls","input":{"path":"."}}}]}}`+"\n", id, text)
	}
	catalogtest.Put(tb, env, root+"/sessions/cli/"+fileID+".json", fmt.Sprintf(
		`{"session_id":%q,"cwd":"/work/file","created_at":"2026-09-01T12:00:00Z","updated_at":"2026-09-01T12:00:30Z","title":"A title","parent_session_id":null,"git":{"branch":"main"}}`, fileID), 0)
	catalogtest.Put(tb, env, root+"/sessions/cli/"+fileID+".jsonl", prompt("File question", at/1000)+reply("a", "The giraffe answers.")+prompt("Later question", at/1000+60), 0)
	catalogtest.Put(tb, env, root+"/sessions/cli/"+fileID+".history", "File question\n", 0)
	catalogtest.Put(tb, env, root+"/sessions/cli/"+childID+".json", fmt.Sprintf(
		`{"session_id":%q,"cwd":"/work/file","updated_at":"2026-09-01T12:01:40Z","title":"sub","parent_session_id":%q}`, childID, fileID), 0)
	catalogtest.Put(tb, env, root+"/sessions/cli/"+childID+".jsonl", prompt("Child question", at/1000)+reply("a", "The walrus was spawned."), 0)
	catalogtest.Put(tb, env, root+"/sessions/cli/"+leftID+".json", fmt.Sprintf(`{"session_id":%q,"cwd":"/work/file","title":null}`, leftID), 0)

	dir := root + "/sessions/0123456789abcdef/" + editorID
	catalogtest.Put(tb, env, dir+"/session.json", fmt.Sprintf(
		`{"id":%q,"title":"From the editor","workspacePaths":["/work/first","/work/second"],"createdAt":"2026-09-01T12:00:00Z","lastModifiedAt":"2026-09-01T12:03:20Z"}`, editorID), 0)
	catalogtest.Put(tb, env, dir+"/messages.jsonl", strings.Join([]string{
		`{"id":"e0","timestamp":"2026-09-01T12:00:00Z","payload":{"type":"session_start","content":"Editor question","agentType":"main"}}`,
		`{"id":"e1","timestamp":"2026-09-01T12:00:10Z","payload":{"type":"assistant","operationType":"Reasoning","content":"thinking"}}`,
		`{"id":"e2","timestamp":"2026-09-01T12:00:20Z","payload":{"type":"assistant","operationType":"Say","content":"The ocelot answers."}}`,
		`{"id":"e3","timestamp":"2026-09-01T12:00:30Z","payload":{"type":"tool_call","input":{"path":"."}}}`,
		`{"id":"e4","timestamp":"2026-09-01T12:00:40Z","payload":{"type":"user","content":"Second question"}}`,
	}, "\n")+"\n", 0)

	return []catalogtest.Want{
		{ID: tableID, Project: "/work/app", TimeMS: at, Prompt: "Table question", Said: "zebra"},
		{ID: shapeID, Project: "/work/app", TimeMS: at + 1000, Prompt: "Shape question", Said: "badger"},
		{ID: oldID, Project: "/work/old", TimeMS: at, Prompt: "Old question", Said: "lemur"},
		{ID: fileID, Project: "/work/file", TimeMS: at + 60_000, Title: "A title", Prompt: "File question", Branch: "main", Said: "giraffe"},
		{ID: childID, Project: "/work/file", TimeMS: at + 100_000, Title: "sub", Prompt: "Child question", NonInteractive: true, Parent: fileID, Relation: catalog.SubAgent, Said: "walrus"},
		{ID: editorID, Project: "/work/first", TimeMS: at + 200_000, Title: "From the editor", Prompt: "Editor question", Said: "ocelot"},
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	catalogtest.Run(t, catalogtest.Config{
		Reader: kiro.New(), Write: writeStore, Vars: map[string]string{"KIRO_HOME": "~/moved"},
		Shared: func(rel string) bool { return strings.HasSuffix(rel, "data.sqlite3") },
	})
}

func newCatalog(t *testing.T, env catalog.Env) *catalog.Catalog {
	t.Helper()
	c, err := catalog.New([]catalog.Reader{kiro.New()}, &catalog.Options{Env: &env})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestReport(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	writeStore(t, env)
	catalogtest.Put(t, env, ".kiro/sessions/cli/notes.json", `"text"`, 0)
	catalogtest.Put(t, env, ".kiro/sessions/cli/torn.json", `{"session_id": "`, 0)
	reports, err := newCatalog(t, env).Doctor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[catalog.Reason]int{}
	for _, s := range reports[0].Skipped {
		got[s.Reason] = s.Count
	}
	if got[catalog.NoConversation] != 2 || got[catalog.NotASession] != 1 || got[catalog.Corrupt] != 1 || len(got) != 3 {
		t.Errorf("skipped = %v, want two silent sessions, something else and a torn file", got)
	}
}

func TestLongConversation(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	filler := turn(strings.Repeat("again ", 20_000), "yes")
	value := `{"history":[` + turn("Very first", "yes") + strings.Repeat(","+filler, 4) + "," + turn("Very last", "yes") + `]}`
	rel, err := filepath.Rel(env.Home, kiro.New().Roots(env)[1].Path)
	if err != nil {
		t.Fatal(err)
	}
	catalogtest.PutSQLite(t, env, filepath.ToSlash(rel), 0, append(statements()[:2], row(tableID, "/work/app", value, catalogtest.Time))...)
	found, err := newCatalog(t, env).Search(t.Context(), catalog.SearchRequest{IncludeSummaries: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Sessions) != 1 || strings.Join(found.Sessions[0].Summaries, ", ") != "Very first, Very last" {
		t.Errorf("found %v, want the first prompt and the last", found.Sessions)
	}
}

func TestPlanOfAConversation(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	env.OS = "linux"
	env.Vars["XDG_DATA_HOME"] = filepath.Join(env.Home, "data")
	writeStore(t, env)
	for id, want := range map[string]string{tableID: env.Vars["XDG_DATA_HOME"], fileID: ""} {
		plan, err := newCatalog(t, env).ResumePlan(t.Context(), catalog.PlanRequest{Agent: "kiro", SessionID: id})
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Plan.Env["XDG_DATA_HOME"]; got != want {
			t.Errorf("session %q: XDG_DATA_HOME = %q, want %q", id, got, want)
		}
	}
}

func TestHomeWithATilde(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	env.Vars["KIRO_HOME"] = "~/k"
	if got, want := kiro.New().Launch(env, &catalog.Session{ID: "a"}).Env["KIRO_HOME"], filepath.Join(env.Home, "k"); got != want {
		t.Errorf("Launch: KIRO_HOME = %q, want %q", got, want)
	}
}
