package gemini_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"agentd/providers/catalog"
	"agentd/providers/catalog/gemini"
	"agentd/testkit/catalogtest"
)

func hash(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:])
}

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

// script writes the lines of one session.
type script struct {
	id, cwd string
	at      int64
	lines   []string
	count   int
}

func (s *script) add(tb testing.TB, fields map[string]any) {
	tb.Helper()
	data, err := json.Marshal(fields)
	if err != nil {
		tb.Fatal(err)
	}
	s.lines = append(s.lines, string(data))
}

func (s *script) begin(tb testing.TB, kind string) {
	tb.Helper()
	// The order of members is the program's.
	s.lines = append(s.lines, fmt.Sprintf(`{"sessionId":%q,"projectHash":%q,"startTime":%q,"lastUpdated":%q,"kind":%q}`, s.id, hash(s.cwd), stamp(s.at), stamp(s.at), kind))
	s.add(tb, map[string]any{"$set": map[string]any{"messages": []any{s.message("user", "<session_context>\nThis is the Gemini CLI.\n- **Workspace Directories:**\n  - "+s.cwd+"\n</session_context>")}}})
}

func (s *script) message(role, text string) map[string]any {
	s.at += 1000
	s.count++
	return map[string]any{"id": fmt.Sprintf("%s-%d", s.id, s.count), "timestamp": stamp(s.at), "type": role, "content": []any{map[string]any{"text": text}}}
}

func (s *script) say(tb testing.TB, role, text string) {
	tb.Helper()
	s.add(tb, s.message(role, text))
	s.add(tb, map[string]any{"$set": map[string]any{"lastUpdated": stamp(s.at)}})
}

func (s *script) text() string { return strings.Join(s.lines, "\n") + "\n" }

// object writes the session as old versions did.
func (s *script) object(tb testing.TB) string {
	tb.Helper()
	messages := []any{s.message("user", "Old question"), s.message("gemini", "The lemur is old.")}
	messages[0].(map[string]any)["content"] = "Old question"
	data, err := json.MarshalIndent(map[string]any{"messages": messages}, "", "  ")
	if err != nil {
		tb.Fatal(err)
	}
	return fmt.Sprintf("{\n  \"sessionId\": %q,\n  \"projectHash\": %q,\n  \"startTime\": %q,\n  \"lastUpdated\": %q,", s.id, hash(s.cwd), stamp(s.at-2000), stamp(s.at)) + string(data[1:])
}

const (
	firstID  = "aaaaaaa1-0000-4000-8000-000000000001"
	secondID = "aaaaaaa2-0000-4000-8000-000000000002"
	oldID    = "aaaaaaa3-0000-4000-8000-000000000003"
	subID    = "aaaaaaa4-0000-4000-8000-000000000004"
	lostID   = "aaaaaaa5-0000-4000-8000-000000000005"
	toldID   = "aaaaaaa6-0000-4000-8000-000000000006"
)

