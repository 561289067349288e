package qwen_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agentd/providers/catalog"
	"agentd/providers/catalog/qwen"
	"agentd/testkit/catalogtest"
)

const (
	first    = "aaaaaaaa-0000-4000-8000-000000000001"
	agentRun = "aaaaaaaa-0000-4000-8000-000000000002"
	forked   = "aaaaaaaa-0000-4000-8000-000000000003"
	archived = "aaaaaaaa-0000-4000-8000-000000000004"
	old      = "aaaaaaaa-0000-4000-8000-000000000005"
	side     = "aaaaaaaa-0000-4000-8000-000000000006"
	silent   = "aaaaaaaa-0000-4000-8000-000000000007"
	copied   = "aaaaaaaa-0000-4000-8000-000000000008"
)

// script writes the lines of one transcript.
type script struct {
	id, cwd, branch string
	at              int64
	lines           []string
}

// add adds a line, a second after the last one.
func (s *script) add(tb testing.TB, kind string, more map[string]any) {
	tb.Helper()
	s.at += 1000
	fields := map[string]any{
		"uuid": fmt.Sprintf("%s-%d", s.id, len(s.lines)), "sessionId": s.id, "cwd": s.cwd, "type": kind, "version": "0.15.10",
		"timestamp": time.UnixMilli(s.at).UTC().Format("2006-01-02T15:04:05.000Z"),
	}
	if s.branch != "" {
		fields["gitBranch"] = s.branch
	}
	for k, v := range more {
		fields[k] = v
	}
	data, err := json.Marshal(fields)
	if err != nil {
		tb.Fatal(err)
	}
	s.lines = append(s.lines, string(data))
}

func (s *script) say(tb testing.TB, kind, text string, more map[string]any) {
	tb.Helper()
	fields := map[string]any{"message": map[string]any{"role": "user", "parts": []any{map[string]any{"text": text}}}}
	for k, v := range more {
		fields[k] = v
	}
	s.add(tb, kind, fields)
}

func (s *script) system(tb testing.TB, subtype string, payload map[string]any) {
	tb.Helper()
	s.add(tb, "system", map[string]any{"subtype": subtype, "systemPayload": payload})
}

func (s *script) write(tb testing.TB, env catalog.Env, folder string) {
	tb.Helper()
	catalogtest.Put(tb, env, folder+"/"+s.id+".jsonl", strings.Join(s.lines, "\n")+"\n", s.at)
}

// root is where the store lies, below the home.
func root(env catalog.Env) string {
	if env.Var("QWEN_RUNTIME_DIR") != "" {
		return "moved"
	}
	return ".qwen"
}

