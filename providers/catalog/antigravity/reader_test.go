package antigravity_test

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentd/providers/catalog"
	"agentd/providers/catalog/antigravity"
	"agentd/testkit/catalogtest"
)

const (
	indexedID = "aaaaaaaa-0000-4000-8000-000000000001"
	upperID   = "AAAAAAAA-0000-4000-8000-00000000000B"
	childID   = "aaaaaaaa-0000-4000-8000-000000000003"
	lateID    = "aaaaaaaa-0000-4000-8000-000000000004" // not in the index, with a directory
	headless  = "aaaaaaaa-0000-4000-8000-000000000005" // not in the index, without one
	spawnedID = "aaaaaaaa-0000-4000-8000-000000000006" // not in the index, with one above it
	leftID    = "aaaaaaaa-0000-4000-8000-000000000007" // a log without a conversation
	rowID     = "aaaaaaaa-0000-4000-8000-000000000008" // a row without files
	root      = ".gemini/antigravity-cli/"
)

// number and bytes encode fields of a protocol buffer.
func number(field, value uint64) string {
	return string(binary.AppendUvarint(binary.AppendUvarint(nil, field<<3), value))
}

func bytes(field uint64, value string) string {
	return string(binary.AppendUvarint(binary.AppendUvarint(nil, field<<3|2), uint64(len(value)))) + value
}

func moment(field uint64, ms int64) string {
	return bytes(field, number(1, uint64(ms/1000))+number(2, uint64(ms%1000)*1_000_000))
}

// step encodes a step of a type, with its payload in a field.
func step(kind, field uint64, payload string, ms int64) string {
	return number(1, kind) + number(4, 3) + bytes(5, moment(1, ms)) + bytes(field, payload)
}

// conversation returns the statements of a database.
func conversation(directory, above string, ms int64, steps ...string) []string {
	meta := moment(2, ms)
	if directory != "" {
		meta = bytes(1, bytes(1, "file://"+directory)) + meta
	}
	if above != "" {
		meta += bytes(6, above)
	}
	out := []string{
		"CREATE TABLE steps (idx INTEGER PRIMARY KEY, step_type INTEGER, status INTEGER, step_payload BLOB)",
		"CREATE TABLE trajectory_metadata_blob (id TEXT PRIMARY KEY, data BLOB)",
		fmt.Sprintf("INSERT INTO trajectory_metadata_blob VALUES ('main', x'%x')", meta),
	}
	for i, s := range steps {
		out = append(out, fmt.Sprintf("INSERT INTO steps (idx, step_payload) VALUES (%d, x'%x')", i, s))
	}
	return out
}

// talk returns the steps of a prompt, a tool and an answer, a second apart.
func talk(prompt, answer string, ms int64) []string {
	return []string{
		step(14, 19, bytes(2, prompt), ms+1000),
		step(15, 20, bytes(3, "hidden thought")+bytes(7, bytes(1, "call_1")+bytes(2, "run_command")+bytes(3, `{"CommandLine":"ls"}`)), ms+2000),
		step(132, 140, bytes(2, bytes(1, "files")), ms+3000),
		step(15, 20, bytes(1, answer), ms+4000),
	}
}

// logOf returns the log of a prompt and its answer, a second apart.
func logOf(prompt, answer string, ms int64) string {
	at := func(n int64) string { return time.UnixMilli(ms + n*1000).UTC().Format(time.RFC3339Nano) }
	return fmt.Sprintf(`{"step_index":0,"source":"USER_EXPLICIT","type":"USER_INPUT","status":"DONE","created_at":%q,"content":"<USER_REQUEST>\n%s\n</USER_REQUEST>\n<ADDITIONAL_METADATA>\nThe time is noon.\n</ADDITIONAL_METADATA>"}
{"step_index":1,"source":"SYSTEM","type":"CONVERSATION_HISTORY","created_at":%q}
{"step_index":2,"source":"MODEL","type":"PLANNER_RESPONSE","created_at":%q,"thinking":"hidden","tool_calls":[{"name":"run_command","args":{"CommandLine":"ls"}}]}
{"step_index":3,"source":"MODEL","type":"RUN_COMMAND","created_at":%q,"content":"files"}
{"step_index":4,"source":"MODEL","type":"PLANNER_RESPONSE","created_at":%q,"content":%q}
`, at(1), prompt, at(1), at(2), at(3), at(4), answer)
}

