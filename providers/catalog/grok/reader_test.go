package grok_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agentd/providers/catalog"
	"agentd/providers/catalog/grok"
	"agentd/testkit/catalogtest"
)

const (
	whole   = "019fe500-a100-7000-8000-000000000001"
	agent   = "019fe500-a100-7000-8000-000000000002"
	hidden  = "019fe500-a100-7000-8000-000000000003"
	fork    = "019fe500-a100-7000-8000-000000000004"
	bare    = "019fe500-a100-7000-8000-000000000005"
	long    = "019fe500-a100-7000-8000-000000000006"
	untold  = "019fe500-a100-7000-8000-000000000007"
	copied  = "019fe500-a100-7000-8000-000000000008"
	nothing = "019fe500-a100-7000-8000-000000000009"
)

// chat makes the lines of a chat.
func chat(prompt, reply string) string {
	return strings.Join([]string{
		`{"type":"system","content":"You are a model."}`,
		`{"type":"user","content":[{"type":"text","text":"<user_info>\nOS: linux\n</user_info>"}]}`,
		`{"type":"user","synthetic_reason":"system_reminder","content":[{"type":"text","text":"<user_query>not typed</user_query>"}]}`,
		fmt.Sprintf(`{"type":"user","prompt_index":0,"synthetic_reason":null,"content":[{"type":"text","text":"<user_query>\n%s\n</user_query>"}]}`, prompt),
		`{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"thinking"}]}`,
		`{"type":"assistant","content":"","tool_calls":[{"id":"c","name":"bash","arguments":"{\"command\":\"ls\"}"}]}`,
		`{"type":"tool_result","tool_call_id":"c","content":"files"}`,
		fmt.Sprintf(`{"type":"assistant","content":%q}`, reply),
	}, "\n") + "\n"
}

func iso(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano) }

// put writes the files of a session.
func put(tb testing.TB, env catalog.Env, folder, id, summary, chat string) {
	tb.Helper()
	root := ".grok"
	if env.Var("GROK_HOME") != "" {
		root = "moved"
	}
	dir := root + "/sessions/" + folder + "/"
	if summary != "" {
		catalogtest.Put(tb, env, dir+id+"/summary.json", summary, catalogtest.Time+77)
	}
	if chat != "" {
		catalogtest.Put(tb, env, dir+id+"/chat_history.jsonl", chat, catalogtest.Time+88)
	}
	if folder == "long-0123456789abcdef" {
		catalogtest.Put(tb, env, dir+".cwd", "/work/long\n", 0)
	}
}

// writeStore writes one of each kind of session.
func writeStore(tb testing.TB, env catalog.Env) []catalogtest.Want {
	tb.Helper()
	at := catalogtest.Time
	app := url.PathEscape("/work/app")
	put(tb, env, app, whole, fmt.Sprintf(`{"info":{"id":%q,"cwd":"/work/app"},"session_summary":"First title","generated_title":"Given title","created_at":%q,"updated_at":%q,
		"last_active_at":%q,"num_chat_messages":8,"head_branch":"main","worktree_label":"spike","git_remotes":["git@example.com:a/b.git"],"last_recap":"It is fixed.","last_turn_summary":"no"}`,
		whole, iso(at-9000), iso(at+9000), iso(at+5000)), chat("Fix the parser", "The zebra is fixed."))
	put(tb, env, app, agent, fmt.Sprintf(`{"info":{"id":%q,"cwd":"/work/app"},"session_kind":"subagent","parent_session_id":%q,"updated_at":%q}`, agent, whole, iso(at)), chat("Look around", "The giraffe looks."))
	put(tb, env, app, hidden, fmt.Sprintf(`{"info":{"id":%q,"cwd":"/work/app"},"hidden":true,"created_at":%q}`, hidden, iso(at+1)), chat("Hidden prompt", "The walrus hides."))
	put(tb, env, app, fork, fmt.Sprintf(`{"info":{"id":%q,"cwd":"/work/app"},"session_kind":"fork","parent_session_id":%q,"session_summary":"Forked","last_turn_summary":"Went on."}`, fork, whole), chat("Fork prompt", "The lemur forks."))
	put(tb, env, app, bare, "", chat("Bare prompt", "The ocelot is bare."))
	put(tb, env, "long-0123456789abcdef", long, fmt.Sprintf(`{"info":{"id":%q}}`, long), chat("Long prompt", "The badger is long."))
	put(tb, env, "elsewhere", untold, "", chat("Untold prompt", "The heron is nowhere."))
	put(tb, env, app, nothing, fmt.Sprintf(`{"info":{"id":%q,"cwd":"/work/app"},"session_summary":"","num_chat_messages":0}`, nothing), `{"type":"system","content":"You are a model."}`+"\n")
	put(tb, env, app, copied, fmt.Sprintf(`{"info":{"id":%q,"cwd":"/work/app"},"generated_title":"A copy"}`, whole), "")
	return []catalogtest.Want{
		{ID: whole, Project: "/work/app", TimeMS: at + 5000, Title: "Given title", Prompt: "Fix the parser", Branch: "main", Worktree: "spike", Recap: "It is fixed.", Said: "zebra"},
		{ID: agent, Project: "/work/app", TimeMS: at, Prompt: "Look around", Parent: whole, Relation: catalog.SubAgent, NonInteractive: true, Said: "giraffe"},
		{ID: hidden, Project: "/work/app", TimeMS: at + 1, Prompt: "Hidden prompt", NonInteractive: true, Said: "walrus"},
		{ID: fork, Project: "/work/app", TimeMS: at + 77, Title: "Forked", Prompt: "Fork prompt", Recap: "Went on.", Parent: whole, Relation: catalog.Fork, Said: "lemur"},
		{ID: bare, Project: "/work/app", TimeMS: at + 88, Prompt: "Bare prompt", Said: "ocelot"},
		{ID: long, Project: "/work/long", TimeMS: at + 77, Prompt: "Long prompt", Said: "badger"},
		{ID: untold, TimeMS: at + 88, Prompt: "Untold prompt", Said: "heron"},
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	catalogtest.Run(t, catalogtest.Config{
		Reader: grok.New(), Write: writeStore, Vars: map[string]string{"GROK_HOME": "~/moved"},
	})
}

// TestSkipped checks that what is not listed is reported with the reason.
func TestSkipped(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	writeStore(t, env)
	c, err := catalog.New([]catalog.Reader{grok.New()}, &catalog.Options{Env: &env})
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
	if diff := cmp.Diff(map[catalog.Reason]int{catalog.NoConversation: 1, catalog.Unresumable: 1}, got); diff != "" {
		t.Errorf("Doctor: skipped (-want +got):\n%s", diff)
	}
}