// writeStore writes one of each kind of session.
func writeStore(tb testing.TB, env catalog.Env) []catalogtest.Want {
	tb.Helper()
	chats := root(env) + "/projects/-work-app/chats"
	a := &script{id: first, cwd: "/work/app", branch: "main", at: catalogtest.Time}
	a.system(tb, "slash_command", map[string]any{"phase": "invocation", "rawCommand": "/about"})
	a.say(tb, "user", "<system-reminder>noise</system-reminder>", nil)
	a.say(tb, "user", "Fix the parser", map[string]any{"provenance": "real_user"})
	a.add(tb, "assistant", map[string]any{"message": map[string]any{"role": "model", "parts": []any{
		map[string]any{"text": "secret thought", "thought": true},
		map[string]any{"text": "The zebra is fixed."},
		map[string]any{"functionCall": map[string]any{"name": "ls", "args": map[string]any{"path": "."}}},
	}}})
	a.add(tb, "tool_result", map[string]any{"message": map[string]any{"role": "user", "parts": []any{
		map[string]any{"functionResponse": map[string]any{"name": "ls", "response": map[string]any{"output": "files"}}},
	}}})
	a.system(tb, "custom_title", map[string]any{"customTitle": "made by the model", "titleSource": "auto"})
	a.branch = "feature/x"
	a.say(tb, "user", "Fix expanded", map[string]any{"systemPayload": map[string]any{"displayText": "And the tests"}})
	a.system(tb, "custom_title", map[string]any{"customTitle": "parser work", "titleSource": "manual"})
	a.say(tb, "user", "a notification", map[string]any{"subtype": "notification"})
	a.write(tb, env, chats)
	catalogtest.Put(tb, env, chats+"/"+first+".worktree.json", `{"slug":"spike","worktreePath":"/work/app/.qwen/worktrees/spike"}`, 0)
	catalogtest.Put(tb, env, chats+"/"+first+".ledger.jsonl", "{}\n", 0)

	b := &script{id: agentRun, cwd: "/work/app", at: catalogtest.Time + 100_000}
	b.system(tb, "parent_session", map[string]any{"parentSessionId": first})
	b.system(tb, "session_source", map[string]any{"sourceType": "subagent"})
	b.say(tb, "user", "Look around", nil)
	b.say(tb, "assistant", "The giraffe looks.", nil)
	b.write(tb, env, chats)

	c := &script{id: forked, cwd: "/work/app/.qwen/worktrees/try/sub", branch: "try", at: catalogtest.Time + 200_000}
	c.say(tb, "user", "Copied prompt", map[string]any{"forkedFrom": map[string]any{"sessionId": first, "messageUuid": "m"}})
	c.say(tb, "assistant", "The walrus is copied.", nil)
	c.write(tb, env, root(env)+"/projects/-work-app--qwen-worktrees-try-sub/chats")

	d := &script{id: archived, cwd: "/work/app", at: catalogtest.Time + 300_000}
	d.say(tb, "user", "Put away", nil)
	d.say(tb, "assistant", "The lemur is put away.", nil)
	d.write(tb, env, chats+"/archive")

	e := &script{id: old, cwd: "/work/old", at: catalogtest.Time - 100_000_000}
	e.say(tb, "user", "Old place", nil)
	e.say(tb, "assistant", "The ocelot is old.", nil)
	e.write(tb, env, root(env)+"/tmp/0123abcd/chats")

	f := &script{id: side, cwd: "/work/app", at: catalogtest.Time + 400_000}
	f.say(tb, "user", "Side work", map[string]any{"isSidechain": true})
	f.say(tb, "assistant", "The badger is beside.", map[string]any{"isSidechain": true})
	f.write(tb, env, chats)

	return []catalogtest.Want{
		{ID: first, Project: "/work/app", TimeMS: a.at, Title: "parser work", Prompt: "Fix the parser", Branch: "feature/x", Worktree: "spike", Said: "zebra"},
		{ID: agentRun, Project: "/work/app", TimeMS: b.at, Prompt: "Look around", Parent: first, Relation: catalog.SubAgent, NonInteractive: true, Said: "giraffe"},
		{ID: forked, Project: "/work/app/.qwen/worktrees/try/sub", TimeMS: c.at, Prompt: "Copied prompt", Branch: "try", Worktree: "try", Parent: first, Relation: catalog.Fork, Said: "walrus"},
		{ID: archived, Project: "/work/app", TimeMS: d.at, Prompt: "Put away", Archived: true, Said: "lemur"},
		{ID: old, Project: "/work/old", TimeMS: e.at, Prompt: "Old place", Said: "ocelot"},
		{ID: side, Project: "/work/app", TimeMS: f.at, Prompt: "Side work", Relation: catalog.SubAgent, NonInteractive: true, Said: "badger"},
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	catalogtest.Run(t, catalogtest.Config{
		Reader: qwen.New(), Write: writeStore, Vars: map[string]string{"QWEN_RUNTIME_DIR": "~/moved"},
	})
}

// TestSkipped checks that what is not listed is reported with the reason.
func TestSkipped(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	chats := ".qwen/projects/-work-app/chats"
	a := &script{id: silent, cwd: "/work/app", at: catalogtest.Time}
	a.system(t, "slash_command", map[string]any{"rawCommand": "/quit"})
	a.write(t, env, chats)
	b := &script{id: first, cwd: "/work/app", at: catalogtest.Time}
	b.say(t, "user", "Hello", nil)
	catalogtest.Put(t, env, chats+"/"+copied+".jsonl", b.lines[0]+"\n", 0)
	catalogtest.Put(t, env, chats+"/session-2025-01-01T00-00-aaaaaaaa.json", "{}", 0)
	catalogtest.Put(t, env, chats+"/notes.jsonl", "{}\n", 0)

	c, err := catalog.New([]catalog.Reader{qwen.New()}, &catalog.Options{Env: &env})
	if err != nil {
		t.Fatal(err)
	}
	reports, err := c.Doctor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[catalog.Reason]int{}
	for _, s := range reports[0].Skipped {
		got[s.Reason] = s.Count
	}
	want := map[catalog.Reason]int{catalog.NoConversation: 1, catalog.Unresumable: 2, catalog.NotASession: 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Doctor: skipped (-want +got):\n%s", diff)
	}
}

// TestRoots checks where the store is looked for.
func TestRoots(t *testing.T) {
	t.Parallel()
	const named = `{"advanced":{"runtimeOutputDir":%q}}`
	for _, test := range []struct {
		name  string
		vars  map[string]string
		files map[string]string
		want  []string
	}{
		{"usual", nil, nil, []string{".qwen"}},
		{"home", map[string]string{"QWEN_HOME": "~/q"}, nil, []string{"q"}},
		{"runtime before all", map[string]string{"QWEN_HOME": "~/q", "QWEN_RUNTIME_DIR": "r"}, map[string]string{"q/settings.json": fmt.Sprintf(named, "~/s")}, []string{"work/r"}},
		{"settings of the person", nil, map[string]string{".qwen/settings.json": fmt.Sprintf(named, "~/s")}, []string{"s", ".qwen"}},
		{"settings of the directory first", nil, map[string]string{
			".qwen/settings.json": fmt.Sprintf(named, "~/s"), "work/.qwen/settings.json": fmt.Sprintf(named, ".qwen"),
		}, []string{"work/.qwen", ".qwen"}},
		{"settings that name the usual place", nil, map[string]string{".qwen/settings.json": fmt.Sprintf(named, "~/.qwen")}, []string{".qwen"}},
		{"settings with comments", nil, map[string]string{".qwen/settings.json": "// mine\n{ /* here */ \"advanced\": { // there\n \"runtimeOutputDir\": \"~/s\" } }"}, []string{"s", ".qwen"}},
		{"damaged settings", nil, map[string]string{".qwen/settings.json": `{"advanced":`}, []string{".qwen"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			env := catalogtest.NewEnv(t)
			env.Dir = filepath.Join(env.Home, "work")
			for k, v := range test.vars {
				env.Vars[k] = v
			}
			for rel, content := range test.files {
				catalogtest.Put(t, env, rel, content, 0)
			}
			var got []string
			for _, r := range qwen.New().Roots(env) {
				rel, err := filepath.Rel(env.Home, r.Path)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, filepath.ToSlash(rel))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Roots (-want +got):\n%s", diff)
			}
		})
	}
}