// index returns the statements of the index. Each row is an id, a title, a preview, addresses, a time, a parent and a depth.
func index(rows ...[]any) []string {
	out := []string{`CREATE TABLE conversation_summaries (conversation_id TEXT PRIMARY KEY, title TEXT NOT NULL DEFAULT '', preview TEXT NOT NULL DEFAULT '', step_count INTEGER,
		workspace_uris TEXT NOT NULL, last_modified_time DATETIME NOT NULL, parent_conversation_id TEXT NOT NULL DEFAULT '', nesting_depth INTEGER NOT NULL DEFAULT 0)`}
	for _, row := range rows {
		out = append(out, fmt.Sprintf("INSERT INTO conversation_summaries (conversation_id, title, preview, workspace_uris, last_modified_time, parent_conversation_id, nesting_depth) VALUES ('%s', '%s', '%s', '%s', '%s', '%s', %d)", row...))
	}
	return out
}

func sqlTime(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05.000000-07:00")
}

func putConversation(tb testing.TB, env catalog.Env, id string, statements []string) {
	tb.Helper()
	catalogtest.PutSQLite(tb, env, root+"conversations/"+id+".db", 0, statements...)
}

func putLog(tb testing.TB, env catalog.Env, id, name, text string) {
	tb.Helper()
	catalogtest.Put(tb, env, root+"brain/"+id+"/.system_generated/logs/"+name, text, 0)
}

