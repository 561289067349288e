package codex_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"agentd/providers/catalog"
	"agentd/providers/catalog/codex"
	"agentd/testkit/catalogtest"
)

// script writes the lines of one rollout.
type script struct {
	id, cwd string
	at      int64
	lines   []string
}

func (s *script) add(tb testing.TB, kind string, payload map[string]any) {
	tb.Helper()
	s.at += 1000
	data, err := json.Marshal(map[string]any{
		"timestamp": time.UnixMilli(s.at).UTC().Format("2006-01-02T15:04:05.000Z"), "type": kind, "payload": payload,
	})
	if err != nil {
		tb.Fatal(err)
	}
	s.lines = append(s.lines, string(data))
}

// begin writes the first line.
func (s *script) begin(tb testing.TB, more map[string]any) {
	tb.Helper()
	payload := map[string]any{
		"id": s.id, "cwd": s.cwd, "originator": "codex_cli_rs", "source": "cli", "base_instructions": map[string]any{"text": strings.Repeat("be good ", 3000)},
		"git": map[string]any{"branch": "main", "repository_url": "https://example.invalid/app.git"},
	}
	for k, v := range more {
		payload[k] = v
	}
	s.add(tb, "session_meta", payload)
	s.message(tb, "user", "<environment_context>\n  <cwd>/elsewhere</cwd>\n</environment_context>")
}

func (s *script) message(tb testing.TB, role, text string) {
	tb.Helper()
	kind := "input_text"
	if role == "assistant" {
		kind = "output_text"
	}
	s.add(tb, "response_item", map[string]any{"type": "message", "role": role, "content": []any{map[string]any{"type": kind, "text": text}}})
}

// ask writes a prompt, both ways in which a rollout holds it, and its answer.
func (s *script) ask(tb testing.TB, prompt, answer string) {
	tb.Helper()
	s.message(tb, "user", prompt)
	s.add(tb, "event_msg", map[string]any{"type": "user_message", "message": prompt, "kind": "plain"})
	s.message(tb, "assistant", answer)
}

func (s *script) text() string { return strings.Join(s.lines, "\n") + "\n" }

const (
	typedID    = "aaaaaaaa-0000-4000-8000-000000000001"
	headlessID = "aaaaaaaa-0000-4000-8000-000000000002"
	forkID     = "aaaaaaaa-0000-4000-8000-000000000003"
	packedID   = "aaaaaaaa-0000-4000-8000-000000000004"
	archivedID = "aaaaaaaa-0000-4000-8000-000000000005"
	spawnedID  = "aaaaaaaa-0000-4000-8000-000000000006"
	oldID      = "aaaaaaaa-0000-4000-8000-000000000007"
)

const day = "/sessions/2026/09/01/rollout-2026-09-01T12-00-00-"

func pack(tb testing.TB, text string) string {
	tb.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	return string(w.EncodeAll([]byte(text), nil))
}

// threads is a database of a recent version, reduced to what is read.
const threads = `CREATE TABLE threads (id TEXT PRIMARY KEY, rollout_path TEXT, created_at INTEGER, updated_at INTEGER, source TEXT, cwd TEXT, title TEXT,
	archived INTEGER, git_branch TEXT, git_origin_url TEXT, first_user_message TEXT, agent_role TEXT, created_at_ms INTEGER, updated_at_ms INTEGER,
	thread_source TEXT, name TEXT)`

func row(id, title, first, name, branch string, updated int64) string {
	return fmt.Sprintf(`INSERT INTO threads (id, updated_at_ms, source, cwd, title, archived, git_branch, first_user_message, thread_source, name)
		VALUES ('%s', %d, 'cli', '/from/the/database', '%s', 0, '%s', '%s', 'user', nullif('%s', ''))`, id, updated, title, branch, first, name)
}

