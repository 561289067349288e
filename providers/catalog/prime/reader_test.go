package prime_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agentd/providers/catalog"
	"agentd/providers/catalog/prime"
	"agentd/testkit/catalogtest"
)

const (
	namedID = "01a22b69-0000-7000-8000-000000000001"
	forkID  = "01a22b69-0000-7000-8000-000000000002"
	childID = "01a22b69-0000-7000-8000-000000000003"
	awayID  = "01a22b69-0000-7000-8000-000000000004"
	deepID  = "01a22b69-0000-7000-8000-000000000005"
)

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

// script writes the lines of one transcript.
type script struct {
	at    int64
	lines []string
}

func begin(id, cwd, more string, at int64) *script {
	return &script{at, []string{fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":%q,"cwd":%q%s}`, id, stamp(at), cwd, more)}}
}

// note adds a record that is not part of the conversation, a day after the last thing that was said.
func (s *script) note(kind, member string) {
	s.lines = append(s.lines, fmt.Sprintf(`{"type":%q,"id":"n%d","parentId":null,"timestamp":%q,%s}`, kind, len(s.lines), stamp(s.at+86_400_000), member))
}

func (s *script) say(role, text string) {
	s.at += 1000
	s.lines = append(s.lines, fmt.Sprintf(`{"type":"message","id":"m%d","parentId":null,"timestamp":%q,"message":{"role":%q,"content":[{"type":"thinking","thinking":"x"},{"type":"text","text":%q}],"timestamp":%d}}`, len(s.lines), stamp(s.at+500), role, text, s.at))
}

func (s *script) text() string { return strings.Join(s.lines, "\n") + "\n" }

// writeStore writes one of each kind of session.
func writeStore(tb testing.TB, env catalog.Env) []catalogtest.Want {
	tb.Helper()
	root := ".prime/agent/"
	if env.Var("PRIME_AGENT_SESSION_DIR") != "" {
		root = "moved/"
	}
	at := catalogtest.Time
	a := begin(namedID, "/work/app", `,"rlmDepth":0,"git":{"branch":"old","repoUrl":"https://example.org/app"}`, at)
	a.say("user", "First question")
	a.note("agent_status", `"status":{"summary":"Too early","basedOnMessageCount":1}`)
	a.say("assistant", "The zebra answers.")
	a.note("session_info", `"name":"a name"`)
	a.note("git_state", `"git":{"branch":"feature/x","repoUrl":"https://example.org/app"}`)
	a.note("agent_status", `"status":{"summary":"All done","basedOnMessageCount":2}`)
	catalogtest.Put(tb, env, root+"sessions/"+namedID+".jsonl", a.text(), 0)

	b := begin(forkID, "/work/app", `,"parentSession":"/home/x/.prime/agent/sessions/`+namedID+`.jsonl"`, at+100_000)
	b.note("session_info", `"name":"given up"`)
	b.say("user", "Forked question")
	b.note("agent_status", `"status":{"summary":"Stale","basedOnMessageCount":1}`)
	b.say("assistant", "The giraffe answers.")
	b.lines = append(b.lines, `{"type":"session_info","id":"x"}`)
	catalogtest.Put(tb, env, root+"sessions/"+forkID+".jsonl", b.text(), 0)

	c := begin(awayID, "/work/other", "", at-100_000)
	c.note("session_state", `"state":{"status":"active"}`)
	c.say("user", "Archived question")
	c.say("assistant", "The heron answers.")
	c.note("session_state", `"state":{"status":"archived"}`)
	catalogtest.Put(tb, env, root+"sessions/"+awayID+".jsonl", c.text(), 0)

	parent := func(id string) string { return fmt.Sprintf(`,"parentSession":"/x/%s.jsonl","rlmDepth":1`, id) }
	d := begin(childID, "/work/app", parent(namedID), at+200_000)
	d.say("user", "Child question")
	d.say("assistant", "The walrus was spawned.")
	nested := root + "session-artifacts/" + namedID + "/sub-0a0b/"
	catalogtest.Put(tb, env, nested+childID+".jsonl", d.text(), 0)
	e := begin(deepID, "/work/app", parent(childID), at+300_000)
	e.say("user", "Grandchild question")
	e.say("assistant", "The badger was spawned.")
	catalogtest.Put(tb, env, nested+"session-artifacts/"+childID+"/sub-1/"+deepID+".jsonl", e.text(), 0)
	catalogtest.Put(tb, env, root+"session-artifacts/"+namedID+"/kernel/log.jsonl", "{}\n", 0)

	return []catalogtest.Want{
		{ID: namedID, Project: "/work/app", TimeMS: a.at, Title: "a name", Prompt: "First question", Branch: "feature/x", Recap: "All done", Said: "zebra"},
		{ID: forkID, Project: "/work/app", TimeMS: b.at, Title: "Forked question", Prompt: "Forked question", Parent: namedID, Relation: catalog.Fork, Said: "giraffe"},
		{ID: awayID, Project: "/work/other", TimeMS: c.at, Prompt: "Archived question", Archived: true, Said: "heron"},
		{ID: childID, Project: "/work/app", TimeMS: d.at, Prompt: "Child question", NonInteractive: true, Parent: namedID, Relation: catalog.SubAgent, Said: "walrus"},
		{ID: deepID, Project: "/work/app", TimeMS: e.at, Prompt: "Grandchild question", NonInteractive: true, Parent: childID, Relation: catalog.SubAgent, Said: "badger"},
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	catalogtest.Run(t, catalogtest.Config{Reader: prime.New(), Write: writeStore, Vars: map[string]string{"PRIME_AGENT_SESSION_DIR": "~/moved/sessions"}})
}

func newCatalog(t *testing.T, env catalog.Env) *catalog.Catalog {
	t.Helper()
	c, err := catalog.New([]catalog.Reader{prime.New()}, &catalog.Options{Env: &env})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRecaps(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("lorem ipsum ", 60_000)
	for _, tt := range []struct {
		name   string
		filler string // said by the model in the middle
		last   func(*script)
		want   string
	}{
		{"none", "", func(*script) {}, ""},
		{"of all messages", "", func(s *script) { s.note("agent_status", `"status":{"summary":"Done","basedOnMessageCount":3}`) }, "Done"},
		{"of fewer messages", "", func(s *script) { s.note("agent_status", `"status":{"summary":"Stale","basedOnMessageCount":2}`) }, ""},
		{"at the end of a long transcript", filler, func(s *script) { s.note("agent_status", `"status":{"summary":"Done","basedOnMessageCount":3}`) }, "Done"},
		{"before the end of a long transcript", filler, func(s *script) {
			s.note("agent_status", `"status":{"summary":"Stale","basedOnMessageCount":3}`)
			s.say("assistant", "More.")
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := catalogtest.NewEnv(t)
			s := begin(namedID, "/work/app", "", catalogtest.Time)
			s.say("user", "Question")
			s.say("assistant", "Answer "+tt.filler)
			s.say("assistant", "Yes.")
			tt.last(s)
			catalogtest.Put(t, env, ".prime/agent/sessions/"+namedID+".jsonl", s.text(), 0)
			found, err := newCatalog(t, env).Search(t.Context(), catalog.SearchRequest{IncludeSummaries: true})
			if err != nil || len(found.Sessions) != 1 {
				t.Fatalf("Search = %v, %v, want one session", found, err)
			}
			recap := ""
			if r := found.Sessions[0].Recap; r != nil {
				recap = *r
			}
			if recap != tt.want || found.Sessions[0].TimestampMS != s.at {
				t.Errorf("recap %q at %d, want %q at %d", recap, found.Sessions[0].TimestampMS, tt.want, s.at)
			}
		})
	}
}

func TestRoots(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name            string
		vars            map[string]string
		project, global string            // settings
		want            []string          // below the home
		env             map[string]string // of a plan, below the home
	}{
		{"usual", nil, "", "", []string{".prime/agent/sessions"}, map[string]string{"PRIME_AGENT_SESSION_DIR": ".prime/agent/sessions"}},
		{
			"folder of the program",
			map[string]string{"PRIME_AGENT_CODING_AGENT_DIR": "~/p"},
			"", "",
			[]string{"p/sessions"},
			map[string]string{"PRIME_AGENT_CODING_AGENT_DIR": "p", "PRIME_AGENT_SESSION_DIR": "p/sessions"},
		},
		{
			"older variable",
			map[string]string{"PRIME_AGENT_CODING_AGENT_SESSION_DIR": "~/s"},
			`{"sessionDir":"~/other"}`, "",
			[]string{"s"},
			map[string]string{"PRIME_AGENT_SESSION_DIR": "s"},
		},
		{
			"both variables",
			map[string]string{"PRIME_AGENT_CODING_AGENT_SESSION_DIR": "~/s", "PRIME_AGENT_SESSION_DIR": "~/t"},
			"", "",
			[]string{"t"},
			map[string]string{"PRIME_AGENT_SESSION_DIR": "t"},
		},
		{
			"settings of a project come first", nil, `{"sessionDir":"~/mine"}`, `{"sessionDir":"~/other"}`,
			[]string{"mine", ".prime/agent/sessions"},
			map[string]string{"PRIME_AGENT_SESSION_DIR": "mine"},
		},
		{
			"damaged settings of a project", nil, `{"sessionDir":`, `{"sessionDir":"~/other"}`,
			[]string{"other", ".prime/agent/sessions"},
			map[string]string{"PRIME_AGENT_SESSION_DIR": "other"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := catalogtest.NewEnv(t)
			env.Dir = filepath.Join(env.Home, "work")
			for k, v := range tt.vars {
				env.Vars[k] = v
			}
			if tt.project != "" {
				catalogtest.Put(t, env, "work/.prime/agent/settings.json", tt.project, 0)
			}
			if tt.global != "" {
				catalogtest.Put(t, env, ".prime/agent/settings.json", tt.global, 0)
			}
			below := func(rel string) string { return filepath.Join(env.Home, filepath.FromSlash(rel)) }
			var got, want []string
			for _, rel := range tt.want {
				want = append(want, below(rel))
			}
			for _, root := range prime.New().Roots(env) {
				got = append(got, root.Path)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Roots (-want +got):\n%s", diff)
			}
			wantEnv := map[string]string{}
			for k, rel := range tt.env {
				wantEnv[k] = below(rel)
			}
			if diff := cmp.Diff(wantEnv, prime.New().Launch(env, &catalog.Session{ID: "a"}).Env); diff != "" {
				t.Errorf("Launch: env (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChildrenAreHiddenByDefault(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	writeStore(t, env)
	found, err := newCatalog(t, env).Search(t.Context(), catalog.SearchRequest{})
	if err != nil || found.Total != 2 {
		t.Errorf("Search = %v, %v, want two sessions", found, err)
	}
}
