package pi_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agentd/providers/catalog"
	"agentd/providers/catalog/pi"
	"agentd/testkit/catalogtest"
)

// script writes the lines of one transcript.
type script struct {
	id, cwd string
	at      int64
	lines   []string
}

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

func (s *script) begin(more string) {
	s.lines = append(s.lines, fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":%q,"cwd":%q%s}`, s.id, stamp(s.at), s.cwd, more))
}

func (s *script) add(tb testing.TB, kind string, fields map[string]any) {
	tb.Helper()
	s.at += 1000
	fields["type"], fields["timestamp"], fields["id"] = kind, stamp(s.at), fmt.Sprintf("%08x", len(s.lines))
	data, err := json.Marshal(fields)
	if err != nil {
		tb.Fatal(err)
	}
	s.lines = append(s.lines, string(data))
}

func (s *script) say(tb testing.TB, role, text string) {
	tb.Helper()
	s.add(tb, "message", map[string]any{"message": map[string]any{"role": role, "content": []any{
		map[string]any{"type": "thinking", "thinking": "hidden"}, map[string]any{"type": "text", "text": text},
	}}})
}

func (s *script) name() string {
	return strings.NewReplacer(":", "-", ".", "-").Replace(stamp(catalogtest.Time)) + "_" + s.id + ".jsonl"
}

func (s *script) text() string { return strings.Join(s.lines, "\n") + "\n" }

const (
	namedID  = "01a22b69-0000-7000-8000-000000000001"
	forkID   = "01a22b69-0000-7000-8000-000000000002"
	plainID  = "01a22b69-0000-7000-8000-000000000003"
	nestedID = "01a22b69-0000-7000-8000-000000000004"
)

// writeStore writes one of each kind of session.
func writeStore(tb testing.TB, env catalog.Env) []catalogtest.Want {
	tb.Helper()
	root := ".pi/agent/sessions/"
	if env.Var("PI_CODING_AGENT_SESSION_DIR") != "" {
		root = "moved/"
	}
	a := &script{id: namedID, cwd: "/work/a-b", at: catalogtest.Time}
	a.begin("")
	a.add(tb, "model_change", map[string]any{"provider": "x"})
	a.say(tb, "user", "First question")
	a.say(tb, "assistant", "The zebra answers.")
	a.add(tb, "session_info", map[string]any{"name": "given up"})
	a.add(tb, "session_info", map[string]any{"name": "a name"})
	a.add(tb, "message", map[string]any{"message": map[string]any{"role": "bashExecution", "command": "ls", "output": "files"}})
	a.add(tb, "compaction", map[string]any{"summary": "what was said"})
	catalogtest.Put(tb, env, root+"--work-a-b--/"+a.name(), a.text(), 0)

	b := &script{id: forkID, cwd: "/work/a/b", at: catalogtest.Time + 100_000}
	b.begin(`,"parentSession":"/home/x/.pi/agent/sessions/--work-a-b--/` + a.name() + `"`)
	b.say(tb, "user", "Forked question")
	b.say(tb, "assistant", "The giraffe answers.")
	b.add(tb, "session_info", map[string]any{"name": "a name"})
	b.add(tb, "session_info", map[string]any{"name": ""})
	catalogtest.Put(tb, env, root+"--work-a-b--/"+b.name(), b.text(), 0)

	c := &script{id: plainID, cwd: "/work/my notes", at: catalogtest.Time - 100_000}
	c.begin("")
	c.add(tb, "message", map[string]any{"message": map[string]any{"role": "user", "content": "Plain question"}})
	c.say(tb, "assistant", "The walrus answers.")
	catalogtest.Put(tb, env, root+c.name(), c.text(), 0)

	d := &script{id: nestedID, cwd: "/work/a-b", at: catalogtest.Time + 200_000}
	d.begin("")
	d.say(tb, "user", "Nested question")
	d.say(tb, "assistant", "The badger was spawned.")
	catalogtest.Put(tb, env, root+"--work-a-b--/"+strings.TrimSuffix(a.name(), ".jsonl")+"/worker.jsonl", d.text(), 0)

	return []catalogtest.Want{
		{ID: namedID, Project: "/work/a-b", TimeMS: a.at, Title: "a name", Prompt: "First question", Said: "zebra"},
		{ID: forkID, Project: "/work/a/b", TimeMS: b.at, Title: "Forked question", Prompt: "Forked question", Parent: namedID, Relation: catalog.Fork, Said: "giraffe"},
		{ID: plainID, Project: "/work/my notes", TimeMS: c.at, Prompt: "Plain question", Said: "walrus"},
		{ID: nestedID, Project: "/work/a-b", TimeMS: d.at, Prompt: "Nested question", NonInteractive: true, Parent: namedID, Relation: catalog.SubAgent, Said: "badger"},
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	catalogtest.Run(t, catalogtest.Config{Reader: pi.New(), Write: writeStore, Vars: map[string]string{"PI_CODING_AGENT_SESSION_DIR": "~/moved"}})
}

func TestRoots(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		vars     map[string]string
		settings string
		want     []string          // below the home
		env      map[string]string // of a plan, below the home
	}{
		{"usual", nil, "", []string{".pi/agent/sessions"}, nil},
		{"folder of the program", map[string]string{"PI_CODING_AGENT_DIR": "~/p"}, "", []string{"p/sessions"}, map[string]string{"PI_CODING_AGENT_DIR": "p"}},
		{
			"session folder",
			map[string]string{"PI_CODING_AGENT_DIR": "p", "PI_CODING_AGENT_SESSION_DIR": "s"},
			`{"sessionDir":"~/other"}`,
			[]string{"s"},
			map[string]string{"PI_CODING_AGENT_DIR": "p", "PI_CODING_AGENT_SESSION_DIR": "s"},
		},
		{"settings", nil, `{"theme":"x","sessionDir":"~/other"}`, []string{"other", ".pi/agent/sessions"}, nil},
		{"relative in settings", nil, `{"sessionDir":"mine"}`, []string{".pi/agent/mine", ".pi/agent/sessions"}, nil},
		{"damaged settings", nil, `{"sessionDir":`, []string{".pi/agent/sessions"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := catalogtest.NewEnv(t)
			for k, v := range tt.vars {
				env.Vars[k] = v
			}
			if tt.settings != "" {
				catalogtest.Put(t, env, ".pi/agent/settings.json", tt.settings, 0)
			}
			var want []string
			for _, rel := range tt.want {
				want = append(want, filepath.Join(env.Home, filepath.FromSlash(rel)))
			}
			var got []string
			for _, root := range pi.New().Roots(env) {
				got = append(got, root.Path)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Roots (-want +got):\n%s", diff)
			}
			wantEnv := map[string]string{}
			for k, rel := range tt.env {
				wantEnv[k] = filepath.Join(env.Home, rel)
			}
			if diff := cmp.Diff(wantEnv, pi.New().Launch(env, &catalog.Session{ID: "a"}).Env); diff != "" {
				t.Errorf("Launch: env (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLargeTranscript(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	s := &script{id: namedID, cwd: "/work/app", at: catalogtest.Time}
	s.begin("")
	s.say(t, "user", "First of many")
	for range 40 {
		s.say(t, "assistant", strings.Repeat("lorem ipsum ", 2000))
	}
	s.add(t, "session_info", map[string]any{"name": "late name"})
	s.say(t, "user", "Last of many")
	catalogtest.Put(t, env, ".pi/agent/sessions/--work-app--/"+s.name(), s.text(), 0)
	c, err := catalog.New([]catalog.Reader{pi.New()}, &catalog.Options{Env: &env})
	if err != nil {
		t.Fatal(err)
	}
	found, err := c.Search(t.Context(), catalog.SearchRequest{IncludeSummaries: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Sessions) != 1 || strings.Join(found.Sessions[0].Summaries, ", ") != "late name, First of many, Last of many" || found.Sessions[0].TimestampMS != s.at {
		t.Errorf("found %+v, want the late name, both prompts and the time %d", found.Sessions, s.at)
	}
}