// writeStore writes one of each kind of session.
func writeStore(tb testing.TB, env catalog.Env) []catalogtest.Want {
	tb.Helper()
	root := ".codex"
	if env.Var("CODEX_HOME") != "" {
		root = "moved"
	}
	a := &script{id: typedID, cwd: "/work/app", at: catalogtest.Time}
	a.begin(tb, nil)
	a.ask(tb, "# Context from my IDE setup:\n\n## Open tabs\n\n## My request for Codex:\nFix the parser", "The zebra is fixed.")
	a.add(tb, "turn_context", map[string]any{"cwd": "/work/later"})
	a.ask(tb, "And the tests", "Done.")
	catalogtest.Put(tb, env, root+day+typedID+".jsonl", a.text(), a.at)

	b := &script{id: headlessID, cwd: "/work/app", at: catalogtest.Time + 100_000}
	b.begin(tb, map[string]any{"source": "exec", "originator": "codex_exec"})
	b.add(tb, "event_msg", map[string]any{"type": "item_completed", "item": map[string]any{
		"type": "UserMessage", "content": []any{map[string]any{"type": "text", "text": "Headless question"}},
	}})
	b.message(tb, "assistant", "The giraffe answers.")
	catalogtest.Put(tb, env, root+day+headlessID+".jsonl", b.text(), b.at)

	c := &script{id: forkID, cwd: "/work/.codex/worktrees/4f/app", at: catalogtest.Time + 200_000}
	c.begin(tb, map[string]any{"forked_from_id": typedID})
	c.lines = append(c.lines, a.lines[0])
	c.ask(tb, "Forked question", "The walrus is copied.")
	catalogtest.Put(tb, env, root+day+forkID+".jsonl", c.text(), c.at)

	d := &script{id: packedID, cwd: "/work/packed", at: catalogtest.Time - 1_000_000}
	d.begin(tb, nil)
	d.ask(tb, "Packed question", "The ocelot is packed.")
	catalogtest.Put(tb, env, root+day+packedID+".jsonl.zst", pack(tb, d.text()), catalogtest.Time)

	e := &script{id: archivedID, cwd: "/work/app", at: catalogtest.Time - 2_000_000}
	e.begin(tb, nil)
	e.ask(tb, "Archived question", "The heron is archived.")
	catalogtest.Put(tb, env, root+"/archived_sessions/rollout-2026-09-01T11-00-00-"+archivedID+".jsonl", e.text(), e.at)

	g := &script{id: spawnedID, cwd: "/work/app", at: catalogtest.Time + 300_000}
	g.begin(tb, map[string]any{"source": map[string]any{"subagent": map[string]any{"thread_spawn": map[string]any{"parent_thread_id": typedID}}}})
	g.ask(tb, "Spawned question", "The badger was spawned.")
	catalogtest.Put(tb, env, root+day+spawnedID+".jsonl", g.text(), g.at)

	old := strings.Join([]string{
		`{"id":"` + oldID + `","timestamp":"2025-06-01T10:00:00.000Z","instructions":null,"git":{"branch":"trunk"}}`,
		`{"record_type":"state"}`,
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\nCurrent working directory: /work/old\nApproval policy: never\n</environment_context>"}]}`,
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"Old question"}]}`,
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"The lemur is old."}]}`,
	}, "\n")
	catalogtest.Put(tb, env, root+"/sessions/2025/06/01/rollout-2025-06-01T10-00-00-"+oldID+".jsonl", old+"\n", 1748772000000)

	catalogtest.PutSQLite(tb, env, root+"/state_9.sqlite", 0, threads, row(typedID, "Stale", "Fix the parser", "", "stale", 1))
	catalogtest.PutSQLite(
		tb, env, root+"/state_10.sqlite", 0, threads,
		row(typedID, "Fix the parser", "Fix the parser", "", "feature/x", catalogtest.Time),
		row(headlessID, "A title", "Headless question", "", "main", catalogtest.Time),
		row(packedID, "Packed", "Packed question", "A name", "main", catalogtest.Time),
		row("aaaaaaaa-0000-4000-8000-00000000000f", "Ghost", "Ghost", "", "main", catalogtest.Time),
	)
	catalogtest.Put(tb, env, root+"/session_index.jsonl", `{"id":"`+typedID+`","thread_name":"first name"}`+"\n"+`{"id":"`+typedID+`","thread_name":"parser work"}`+"\n", 0)
	catalogtest.Put(tb, env, root+"/history.jsonl", fmt.Sprintf(`{"session_id":%q,"ts":%d,"text":"Fix the parser"}`+"\n", typedID, catalogtest.Time/1000), 0)
	catalogtest.Put(tb, env, root+"/config.toml", "model = \"x\"\n\n[projects.\"/work/app\"]\ntrust_level = \"trusted\"\n", 0)

	return []catalogtest.Want{
		{ID: typedID, Project: "/work/app", TimeMS: a.at, Title: "parser work", Prompt: "Fix the parser", Branch: "feature/x", Said: "zebra"},
		{ID: headlessID, Project: "/work/app", TimeMS: b.at, Title: "A title", Prompt: "Headless question", Branch: "main", NonInteractive: true, Said: "giraffe"},
		{
			ID: forkID, Project: "/work/.codex/worktrees/4f/app", TimeMS: c.at, Prompt: "Forked question", Branch: "main", Worktree: "4f",
			Parent: typedID, Relation: catalog.Fork, Said: "walrus",
		},
		{ID: packedID, Project: "/work/packed", TimeMS: d.at, Title: "A name", Prompt: "Packed question", Branch: "main", Said: "ocelot"},
		{ID: archivedID, Project: "/work/app", TimeMS: e.at, Prompt: "Archived question", Branch: "main", Archived: true, Said: "heron"},
		{
			ID: spawnedID, Project: "/work/app", TimeMS: g.at, Prompt: "Spawned question", Branch: "main", NonInteractive: true,
			Parent: typedID, Relation: catalog.SubAgent, Said: "badger",
		},
		{ID: oldID, Project: "/work/old", TimeMS: 1748772000000, Prompt: "Old question", Branch: "trunk", Said: "lemur"},
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	catalogtest.Run(t, catalogtest.Config{
		Reader: codex.New(), Write: writeStore, Vars: map[string]string{"CODEX_HOME": "~/moved", "CODEX_SQLITE_HOME": "~/moved"},
	})
}
