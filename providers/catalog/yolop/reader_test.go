package yolop_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentd/providers/catalog"
	"agentd/providers/catalog/yolop"
	"agentd/testkit/catalogtest"
)

const (
	whole   = "session_00000000000000000000000000000001"
	nested  = "session_00000000000000000000000000000002"
	printed = "session_00000000000000000000000000000003"
	bare    = "session_00000000000000000000000000000004"
	old     = "session_00000000000000000000000000000005"
	moved   = "session_00000000000000000000000000000006"
	silent  = "session_00000000000000000000000000000007"
)

func iso(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano) }

// events makes the lines of a log.
func events(id string, at int64, prompt, reply string, more ...string) string {
	n := 0
	line := func(session, kind, data string) string {
		n++
		return fmt.Sprintf(`{"id":"%s-%d","type":%q,"ts":%q,"session_id":%q,"data":%s,"sequence":%d}`, id[len(id)-2:], n, kind, iso(at+int64(n)*1000), session, data, n)
	}
	message := func(role, content string) string {
		return fmt.Sprintf(`{"message":{"role":%q,"content":%s}}`, role, content)
	}
	text := func(s string) string { return fmt.Sprintf(`[{"type":"text","text":%q}]`, s) }
	lines := []string{
		line(id, "input.message", message("user", text("<system-reminder>noise</system-reminder>"))),
		line(id, "input.message", message("user", text(prompt))),
		line("session_other", "input.message", message("user", text("Somebody else"))),
		line(id, "output.message.completed", message("agent", `[{"type":"tool_call","id":"c","name":"bash","arguments":{"command":"ls"}}]`)),
		line(id, "tool.completed", `{"tool_name":"bash","success":true,"result":[{"type":"text","text":"files"}]}`),
		line(id, "output.message.completed", message("agent", text(reply))),
	}
	for _, m := range more {
		kind, data, _ := strings.Cut(m, " ")
		lines = append(lines, line(id, kind, data))
	}
	return strings.Join(lines, "\n") + "\n"
}

// root is where the sessions lie, below the home.
func root(tb testing.TB, env catalog.Env) string {
	tb.Helper()
	rel, err := filepath.Rel(env.Home, yolop.New().Roots(env)[0].Path)
	if err != nil {
		tb.Fatal(err)
	}
	return filepath.ToSlash(rel) + "/sessions/"
}

// writeStore writes one of each kind of session.
func writeStore(tb testing.TB, env catalog.Env) []catalogtest.Want {
	tb.Helper()
	at := catalogtest.Time
	put := func(rel, content string) { catalogtest.Put(tb, env, root(tb, env)+rel, content, at+90_000) }
	put(whole+"/workspace.json", fmt.Sprintf(`{"active_root":"/tmp/yolop/worktrees/0/%s","repo_root":"/work/app","canonical_repo_root":"/work/app","title":"Old title","summary":"Fix",
		"created_at":%q,"updated_at":%q,"session_kind":"interactive","worktree":{"path":"/tmp/yolop/worktrees/0/%s","branch":"fix-a1","base_ref":"main","slug":"fix"}}`, whole, iso(at-5000), iso(at+1), whole))
	put(whole+"/events.jsonl", events(whole, at, "Fix the parser", "The zebra is fixed.", `session.title.updated {"previous_title":"Old title","title":"Parser work"}`))
	put(nested+"/workspace.json", fmt.Sprintf(`{"active_root":"/work/app","title":"Nested","session_kind":"nested","parent_session_id":%q}`, whole))
	put(nested+"/events.jsonl", events(nested, at, "Look around", "The giraffe looks."))
	put(printed+"/workspace.json", `{"workspace_root":"/work/print","summary":"Print this","session_kind":"print"}`)
	put(printed+"/events.jsonl", events(printed, at, "Print this", "The walrus prints."))
	put(bare+"/events.jsonl", events(bare, at, "Bare prompt", "The lemur is bare."))
	put(old+".jsonl", events(old, at, "Old prompt", "The ocelot is old."))
	put(moved+".jsonl", events(moved, at, "Moved prompt", "The badger."))
	put(moved+"/events.jsonl", events(moved, at, "Moved prompt", "The badger moved."))
	put(moved+"/workspace.json", `{"active_root":"/work/moved","title":"Moved"}`)
	put(silent+"/workspace.json", `{"active_root":"/work/app","session_kind":"interactive"}`)
	return []catalogtest.Want{
		{ID: whole, Project: "/tmp/yolop/worktrees/0/" + whole, TimeMS: at + 7000, Title: "Parser work", Prompt: "Fix the parser", Branch: "fix-a1", Worktree: "fix", Said: "zebra"},
		{ID: nested, Project: "/work/app", TimeMS: at + 6000, Title: "Nested", Prompt: "Look around", NonInteractive: true, Parent: whole, Relation: catalog.SubAgent, Said: "giraffe"},
		{ID: printed, Project: "/work/print", TimeMS: at + 6000, Prompt: "Print this", NonInteractive: true, Said: "walrus"},
		{ID: bare, TimeMS: at + 6000, Prompt: "Bare prompt", Said: "lemur"},
		{ID: old, TimeMS: at + 6000, Prompt: "Old prompt", Said: "ocelot"},
		{ID: moved, Project: "/work/moved", TimeMS: at + 6000, Title: "Moved", Prompt: "Moved prompt", Said: "badger"},
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	catalogtest.Run(t, catalogtest.Config{
		Reader: yolop.New(), Write: writeStore, Vars: map[string]string{"YOLOP_DATA_DIR": "~/moved"},
	})
}

// TestOldLog checks that a workspace whose events still lie where an older version kept them is read with them.
func TestOldLog(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	catalogtest.Put(t, env, root(t, env)+old+"/workspace.json", `{"active_root":"/work/old"}`, 0)
	catalogtest.Put(t, env, root(t, env)+old+".jsonl", events(old, catalogtest.Time, "Old prompt", "The ocelot is old."), 0)
	c, err := catalog.New([]catalog.Reader{yolop.New()}, &catalog.Options{Env: &env})
	if err != nil {
		t.Fatal(err)
	}
	page, err := c.Read(t.Context(), catalog.ReadRequest{Agent: "yolop", SessionID: old})
	if err != nil || page.Session.ProjectPath != "/work/old" || len(page.Records) == 0 || page.Records[0].Text != "The ocelot is old." {
		t.Errorf("Read = %+v, %v, want the transcript of a session in /work/old", page, err)
	}
}
