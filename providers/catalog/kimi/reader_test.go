package kimi_test

import (
	"fmt"
	"strings"
	"testing"

	"agentd/providers/catalog"
	"agentd/providers/catalog/kimi"
	"agentd/testkit/catalogtest"
)

const (
	current = "session_aaaaaaaa-0000-4000-8000-000000000001"
	legacy  = "session_aaaaaaaa-0000-4000-8000-000000000002"
	nested  = "session_aaaaaaaa-0000-4000-8000-000000000003"
	child   = "session_aaaaaaaa-0000-4000-8000-000000000004"
	fork    = "session_aaaaaaaa-0000-4000-8000-000000000005"
	away    = "session_aaaaaaaa-0000-4000-8000-000000000006"
	bare    = "session_aaaaaaaa-0000-4000-8000-000000000007"
	empty   = "session_aaaaaaaa-0000-4000-8000-000000000008"
)

// wire makes the lines of a wire: what was asked, and what was answered.
func wire(at int64, pairs ...string) string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	line(`{"type":"metadata","protocol_version":"1.5","created_at":%d}`, at-1)
	for i := 0; i < len(pairs); i += 2 {
		line(`{"type":"turn.prompt","input":[{"type":"text","text":%q}],"origin":{"kind":"user"},"time":%d}`, pairs[i], at)
		line(`{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":%q}],"origin":{"kind":"user"}},"time":%d}`, pairs[i], at)
		line(`{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"injected"}],"origin":{"kind":"injection"}},"time":%d}`, at)
		line(`{"type":"context.append_loop_event","event":{"type":"content.part","turnId":"0","part":{"type":"think","think":"hm"}},"time":%d}`, at)
		line(`{"type":"context.append_loop_event","event":{"type":"tool.call","toolCallId":"c","name":"Bash","args":{"command":"ls"}},"time":%d}`, at)
		line(`{"type":"context.append_loop_event","event":{"type":"tool.result","toolCallId":"c","result":{"output":"files"}},"time":%d}`, at)
		line(`{"type":"context.append_loop_event","event":{"type":"content.part","turnId":"0","part":{"type":"text","text":%q}},"time":%d}`, pairs[i+1], at+1)
		at += 1000
	}
	return out.String()
}

