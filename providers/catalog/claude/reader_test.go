package claude_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"agentd/providers/catalog"
	"agentd/providers/catalog/claude"
	"agentd/testkit/catalogtest"
)

// script writes the lines of one transcript in the shape of version 2.
type script struct {
	id, cwd, branch, entry string
	at                     int64
	lines                  []string
}

func (s *script) add(tb testing.TB, fields map[string]any) {
	tb.Helper()
	data, err := json.Marshal(fields)
	if err != nil {
		tb.Fatal(err)
	}
	s.lines = append(s.lines, string(data))
}

// say adds a line of the conversation, a second after the last one.
func (s *script) say(tb testing.TB, role, text string, more map[string]any) {
	tb.Helper()
	s.at += 1000
	content := any(text)
	if role == "assistant" {
		content = []any{map[string]any{"type": "text", "text": text}}
	}
	fields := map[string]any{
		"type": role, "uuid": fmt.Sprintf("%s-%d", s.id, len(s.lines)), "sessionId": s.id, "cwd": s.cwd, "gitBranch": s.branch,
		"timestamp": time.UnixMilli(s.at).UTC().Format("2006-01-02T15:04:05.000Z"), "isSidechain": false,
		"message": map[string]any{"role": role, "content": content},
	}
	if s.entry != "" {
		fields["entrypoint"] = s.entry
	}
	for k, v := range more {
		fields[k] = v
	}
	s.add(tb, fields)
}

func (s *script) write(tb testing.TB, env catalog.Env, root, folder string) {
	tb.Helper()
	catalogtest.Put(tb, env, root+"/projects/"+folder+"/"+s.id+".jsonl", strings.Join(s.lines, "\n")+"\n", s.at)
}

const (
	first  = "aaaaaaaa-0000-4000-8000-000000000001"
	second = "aaaaaaaa-0000-4000-8000-000000000002"
	third  = "aaaaaaaa-0000-4000-8000-000000000003"
	fourth = "aaaaaaaa-0000-4000-8000-000000000004"
)

// writeStore writes a session with all that it can have, a headless run, a branch of the first, and one of version 1.
func writeStore(tb testing.TB, env catalog.Env) []catalogtest.Want {
	tb.Helper()
	root := ".claude"
	if env.Var("CLAUDE_CONFIG_DIR") != "" {
		root = "moved"
	}
	a := &script{id: first, cwd: "/work/app.one", branch: "main", entry: "cli", at: catalogtest.Time}
	a.add(tb, map[string]any{"type": "mode", "mode": "default", "sessionId": first})
	a.add(tb, map[string]any{"type": "ai-title", "aiTitle": "Made by the model", "sessionId": first})
	a.say(tb, "user", "<command-name>/model</command-name>", nil)
	a.say(tb, "user", "Fix  the\nparser", map[string]any{"promptSource": "typed"})
	a.say(tb, "assistant", "The zebra is fixed.", nil)
	a.add(tb, map[string]any{"type": "custom-title", "customTitle": "parser work", "sessionId": first})
	a.say(tb, "system", "", map[string]any{"subtype": "away_summary", "content": "You fixed it. (disable recaps in /config)"})
	a.branch = "feature/x"
	a.say(tb, "user", "And now the tests", map[string]any{"promptSource": "typed"})
	a.say(tb, "assistant", "Done.", nil)
	a.write(tb, env, root, "-work-app-one")

	b := &script{id: second, cwd: "/work/app_one", branch: "HEAD", entry: "sdk-cli", at: catalogtest.Time + 100_000}
	b.say(tb, "user", "Headless question", map[string]any{"promptSource": "sdk"})
	b.say(tb, "assistant", "The giraffe answers.", nil)
	b.write(tb, env, root, "-work-app-one")

	c := &script{id: third, cwd: "/work/app.one/.claude/worktrees/spike/sub", branch: "main", entry: "claude-vscode", at: catalogtest.Time + 200_000}
	c.say(tb, "user", "Copied prompt", map[string]any{"forkedFrom": map[string]any{"sessionId": first, "messageUuid": "m"}})
	c.say(tb, "assistant", "The walrus is copied.", nil)
	c.write(tb, env, root, "-work-app-one--claude-worktrees-spike")

	d := &script{id: fourth, cwd: "/work/old", branch: "", at: catalogtest.Time - 100_000_000}
	d.say(tb, "user", "Written by version one", nil)
	d.say(tb, "assistant", "The ocelot is old.", nil)
	d.write(tb, env, root, "-work-old")
	last := fmt.Sprintf("%s-%d", fourth, len(d.lines)-1)
	catalogtest.Put(tb, env, root+"/projects/-work-old/aaaaaaaa-0000-4000-8000-00000000000f.jsonl",
		`{"type":"summary","summary":"Old title","leafUuid":"`+last+"\"}\n", 0)
	catalogtest.Put(tb, env, root+"/history.jsonl", historyOf(first, "/work/app.one", "Fix the parser"), 0)
	catalogtest.Put(tb, env, root+"/projects/-work-app-one/"+first+"/subagents/agent-a1.jsonl", strings.Join(a.lines, "\n"), 0)
	catalogtest.Put(tb, env, root+"/projects/-work-app-one/memory/MEMORY.md", "note", 0)

	return []catalogtest.Want{
		{ID: first, Project: "/work/app.one", TimeMS: a.at, Title: "parser work", Prompt: "Fix the parser", Branch: "feature/x", Recap: "You fixed it.", Said: "zebra"},
		{ID: second, Project: "/work/app_one", TimeMS: b.at, Prompt: "Headless question", NonInteractive: true, Said: "giraffe"},
		{
			ID: third, Project: "/work/app.one/.claude/worktrees/spike/sub", TimeMS: c.at, Prompt: "Copied prompt", Branch: "main", Worktree: "spike",
			Parent: first, Relation: catalog.Fork, Said: "walrus",
		},
		{ID: fourth, Project: "/work/old", TimeMS: d.at, Title: "Old title", Prompt: "Written by version one", Said: "ocelot"},
	}
}

func historyOf(id, project, display string) string {
	return fmt.Sprintf(`{"display":%q,"pastedContents":{},"timestamp":%d,"project":%q,"sessionId":%q}`+"\n", display, catalogtest.Time, project, id)
}

func TestReader(t *testing.T) {
	t.Parallel()
	catalogtest.Run(t, catalogtest.Config{
		Reader: claude.New(), Write: writeStore, Vars: map[string]string{"CLAUDE_CONFIG_DIR": "~/moved"},
	})
}
