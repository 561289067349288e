package muse_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"agentd/providers/catalog"
	"agentd/providers/catalog/muse"
	"agentd/testkit/catalogtest"
)

const (
	namedID = "0198f0aa-1111-7000-8000-000000000001"
	plainID = "0198f0aa-1111-7000-8000-000000000002"
	frameID = "0198f0aa-1111-7000-8000-000000000003"
	childID = "0198f0aa-1111-7000-8000-000000000004"
	emptyID = "0198f0aa-1111-7000-8000-000000000005"
)

// script writes the records of one log. Times are microseconds.
type script struct {
	id    string
	at    int64 // milliseconds
	lines []string
}

func (s *script) record(stream, id, kind, payload string) string {
	s.at += 1000
	return fmt.Sprintf(`{"schema_version":1,"id":"r%d","stream":{"kind":%q,"id":%q},"sequence":%d,"recorded_at":%d,"record_type":"event","payload_type":%q,"payload":%s}`, s.at, stream, id, len(s.lines), s.at*1000, kind, payload)
}

func (s *script) add(kind, payload string) {
	s.lines = append(s.lines, s.record("session", s.id, kind, payload))
}

func (s *script) begin(workspace string) {
	s.add("runtime.session.metadata", fmt.Sprintf(`{"kind":"metadata","record":{"build":{},"workspace_root":%q}}`, workspace))
}

func run(event string) string { return `{"kind":"run","run_id":"r","event":` + event + `}` }

func (s *script) ask(text string) {
	s.add("runtime.session", run(fmt.Sprintf(`{"kind":"started","prompt":%q}`, text)))
}

func (s *script) reply(text string) {
	s.add("runtime.session", run(fmt.Sprintf(`{"kind":"assistant_message_committed","message_id":"m","text":%q}`, text)))
}

func (s *script) write(tb testing.TB, env catalog.Env, root, day string) {
	tb.Helper()
	catalogtest.Put(tb, env, root+"muse/sessions/"+day+"/"+s.id+"/session.jsonl", strings.Join(s.lines, "\n")+"\n", 0)
}