// writeStore writes one of each kind of session.
func writeStore(tb testing.TB, env catalog.Env) []catalogtest.Want {
	tb.Helper()
	root := ".kimi-code"
	if env.Var("KIMI_CODE_HOME") != "" {
		root = "moved"
	}
	at := catalogtest.Time
	put := func(id, rel, content string) {
		catalogtest.Put(tb, env, root+"/sessions/wd_app_0123/"+id+"/"+rel, content, at)
	}
	put(current, "state.json", fmt.Sprintf(`{"version":2,"cwd":"/work/app","createdAt":%d,"updatedAt":%d,"title":"A title","isCustomTitle":true,
		"lastPrompt":"And more","gitBranch":"main","worktreeLabel":"spike","archived":false,"custom":{}}`, at-5000, at))
	put(current, "agents/main/wire.jsonl", wire(at, "Fix the parser", "The zebra is fixed.", "And more", "Done."))
	put(current, "agents/explore-1/wire.jsonl", wire(at, "Look", "Looked."))

	put(legacy, "state.json", `{"createdAt":"2026-09-01T12:00:00.000Z","updatedAt":"2026-09-01T12:00:30.000Z","title":"New Session","lastPrompt":"Old prompt"}`)
	put(legacy, "agents/main/wire.jsonl", wire(at, "Old prompt", "The giraffe answers."))
	put(nested, "session-meta/state.json", fmt.Sprintf(`{"id":%q,"version":2,"workDir":"/work/nested","createdAt":%d,"updatedAt":%d,"lastPrompt":"Nested prompt"}`, nested, at, at+1))
	put(nested, "agents/main/wire.jsonl", wire(at+50_000, "Nested prompt", "The walrus answers."))
	put(child, "state.json", fmt.Sprintf(`{"custom":{"cwd":"/work/child","parent_session_id":%q,"child_session_kind":"child"},"lastPrompt":"Child prompt","updatedAt":%d}`, current, at))
	put(child, "agents/main/wire.jsonl", wire(at, "Child prompt", "The lemur answers."))
	put(fork, "state.json", fmt.Sprintf(`{"workDir":"/work/app","forkedFrom":%q,"title":"Fork","updatedAt":%d}`, current, at+9000))
	put(fork, "agents/main/wire.jsonl", wire(at, "Fork prompt", "The ocelot answers."))
	put(away, "state.json", fmt.Sprintf(`{"workDir":"/work/app","archived":true,"lastPrompt":"Put away","updatedAt":%d}`, at))
	put(away, "agents/main/wire.jsonl", wire(at-10, "Put away", "The heron answers."))
	put(bare, "agents/main/wire.jsonl", wire(at+70_000, "Bare prompt", "The badger answers."))
	put(empty, "state.json", fmt.Sprintf(`{"workDir":"/work/app","title":"New Session","updatedAt":%d}`, at))

	index := func(id, dir, more string) string {
		return fmt.Sprintf(`{"sessionId":%q,"sessionDir":"/x","workDir":%q%s}`+"\n", id, dir, more)
	}
	catalogtest.Put(tb, env, root+"/session_index.jsonl",
		index(legacy, "/work/wrong", "")+index(bare, "/work/bare", "")+index(legacy, "/work/legacy", "")+`{"sessionId":"session_gone","deleted":true}`+"\n", 0)

	return []catalogtest.Want{
		{ID: current, Project: "/work/app", TimeMS: at + 1001, Title: "A title", Prompt: "Fix the parser", Branch: "main", Worktree: "spike", Said: "zebra"},
		{ID: legacy, Project: "/work/legacy", TimeMS: at + 30_000, Prompt: "Old prompt", Said: "giraffe"},
		{ID: nested, Project: "/work/nested", TimeMS: at + 50_001, Prompt: "Nested prompt", Said: "walrus"},
		{ID: child, Project: "/work/child", TimeMS: at + 1, Prompt: "Child prompt", Parent: current, Relation: catalog.SubAgent, NonInteractive: true, Said: "lemur"},
		{ID: fork, Project: "/work/app", TimeMS: at + 9000, Title: "Fork", Prompt: "Fork prompt", Parent: current, Relation: catalog.Fork, Said: "ocelot"},
		{ID: away, Project: "/work/app", TimeMS: at, Prompt: "Put away", Archived: true, Said: "heron"},
		{ID: bare, Project: "/work/bare", TimeMS: at + 70_001, Prompt: "Bare prompt", Said: "badger"},
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	catalogtest.Run(t, catalogtest.Config{
		Reader: kimi.New(), Write: writeStore, Vars: map[string]string{"KIMI_CODE_HOME": "~/moved"},
	})
}

// TestDamagedState checks that a session whose state is damaged is found by its wire.
func TestDamagedState(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"\xff\xfe", "[]", `{"cwd":`, "{}"} {
		t.Run(content, func(t *testing.T) {
			t.Parallel()
			env := catalogtest.NewEnv(t)
			catalogtest.Put(t, env, ".kimi-code/sessions/wd/a/state.json", content, 0)
			catalogtest.Put(t, env, ".kimi-code/sessions/wd/a/agents/main/wire.jsonl", wire(catalogtest.Time, "Hello", "Hi."), 0)
			c, err := catalog.New([]catalog.Reader{kimi.New()}, &catalog.Options{Env: &env})
			if err != nil {
				t.Fatal(err)
			}
			found, err := c.Search(t.Context(), catalog.SearchRequest{})
			if err != nil || found.Total != 1 {
				t.Fatalf("Search = %+v, %v, want one session", found, err)
			}
			if warned := len(found.Warnings) > 0; warned != (content != "{}" && content != "[]") {
				t.Errorf("Search: warnings %v", found.Warnings)
			}
		})
	}
}
