package codex_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/providers/catalog"
	"agentd/providers/catalog/codex"
	"agentd/testkit/catalogtest"
)

func TestWhereTheDatabasesAre(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		config string
		vars   map[string]string
		want   string // below the home
	}{
		{"by default", "", nil, ".codex"},
		{"by the configuration, relative to its folder", `sqlite_home = "db"`, map[string]string{"CODEX_SQLITE_HOME": "other"}, ".codex/db"},
		{"by the configuration, in the home", `sqlite_home = '~/db'`, nil, "db"},
		{"by the environment, relative to the directory", "", map[string]string{"CODEX_SQLITE_HOME": " other "}, "other"},
		{"by a table of another name", "[x]\nsqlite_home = \"db\"", nil, ".codex"},
		{"by a configuration that is no text", "sqlite_home = 7", nil, ".codex"},
		{"by a damaged configuration", "sqlite_home = \"db", nil, ".codex"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := catalogtest.NewEnv(t)
			env.Vars = tt.vars
			if tt.config != "" {
				catalogtest.Put(t, env, ".codex/config.toml", tt.config, 0)
			}
			got := codex.New().Launch(env, &catalog.Session{ID: "a"})
			want := catalog.Launch{
				Args: []string{"resume", "a"},
				Env:  map[string]string{"CODEX_SQLITE_HOME": filepath.Join(env.Home, filepath.FromSlash(tt.want))},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Launch (-want +got):\n%s", diff)
			}
		})
	}
}

// search returns what is found in a store, and by default.
func search(t *testing.T, env catalog.Env, all bool) *catalog.SearchResult {
	t.Helper()
	c, err := catalog.New([]catalog.Reader{codex.New()}, &catalog.Options{Env: &env})
	if err != nil {
		t.Fatal(err)
	}
	found, err := c.Search(t.Context(), catalog.SearchRequest{IncludeSummaries: true, IncludeNonInteractive: all, IncludeArchived: all, Details: true})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestDamagedConfigurationCostsNoSession(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	want := writeStore(t, env)
	catalogtest.Put(t, env, ".codex/config.toml", "[[", 0)
	found := search(t, env, true)
	if len(found.Sessions) != len(want) {
		t.Errorf("found %d sessions, want %d", len(found.Sessions), len(want))
	}
	if len(found.Warnings) != 1 || found.Warnings[0].Code != string(catalog.Corrupt) {
		t.Errorf("warnings = %v, want one of %q", found.Warnings, catalog.Corrupt)
	}
}

func TestHeadlessSessionThatAPersonTypedInto(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	writeStore(t, env)
	catalogtest.Put(t, env, ".codex/history.jsonl", `{"session_id":"`+headlessID+`","ts":1788264000,"text":"typed"}`+"\n", 0)
	for _, s := range search(t, env, false).Sessions {
		if s.SessionID == headlessID {
			return
		}
	}
	t.Errorf("session %q is not listed by default", headlessID)
}

func TestRolloutWithoutItsFirstLine(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	s := &script{id: typedID, cwd: "/work/app", at: catalogtest.Time}
	s.begin(t, nil)
	s.add(t, "turn_context", map[string]any{"cwd": "/work/turn"})
	s.ask(t, "Still here", "Yes.")
	s.lines = s.lines[1:]
	s.lines[0] = `{"torn`
	catalogtest.Put(t, env, ".codex"+day+typedID+".jsonl", s.text(), 0)
	found := search(t, env, false).Sessions
	if len(found) != 1 || found[0].SessionID != typedID || found[0].ProjectPath != "/work/turn" {
		t.Errorf("found %v, want %q in /work/turn", found, typedID)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	writeStore(t, env)
	catalogtest.Put(t, env, ".codex/sessions/rollout-2025-04-01-x.json", `{"session":{}}`, 0)
	catalogtest.Put(t, env, ".codex"+day+"aaaaaaaa-0000-4000-8000-00000000000e.jsonl", `{"type":"session_meta","payload":{"id":"aaaaaaaa-0000-4000-8000-00000000000e"}}`, 0)
	c, err := catalog.New([]catalog.Reader{codex.New()}, &catalog.Options{Env: &env})
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
	want := map[catalog.Reason]int{catalog.Gone: 1, catalog.Unresumable: 1, catalog.NoConversation: 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
}
