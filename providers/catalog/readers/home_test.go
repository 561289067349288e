package readers_test

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/jsonfile"
	"agentd/providers/catalog"
	"agentd/testkit/catalogtest"
)

// The ids of the sessions, for agents that want a certain form.
const (
	id      = "aaaaaaaa-0000-4000-8000-000000000001"
	yolopID = "session_00000000000000000000000000000001"
)

// writeHome writes a store of each agent with one session, in which a person says "Ask the zebra".
func writeHome(tb testing.TB, env catalog.Env) {
	tb.Helper()
	for rel, lines := range map[string][]string{
		".claude/projects/-work-app/" + id + ".jsonl": {
			`{"type":"user","uuid":"u","sessionId":"ID","cwd":"/work/app","timestamp":"2026-09-01T12:00:00Z","entrypoint":"cli","promptSource":"typed","message":{"role":"user","content":"Ask the zebra"}}`,
		},
		".codex/sessions/2026/09/01/rollout-2026-09-01T12-00-00-" + id + ".jsonl": {
			`{"timestamp":"2026-09-01T12:00:00Z","type":"session_meta","payload":{"id":"ID","cwd":"/work/app","originator":"codex_cli_rs","source":"cli"}}`,
			`{"timestamp":"2026-09-01T12:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Ask the zebra"}]}}`,
			`{"timestamp":"2026-09-01T12:00:00Z","type":"event_msg","payload":{"type":"user_message","message":"Ask the zebra"}}`,
		},
		".gemini/projects.json": {`{"projects":{"/work/app":"app"}}`},
		".gemini/tmp/app/chats/session-2026-09-01T12-00-aaaaaaaa.jsonl": {
			`{"sessionId":"ID","projectHash":"x","startTime":"2026-09-01T12:00:00Z","lastUpdated":"2026-09-01T12:00:00Z","kind":"main"}`,
			`{"id":"m","timestamp":"2026-09-01T12:00:00Z","type":"user","content":[{"text":"Ask the zebra"}]}`,
		},
		".grok/sessions/" + url.PathEscape("/work/app") + "/" + id + "/summary.json":       {`{"info":{"id":"ID","cwd":"/work/app"},"updated_at":"2026-09-01T12:00:00Z"}`},
		".grok/sessions/" + url.PathEscape("/work/app") + "/" + id + "/chat_history.jsonl": {`{"type":"user","content":"Ask the zebra"}`},
		".kimi-code/sessions/wd_app/" + id + "/state.json":                                 {`{"version":2,"cwd":"/work/app","updatedAt":1788264000000,"title":"A title"}`},
		".kimi-code/sessions/wd_app/" + id + "/agents/main/wire.jsonl": {
			`{"type":"turn.prompt","input":[{"type":"text","text":"Ask the zebra"}],"origin":{"kind":"user"},"time":1788264000000}`,
		},
		".local/share/muse/sessions/2026/09/01/" + id + "/session.jsonl": {
			`{"stream":{"kind":"session","id":"ID"},"recorded_at":1788264000000000,"payload_type":"runtime.session.metadata","payload":{"record":{"workspace_root":"/work/app"}}}`,
			`{"stream":{"kind":"session","id":"ID"},"recorded_at":1788264000000000,"payload_type":"runtime.session","payload":{"kind":"run","event":{"kind":"started","prompt":"Ask the zebra"}}}`,
		},
		".pi/agent/sessions/--work-app--/x_" + id + ".jsonl":  pi(),
		".omp/agent/sessions/--work-app--/x_" + id + ".jsonl": pi(),
		".prime/agent/sessions/" + id + ".jsonl":              pi(),
		".qwen/projects/-work-app/chats/" + id + ".jsonl": {
			`{"uuid":"u","sessionId":"ID","timestamp":"2026-09-01T12:00:00Z","type":"user","cwd":"/work/app","message":{"role":"user","parts":[{"text":"Ask the zebra"}]}}`,
		},
	} {
		catalogtest.Put(tb, env, rel, strings.ReplaceAll(strings.Join(lines, "\n"), `"ID"`, `"`+id+`"`)+"\n", 0)
	}
	yolop := platform(tb, env, "yolop", "sessions") + "/" + yolopID
	catalogtest.Put(tb, env, yolop+"/workspace.json", `{"active_root":"/work/app","title":"A title"}`, 0)
	catalogtest.Put(tb, env, yolop+"/events.jsonl", fmt.Sprintf(
		`{"id":"e","type":"input.message","ts":"2026-09-01T12:00:00Z","session_id":%q,"data":{"message":{"role":"user","content":[{"type":"text","text":"Ask the zebra"}]}}}`+"\n", yolopID), 0)
	writeDatabases(tb, env)
	writeAgentd(tb, env)
}

// pi returns a transcript of pi and of what was made from it.
func pi() []string {
	return []string{
		`{"type":"session","version":3,"id":"ID","timestamp":"2026-09-01T12:00:00Z","cwd":"/work/app"}`,
		`{"type":"message","id":"1","timestamp":"2026-09-01T12:00:00Z","message":{"role":"user","content":"Ask the zebra"}}`,
	}
}