// writeStore writes one of each kind of session.
func writeStore(tb testing.TB, env catalog.Env) []catalogtest.Want {
	tb.Helper()
	root := ".local/share/"
	if env.Var("XDG_DATA_HOME") != "" {
		root = "moved/"
	}
	at := catalogtest.Time
	a := &script{id: namedID, at: at}
	a.begin("/work/first")
	a.add("session.name.changed", `{"session_id":"x","previous_name":null,"new_name":"given up"}`)
	a.add("session.workspace_branch.observed", `{"kind":"workspace_branch","record":{"workspace_root":"/work/first","reference":{"kind":"branch","name":"main"}}}`)
	a.ask("First question")
	a.add("runtime.session", run(`{"kind":"assistant_tool_calls_committed","message_id":"m","tool_calls":[{"name":"bash","args":"{\"command\":\"ls\"}","call_id":"c"}]}`))
	a.add("runtime.session", run(`{"kind":"tool_result_batch_committed","results":[{"tool_call_id":"c","text":"files"}]}`))
	a.lines = append(a.lines, a.record("task", childID, "runtime.session", run(`{"kind":"started","prompt":"Objective of a task"}`)))
	a.add("runtime.session", `{"kind":"task","event":{"kind":"started","prompt":"Not a prompt"}}`)
	a.reply("The zebra answers.")
	a.add("session.workspace_branch.observed", `{"kind":"workspace_branch","record":{"reference":{"kind":"branch","name":"feature/x"}}}`)
	a.add("session.name.changed", `{"session_id":"x","new_name":"A name"}`)
	a.begin("/work/app")
	a.ask("Last question")
	a.write(tb, env, root, "2026/09/01")
	catalogtest.Put(tb, env, root+"muse/sessions/2026/09/01/"+namedID+"/subagent/"+childID+"/session.jsonl", a.lines[0]+"\n", 0)
	catalogtest.Put(tb, env, root+"muse/sessions/2026/09/01/"+namedID+"/tool-outputs/x.jsonl", "{}\n", 0)

	b := &script{id: plainID, at: at + 100_000}
	b.add("runtime.session.route_facts", `{"kind":"route_facts","record":{"cwd":"/work/routed"}}`)
	b.ask("Plain question")
	b.reply("The giraffe answers.")
	b.write(tb, env, root, "2026/09/02")

	c := &script{id: frameID, at: at + 200_000}
	c.begin("/work/framed")
	inner := &script{id: frameID, at: c.at}
	inner.ask("Framed question")
	inner.reply("The walrus answers.")
	var children []string
	for _, line := range inner.lines {
		text, err := json.Marshal(line)
		if err != nil {
			tb.Fatal(err)
		}
		children = append(children, fmt.Sprintf(`{"record_json":%s}`, text))
	}
	c.lines = append(c.lines, `{"record_type":"retained_frame","children":[`+strings.Join(children, ",")+`]}`)
	c.write(tb, env, root, "2026/09/02")

	return []catalogtest.Want{
		{ID: namedID, Project: "/work/app", TimeMS: a.at, Title: "A name", Prompt: "First question", Recap: "The zebra answers.", Branch: "feature/x", Said: "zebra"},
		{ID: plainID, Project: "/work/routed", TimeMS: b.at, Prompt: "Plain question", Said: "giraffe"},
		{ID: frameID, Project: "/work/framed", TimeMS: inner.at, Prompt: "Framed question", Said: "walrus"},
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	catalogtest.Run(t, catalogtest.Config{Reader: muse.New(), Write: writeStore, Vars: map[string]string{"XDG_DATA_HOME": "~/moved"}})
}

func newCatalog(t *testing.T, env catalog.Env) *catalog.Catalog {
	t.Helper()
	c, err := catalog.New([]catalog.Reader{muse.New()}, &catalog.Options{Env: &env})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestReport(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	writeStore(t, env)
	e := &script{id: emptyID, at: catalogtest.Time}
	e.begin("/work/app")
	e.write(t, env, ".local/share/", "2026/09/03")
	e.id = childID // Its records say something else.
	e.write(t, env, ".local/share/", "2026/09/03")
	reports, err := newCatalog(t, env).Doctor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[catalog.Reason]int{}
	for _, s := range reports[0].Skipped {
		got[s.Reason] = s.Count
	}
	if got[catalog.NoConversation] != 1 || got[catalog.NotASession] != 1 || got[catalog.PartOfSession] != 1 || len(got) != 3 {
		t.Errorf("skipped = %v, want a silent session, one under a wrong name, and a sub-agent's log", got)
	}
}

func TestLongLog(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	s := &script{id: namedID, at: catalogtest.Time}
	s.begin("/work/first")
	s.ask("Very first")
	for range 40 {
		s.reply(strings.Repeat("lorem ipsum ", 2500))
	}
	s.begin("/work/renamed")
	s.ask("Very last")
	s.write(t, env, ".local/share/", "2026/09/01")
	found, err := newCatalog(t, env).Search(t.Context(), catalog.SearchRequest{IncludeSummaries: true})
	if err != nil || len(found.Sessions) != 1 {
		t.Fatalf("Search = %v, %v, want one session", found, err)
	}
	got := found.Sessions[0]
	if strings.Join(got.Summaries, ", ") != "Very first, Very last" || got.ProjectPath != "/work/renamed" || got.TimestampMS != s.at {
		t.Errorf("found %+v, want both prompts, the last directory and the time %d", got, s.at)
	}
}

func TestRelativeDataFolder(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	env.Dir = filepath.Join(env.Home, "work")
	env.Vars["XDG_DATA_HOME"] = "data"
	want := filepath.Join(env.Dir, "data")
	if got := muse.New().Launch(env, &catalog.Session{ID: namedID}).Env["XDG_DATA_HOME"]; got != want {
		t.Errorf("Launch: XDG_DATA_HOME = %q, want %q", got, want)
	}
}