// writeStore writes one of each kind of session.
func writeStore(tb testing.TB, env catalog.Env) []catalogtest.Want {
	tb.Helper()
	root := ".gemini"
	if env.Var("GEMINI_CLI_HOME") != "" {
		root = "moved/.gemini"
	}
	file := func(folder, id, ext string) string {
		return root + "/tmp/" + folder + "/chats/session-2026-09-01T12-00-" + id[:8] + ext
	}
	a := &script{id: firstID, cwd: "/work/app.one", at: catalogtest.Time}
	a.begin(tb, "main")
	a.say(tb, "user", "/model")
	a.say(tb, "user", "Fix the parser")
	a.say(tb, "gemini", "The zebra is fixed.")
	a.add(tb, map[string]any{"$set": map[string]any{"summary": "Parser work"}})
	a.say(tb, "user", "Something taken back")
	a.add(tb, map[string]any{"$rewindTo": fmt.Sprintf("%s-%d", firstID, a.count)})
	catalogtest.Put(tb, env, file("app-one", firstID, ".jsonl"), a.text(), a.at)
	catalogtest.Put(tb, env, root+"/tmp/app-one/.project_root", "/work/app.one", 0)
	catalogtest.Put(tb, env, root+"/history/app-one/.project_root", "/work/app.one", 0)
	stub := &script{id: firstID, cwd: a.cwd, at: catalogtest.Time + 500_000}
	stub.begin(tb, "main")
	catalogtest.Put(tb, env, root+"/tmp/app-one/chats/session-2026-09-01T12-09-"+firstID[:8]+".jsonl", stub.text(), stub.at)

	sub := &script{id: subID, cwd: a.cwd, at: catalogtest.Time + 50_000}
	sub.begin(tb, "subagent")
	sub.say(tb, "user", "Investigate")
	sub.say(tb, "gemini", "The badger was spawned.")
	catalogtest.Put(tb, env, root+"/tmp/app-one/chats/"+firstID+"/"+subID+".jsonl", sub.text(), sub.at)

	b := &script{id: secondID, cwd: "/work/two", at: catalogtest.Time + 100_000}
	b.begin(tb, "main")
	b.say(tb, "user", "Second question")
	b.say(tb, "gemini", "The giraffe answers.")
	catalogtest.Put(tb, env, file("two", secondID, ".jsonl"), b.text(), b.at)
	catalogtest.Put(tb, env, root+"/history/two/.project_root", "/work/two\n", 0)

	old := &script{id: oldID, cwd: "/work/old", at: catalogtest.Time - 1_000_000}
	text := old.object(tb)
	catalogtest.Put(tb, env, file(hash(old.cwd), oldID, ".json"), text, old.at)
	catalogtest.Put(tb, env, root+"/projects.json", `{"projects":{"/work/old":"old","/work/app.one":"app-one"}}`, 0)

	lost := &script{id: lostID, cwd: "/work/lost", at: catalogtest.Time - 2_000_000}
	lost.begin(tb, "main")
	lost.lines = lost.lines[:1]
	lost.say(tb, "user", "Where am I")
	lost.say(tb, "gemini", "The heron is lost.")
	catalogtest.Put(tb, env, file(hash("/other"), lostID, ".jsonl"), lost.text(), lost.at)

	told := &script{id: toldID, cwd: "/work/told", at: catalogtest.Time - 3_000_000}
	told.begin(tb, "main")
	told.say(tb, "user", "You know where")
	told.say(tb, "gemini", "The walrus was told.")
	catalogtest.Put(tb, env, file(hash(told.cwd), toldID, ".jsonl"), told.text(), told.at)

	catalogtest.Put(tb, env, root+"/tmp/app-one/logs.json", `[{"sessionId":"`+firstID+`","messageId":0,"type":"user","message":"Fix the parser"}]`, 0)
	catalogtest.Put(tb, env, root+"/tmp/app-one/checkpoint-one.json", `[]`, 0)

	return []catalogtest.Want{
		{ID: firstID, Project: "/work/app.one", TimeMS: a.at, Title: "Parser work", Prompt: "Fix the parser", Said: "zebra"},
		{ID: subID, Project: "/work/app.one", TimeMS: sub.at, Prompt: "Investigate", NonInteractive: true, Parent: firstID, Relation: catalog.SubAgent, Said: "badger"},
		{ID: secondID, Project: "/work/two", TimeMS: b.at, Prompt: "Second question", Said: "giraffe"},
		{ID: oldID, Project: "/work/old", TimeMS: old.at, Prompt: "Old question", Said: "lemur"},
		{ID: lostID, Project: "", TimeMS: lost.at, Prompt: "Where am I", Said: "heron"},
		{ID: toldID, Project: "/work/told", TimeMS: told.at, Prompt: "You know where", Said: "walrus"},
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	catalogtest.Run(t, catalogtest.Config{Reader: gemini.New(), Write: writeStore, Vars: map[string]string{"GEMINI_CLI_HOME": "~/moved"}})
}

func find(t *testing.T, env catalog.Env) *catalog.SearchResult {
	t.Helper()
	c, err := catalog.New([]catalog.Reader{gemini.New()}, &catalog.Options{Env: &env})
	if err != nil {
		t.Fatal(err)
	}
	found, err := c.Search(t.Context(), catalog.SearchRequest{IncludeSummaries: true})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestSubAgentsAreHiddenByDefault(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	writeStore(t, env)
	for _, s := range find(t, env).Sessions {
		if s.SessionID == subID {
			t.Errorf("session %q of a sub-agent is listed", subID)
		}
	}
}

func TestProjectKnownByItsHash(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, project, said, trusted string }{
		{"of a file that a tool read", "/work/my notes.v2", `{"toolCalls":[{"name":"read_file","args":{"file_path":"/work/my notes.v2/src/a b.txt"}}]}`, ""},
		{"at the end of a sentence", "/work/app", `{"text":"I looked into /work/app."}`, ""},
		{"that a person trusts", "/work/app", "{}", `{"/elsewhere":"TRUST_FOLDER","/work/app":"TRUST_FOLDER"}`},
		{"that nobody names", "", `{"text":"https://example.invalid/work/app and src/work/app"}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := catalogtest.NewEnv(t)
			s := &script{id: oldID, cwd: tt.project, at: catalogtest.Time}
			if tt.project == "" {
				s.cwd = "/work/app"
			}
			text := strings.Replace(s.object(t), `"messages": [`, `"messages": [`+tt.said+",", 1)
			catalogtest.Put(t, env, ".gemini/tmp/"+hash(s.cwd)+"/chats/session-2026-09-01T12-00-"+oldID[:8]+".json", text, 0)
			if tt.trusted != "" {
				catalogtest.Put(t, env, ".gemini/trustedFolders.json", tt.trusted, 0)
			}
			found := find(t, env).Sessions
			if len(found) != 1 || found[0].ProjectPath != tt.project {
				t.Errorf("found %v, want one session in %q", found, tt.project)
			}
		})
	}
}

func TestLargeSessions(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	filler := strings.Repeat("lorem ipsum ", 2000)
	a := &script{id: firstID, cwd: "/work/app", at: catalogtest.Time}
	a.begin(t, "main")
	a.say(t, "user", "First of many")
	for range 300 {
		a.say(t, "gemini", filler)
	}
	a.add(t, map[string]any{"$set": map[string]any{"summary": "Written late"}})
	a.say(t, "user", "Last of many")
	catalogtest.Put(t, env, ".gemini/tmp/app/chats/session-2026-09-01T12-00-aaaaaaa1.jsonl", a.text(), 0)
	catalogtest.Put(t, env, ".gemini/tmp/app/.project_root", "/work/app", 0)

	old := &script{id: oldID, cwd: "/work/app", at: catalogtest.Time}
	text := old.object(t)
	text = strings.Replace(text, `"messages": [`, `"messages": [`+"\n    "+`{"id":"x","type":"user","content":"Very first"},{"id":"y","type":"gemini","content":"`+strings.Repeat(filler, 250)+`"},`, 1)
	text = strings.TrimSuffix(text, "\n}") + ",\n  \"summary\": \"Old title\"\n}"
	catalogtest.Put(t, env, ".gemini/tmp/app/chats/session-2026-09-01T11-00-aaaaaaa3.json", text, 0)

	for _, s := range find(t, env).Sessions {
		want := map[string]string{firstID: "Written late, First of many, Last of many", oldID: "Old title, Very first"}[s.SessionID]
		if got := strings.Join(s.Summaries, ", "); got != want {
			t.Errorf("session %q: summaries %q, want %q", s.SessionID, got, want)
		}
		if at := map[string]int64{firstID: a.at, oldID: old.at}[s.SessionID]; s.TimestampMS != at {
			t.Errorf("session %q: time %d, want %d", s.SessionID, s.TimestampMS, at)
		}
	}
}