// platform returns a path below the folder for local data, relative to the home.
func platform(tb testing.TB, env catalog.Env, parts ...string) string {
	tb.Helper()
	rel, err := filepath.Rel(env.Home, filepath.Join(append([]string{env.PlatformData()}, parts...)...))
	if err != nil {
		tb.Fatal(err)
	}
	return filepath.ToSlash(rel)
}

// writeDatabases writes the stores that are databases.
func writeDatabases(tb testing.TB, env catalog.Env) {
	tb.Helper()
	const agy = ".gemini/antigravity-cli/"
	catalogtest.PutSQLite(
		tb, env, agy+"conversation_summaries.db", 0, "CREATE TABLE conversation_summaries (conversation_id TEXT, title TEXT, workspace_uris TEXT, last_modified_time DATETIME)",
		"INSERT INTO conversation_summaries VALUES ('"+id+"', 'A title', 'file:///work/app', '2026-09-01 12:00:00+00:00')",
	)
	catalogtest.PutSQLite(
		tb, env, agy+"conversations/"+id+".db", 0, "CREATE TABLE steps (idx INTEGER PRIMARY KEY, step_payload BLOB)",
		fmt.Sprintf("INSERT INTO steps VALUES (0, x'%x')", "\x08\x0e\x9a\x01\x0f\x12\x0dAsk the zebra"),
	)
	catalogtest.PutSQLite(
		tb, env, ".cursor/chats/0123456789abcdef0123456789abcdef/"+id+"/store.db", 0, "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)", "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)",
		`INSERT INTO meta VALUES ('0', '{"agentId":"x","latestRootBlobId":"root","name":"A title","createdAt":1788264000000}')`,
		fmt.Sprintf("INSERT INTO blobs VALUES ('root', x'%x')", "\x0a\x20"+strings.Repeat("a", 32)),
		fmt.Sprintf(`INSERT INTO blobs VALUES ('%s', CAST('{"role":"user","content":"Ask the zebra"}' AS BLOB))`, strings.Repeat("61", 32)),
	)
	hermes := ".hermes/state.db"
	if env.OS == "windows" {
		hermes = platform(tb, env, "hermes", "state.db")
	}
	catalogtest.PutSQLite(
		tb, env, hermes, 0, "CREATE TABLE sessions (id TEXT, source TEXT, started_at REAL, cwd TEXT)", "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, timestamp REAL)",
		"INSERT INTO sessions VALUES ('20260901_120000_a1', 'cli', 1788264000, '/work/app')", "INSERT INTO messages VALUES (1, '20260901_120000_a1', 'user', 'Ask the zebra', 1788264000)",
	)
	catalogtest.PutSQLite(
		tb, env, platform(tb, env, "kiro-cli", "data.sqlite3"), 0, "CREATE TABLE conversations_v2 (key TEXT, conversation_id TEXT, value TEXT, created_at INTEGER, updated_at INTEGER)",
		`INSERT INTO conversations_v2 VALUES ('/work/app', '`+id+`', '{"history":[{"user":{"content":{"Prompt":{"prompt":"Ask the zebra"}}},"assistant":{"Response":{"content":"Yes."}}}]}', 1, 1788264000000)`,
	)
	catalogtest.PutSQLite(
		tb, env, ".local/share/opencode/opencode.db", 0, "CREATE TABLE session (id text, directory text, title text, time_updated integer)",
		"CREATE TABLE message (id text, session_id text, time_created integer, data text)", "CREATE TABLE part (id text, message_id text, data text)",
		"INSERT INTO session VALUES ('ses_a', '/work/app', 'A title', 1788264000000)", `INSERT INTO message VALUES ('msg_a', 'ses_a', 1788264000000, '{"role":"user"}')`,
		`INSERT INTO part VALUES ('prt_a', 'msg_a', '{"type":"text","text":"Ask the zebra"}')`,
	)
}

// writeAgentd writes a session with agentd's own store.
func writeAgentd(tb testing.TB, env catalog.Env) {
	tb.Helper()
	env.Vars["AGENTD_HOME"] = filepath.Join(env.Home, "agentd")
	store, err := jsonfile.Open(env.Vars["AGENTD_HOME"], nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() {
		if err := store.Close(tb.Context()); err != nil {
			tb.Error(err)
		}
	}()
	h, err := store.Create(tb.Context(), "agt-ses-1")
	if err != nil {
		tb.Fatal(err)
	}
	at := catalogtest.Time / 1000
	var records []messages.Record
	for i, change := range []messages.Change{
		messages.Created{AgentID: "local", Epoch: h.Epoch},
		messages.ItemAppended{Item: &messages.Item{ID: "i", Type: messages.ItemMessage, Role: messages.RoleUser, Content: "Ask the zebra", CreatedAt: at}},
	} {
		rec, err := messages.EncodeChange(uint64(i)+1, at, change)
		if err != nil {
			tb.Fatal(err)
		}
		records = append(records, rec)
	}
	if err := store.Commit(tb.Context(), []persistence.Append{{Handle: h, ID: 1, Records: records}})[0]; err != nil {
		tb.Fatal(err)
	}
}