// writeStore writes one of each kind of session.
func writeStore(tb testing.TB, env catalog.Env) []catalogtest.Want {
	tb.Helper()
	at := catalogtest.Time
	catalogtest.PutSQLite(tb, env, root+"conversation_summaries.db", 0, index(
		[]any{indexedID, "A title", "First ques", `["vscode-remote://x","file:///work/my%20app"]`, sqlTime(at + 4000), "", 0},
		[]any{upperID, "", "", "file:///work/single", sqlTime(at + 10_000), "", 0},
		[]any{childID, "Child", "", "[]", sqlTime(at + 20_000), indexedID, 1},
		[]any{rowID, "Only a row", "A preview", `["file:///work/row"]`, sqlTime(at + 60_000), "", 0},
	)...)
	putConversation(tb, env, indexedID, conversation("/work/my app", "", at, talk("First question", "In the database.", at)...))
	putLog(tb, env, indexedID, "transcript.jsonl", logOf("First question", "The zebra answers.", at))
	putConversation(tb, env, strings.ToLower(upperID), conversation("/work/other", "", at, talk("Upper question", "The giraffe answers.", at+100_000)...))
	putConversation(tb, env, childID, conversation("/work/child", indexedID, at, talk("Child question", "The walrus was spawned.", at)...))
	putConversation(tb, env, lateID, conversation("/work/late", "", at, append(talk("Late question", "Yes.", at+30_000), talk("Last question", "The ocelot answers.", at+35_000)...)...))
	putConversation(tb, env, headless, conversation("", "", at, talk("Headless question", "In the database.", at+40_000)...))
	putLog(tb, env, headless, "transcript.jsonl", logOf("Headless question", "cut", at+40_000))
	putLog(tb, env, headless, "transcript_full.jsonl", logOf("Headless question", "The lemur answers at length.", at+40_000))
	putConversation(tb, env, spawnedID, conversation("/work/child", lateID, at, talk("Spawned question", "The badger was spawned.", at+50_000)...))
	return []catalogtest.Want{
		{ID: indexedID, Project: "/work/my app", TimeMS: at + 4000, Title: "A title", Prompt: "First question", Said: "zebra"},
		{ID: upperID, Project: "/work/single", TimeMS: at + 104_000, Prompt: "Upper question", Said: "giraffe"},
		{ID: childID, Project: "/work/child", TimeMS: at + 20_000, Title: "Child", Prompt: "Child question", NonInteractive: true, Parent: indexedID, Relation: catalog.SubAgent, Said: "walrus"},
		{ID: lateID, Project: "/work/late", TimeMS: at + 39_000, Prompt: "Late question", Said: "ocelot"},
		{ID: headless, TimeMS: at + 44_000, Prompt: "Headless question", NonInteractive: true, Said: "lemur"},
		{ID: spawnedID, Project: "/work/child", TimeMS: at + 54_000, Prompt: "Spawned question", NonInteractive: true, Parent: lateID, Relation: catalog.SubAgent, Said: "badger"},
		{ID: rowID, Project: "/work/row", TimeMS: at + 60_000, Title: "Only a row", Prompt: "A preview"},
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	catalogtest.Run(t, catalogtest.Config{
		Reader: antigravity.New(), Write: writeStore, Shared: func(rel string) bool { return strings.HasSuffix(rel, "conversation_summaries.db") },
	})
}

func newCatalog(t *testing.T, env catalog.Env) *catalog.Catalog {
	t.Helper()
	c, err := catalog.New([]catalog.Reader{antigravity.New()}, &catalog.Options{Env: &env})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestReport(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	writeStore(t, env)
	putLog(t, env, strings.ToLower(upperID), "transcript.jsonl", "")
	putLog(t, env, leftID, "transcript.jsonl", logOf("Left behind", "No.", catalogtest.Time))
	putLog(t, env, "scratch", "transcript.jsonl", "not looked at")
	catalogtest.PutSQLite(t, env, root+"conversations/not-an-id.db", 0, "CREATE TABLE a (b)")
	putConversation(t, env, "aaaaaaaa-0000-4000-8000-00000000000e", []string{"CREATE TABLE unknown (a)"})
	reports, err := newCatalog(t, env).Doctor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[catalog.Reason]int{}
	for _, s := range reports[0].Skipped {
		got[s.Reason] = s.Count
	}
	if got[catalog.Unresumable] != 1 || got[catalog.NoConversation] != 1 || got[catalog.Empty] != 1 || len(got) != 3 {
		t.Errorf("skipped = %v, want a log without a conversation, a conversation without anything, and an empty log", got)
	}
}

// A conversation that cannot be read is known by its file, and its log tells what was said.
func TestUnreadableConversation(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, file, content string }{
		{"empty", ".db", ""},
		{"of another format", ".db", "encrypted"},
		{"only the log of its database", ".db-wal", "torn"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := catalogtest.NewEnv(t)
			catalogtest.Put(t, env, root+"conversations/"+lateID+tt.file, tt.content, 0)
			putLog(t, env, lateID, "transcript.jsonl", logOf("A question", "An answer.", catalogtest.Time))
			found, err := newCatalog(t, env).Search(t.Context(), catalog.SearchRequest{IncludeSummaries: true, IncludeNonInteractive: true})
			if err != nil || len(found.Sessions) != 1 {
				t.Fatalf("Search = %v, %v, want one session", found, err)
			}
			if s := found.Sessions[0]; s.Interactive || strings.Join(s.Summaries, ", ") != "A question" || s.TimestampMS != catalogtest.Time+4000 {
				t.Errorf("found %+v, want what the log tells, and no claim that a person held it", s)
			}
		})
	}
}

func TestLongConversation(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	var steps []string
	const count = 250
	for i := range int64(count) {
		steps = append(steps, step(14, 19, bytes(2, fmt.Sprintf("number %d", i)), catalogtest.Time+i*1000))
	}
	putConversation(t, env, lateID, conversation("/work/late", "", catalogtest.Time, steps...))
	s, err := newCatalog(t, env).Session(t.Context(), catalog.ShowRequest{Agent: "antigravity", SessionID: lateID})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(s.Prompts, ", "), fmt.Sprintf("number 0, number %d", count-1); got != want || s.StoreFile != filepath.Join(env.Home, filepath.FromSlash(root), "conversations", lateID+".db") {
		t.Errorf("prompts %q in %q, want %q", got, s.StoreFile, want)
	}
	for _, backward := range []bool{false, true} {
		n := 0
		for rec, err := range antigravity.New().Records(t.Context(), catalog.ContentRequest{Session: s, NewestFirst: backward}) {
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
		if n != count {
			t.Errorf("newest first %v: %d records, want %d", backward, n, count)
		}
	}
}
