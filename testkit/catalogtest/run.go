package catalogtest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/providers/catalog"
)

// Run runs the suite as subtests of t.
func Run(t *testing.T, cfg Config) {
	t.Helper()
	// Not beside the others, because it measures memory. They start when this function returns.
	t.Run("gigabyte file", func(t *testing.T) { testGigabyte(t, cfg) }) //nolint:paralleltest // See above.
	for _, tt := range []struct {
		name string
		run  func(*testing.T, Config)
	}{
		{"finds what is there", testFinds},
		{"moved root", testMoved},
		{"changes nothing", testReadOnly},
		{"databases of a running program", testLogged},
		{"same answer however it is asked", testSame},
		{"changes between two answers", testWarm},
		{"no store", testNoStore},
		{"links", testLinks},
		{"broken files", testBroken},
		{"damaged lines", testDamagedLines},
		{"deleted file", testDeleted},
		{"cancelled", testCancelled},
		{"resume", testResume},
		{"content", testContent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.run(t, cfg)
		})
	}
}

func testFinds(t *testing.T, cfg Config) {
	b := cfg.setup(t, nil)
	b.compare(t, b.search(t, b.catalog(t, 4)))
	found, err := b.catalog(t, 4).Search(t.Context(), everything())
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Warnings) > 0 {
		t.Errorf("a sound store gives warnings: %v", found.Warnings)
	}
}

func testMoved(t *testing.T, cfg Config) {
	if len(cfg.Vars) == 0 {
		return // The store cannot be moved.
	}
	b := cfg.setup(t, cfg.Vars)
	c := b.catalog(t, 4)
	b.compare(t, b.search(t, c))
	plan, err := c.ResumePlan(t.Context(), catalog.PlanRequest{
		Agent: string(cfg.Reader.Agent()), SessionID: b.wants[0].ID, IncludeNonInteractive: true, IncludeArchived: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range cfg.Vars {
		if plan.Plan.Env[name] == "" {
			t.Errorf("the plan's env lacks %s, so a resumed agent would not find the session", name)
		}
	}
	for _, root := range cfg.Reader.Roots(b.env) {
		if root.Var != "" {
			return
		}
	}
	t.Error("no root names the variable that configured it")
}

// compare checks the sessions against the wants, both ways.
func (b *bench) compare(t *testing.T, got map[string]catalog.SessionView) {
	t.Helper()
	want := map[string]bool{}
	for _, w := range b.wants {
		want[w.ID] = true
		s, ok := got[w.ID]
		if !ok {
			t.Errorf("session %q was not found", w.ID)
			continue
		}
		b.compareOne(t, w, s)
	}
	for id := range got {
		if !want[id] {
			t.Errorf("session %q was found and is not in the store", id)
		}
	}
}

func (b *bench) compareOne(t *testing.T, w Want, s catalog.SessionView) {
	t.Helper()
	text := func(p *string) string {
		if p == nil {
			return ""
		}
		return *p
	}
	check := func(field string, same bool, got, want any) {
		t.Helper()
		if !same {
			t.Errorf("session %q: %s = %v, want %v", w.ID, field, got, want)
		}
	}
	var relation catalog.Relation
	if s.Details.Relation != nil {
		relation = *s.Details.Relation
	}
	check("project", s.ProjectPath == w.Project, s.ProjectPath, w.Project)
	check("time", w.TimeMS == 0 || s.TimestampMS == w.TimeMS, s.TimestampMS, w.TimeMS)
	check("branch", text(s.GitBranch) == w.Branch, text(s.GitBranch), w.Branch)
	check("worktree", text(s.Worktree) == w.Worktree, text(s.Worktree), w.Worktree)
	check("interactive", s.Interactive == !w.NonInteractive, s.Interactive, !w.NonInteractive)
	check("archived", s.Details.Archived == w.Archived, s.Details.Archived, w.Archived)
	check("parent", text(s.Details.Parent) == w.Parent, text(s.Details.Parent), w.Parent)
	check("relation", relation == w.Relation, relation, w.Relation)
	check("recap", strings.HasPrefix(text(s.Recap), w.Recap), text(s.Recap), w.Recap)
	check("title", w.Title == "" || (len(s.Summaries) > 0 && s.Summaries[0] == w.Title), s.Summaries, w.Title)
	found := w.Prompt == ""
	for _, summary := range s.Summaries {
		found = found || summary == w.Prompt
	}
	check("prompt", found, s.Summaries, w.Prompt)
	if _, err := os.Stat(s.Details.StoreFile); err != nil {
		t.Errorf("session %q: store file: %v", w.ID, err)
	}
}

func testReadOnly(t *testing.T, cfg Config) {
	b := cfg.setup(t, nil)
	before := b.snapshot(t)
	c := b.catalog(t, 4)
	b.search(t, c)
	agent := string(cfg.Reader.Agent())
	for _, w := range b.wants {
		if _, err := c.Show(t.Context(), catalog.ShowRequest{Agent: agent, SessionID: w.ID, IncludeNonInteractive: true, IncludeArchived: true}); err != nil {
			t.Errorf("Show(%q): %v", w.ID, err)
		}
		if _, err := c.ResumePlan(t.Context(), catalog.PlanRequest{Agent: agent, SessionID: w.ID, IncludeNonInteractive: true, IncludeArchived: true}); err != nil {
			t.Errorf("ResumePlan(%q): %v", w.ID, err)
		}
		if _, ok := cfg.Reader.(catalog.ContentReader); ok {
			if _, err := c.Read(t.Context(), catalog.ReadRequest{Agent: agent, SessionID: w.ID, IncludeNonInteractive: true, IncludeArchived: true}); err != nil {
				t.Errorf("Read(%q): %v", w.ID, err)
			}
		}
	}
	if _, err := c.Capabilities(t.Context(), true); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(before, b.snapshot(t)); diff != "" {
		t.Errorf("reading changed the home (-before +after):\n%s", diff)
	}
}

// testLogged reads databases that stand in their logs alone.
func testLogged(t *testing.T, cfg Config) {
	b := cfg.setup(t, map[string]string{LogVar: "1"})
	before := b.snapshot(t)
	b.compare(t, b.search(t, b.catalog(t, 4)))
	if diff := cmp.Diff(before, b.snapshot(t)); diff != "" {
		t.Errorf("reading changed the home (-before +after):\n%s", diff)
	}
}

func testSame(t *testing.T, cfg Config) {
	b := cfg.setup(t, nil)
	first := b.catalog(t, 1)
	want := asJSON(t, b.search(t, first))
	for name, c := range map[string]*catalog.Catalog{"from memory": first, "eight workers": b.catalog(t, 8)} {
		if diff := cmp.Diff(want, asJSON(t, b.search(t, c))); diff != "" {
			t.Errorf("%s (-first +again):\n%s", name, diff)
		}
	}
	all := b.search(t, first)
	for _, w := range b.wants {
		shown, err := b.catalog(t, 4).Show(t.Context(), catalog.ShowRequest{
			Agent: string(cfg.Reader.Agent()), SessionID: w.ID, IncludeSummaries: true, IncludeNonInteractive: true, IncludeArchived: true, Details: true,
		})
		if err != nil {
			t.Errorf("Show(%q): %v", w.ID, err)
			continue
		}
		// A lookup may read less, and must not be remembered as if it were all.
		looked := b.catalog(t, 4)
		if _, err := looked.Show(t.Context(), catalog.ShowRequest{
			Agent: string(cfg.Reader.Agent()), SessionID: w.ID, IncludeNonInteractive: true, IncludeArchived: true,
		}); err != nil {
			t.Errorf("Show(%q): %v", w.ID, err)
		}
		if diff := cmp.Diff(want, asJSON(t, b.search(t, looked))); diff != "" {
			t.Errorf("a search after a lookup of %q (-first +again):\n%s", w.ID, diff)
		}
		shown.Session.Details.LikelyProject = all[w.ID].Details.LikelyProject // It depends on the other sessions.
		if diff := cmp.Diff(asJSON(t, all[w.ID]), asJSON(t, shown.Session)); diff != "" {
			t.Errorf("session %q (-searched +shown):\n%s", w.ID, diff)
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func testNoStore(t *testing.T, cfg Config) {
	b := &bench{cfg: cfg, env: NewEnv(t)}
	found, err := b.catalog(t, 4).Search(t.Context(), everything())
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Sessions) > 0 || len(found.Warnings) > 0 {
		t.Errorf("an empty home gives sessions %v and warnings %v", found.Sessions, found.Warnings)
	}
	for _, root := range cfg.Reader.Roots(b.env) {
		if root.Path != "" && !filepath.IsAbs(root.Path) {
			t.Errorf("root %q is not absolute", root.Path)
		}
	}
	b.env.Home, b.env.Dir = "", ""
	if _, err := b.catalog(t, 1).Search(t.Context(), everything()); err != nil {
		t.Errorf("without a home: %v", err)
	}
}

func testDeleted(t *testing.T, cfg Config) {
	b := cfg.setup(t, nil)
	c := b.catalog(t, 4)
	for id, s := range b.search(t, c) {
		rel, err := filepath.Rel(b.env.Home, s.Details.StoreFile)
		if err != nil || b.shared(filepath.ToSlash(rel)) {
			continue
		}
		if err := os.Remove(s.Details.StoreFile); err != nil {
			t.Fatal(err)
		}
		if left := b.search(t, c); left[id].SessionID != "" && left[id].Details.StoreFile == s.Details.StoreFile {
			t.Errorf("session %q is found after its file was deleted", id)
		}
		return
	}
}

func testCancelled(t *testing.T, cfg Config) {
	b := cfg.setup(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.catalog(t, 4).Search(ctx, everything()); !errors.Is(err, context.Canceled) {
		t.Errorf("Search with a cancelled context = %v, want %v", err, context.Canceled)
	}
}

func testResume(t *testing.T, cfg Config) {
	b := cfg.setup(t, nil)
	modes := cfg.Reader.Modes()
	if len(modes) == 0 || modes[0].Name != catalog.DefaultMode || len(modes[0].Args) > 0 {
		t.Fatalf("Modes() = %v, want %q without arguments first", modes, catalog.DefaultMode)
	}
	names := map[string]bool{}
	for _, m := range modes {
		if names[m.Name] || m.Name == "" || len(m.Name) > catalog.MaxNameBytes {
			t.Errorf("mode %q is empty, too long or there twice", m.Name)
		}
		names[m.Name] = true
	}
	for _, w := range b.wants {
		plan, err := b.catalog(t, 4).ResumePlan(t.Context(), catalog.PlanRequest{
			Agent: string(cfg.Reader.Agent()), SessionID: w.ID, Mode: &modes[len(modes)-1].Name, IncludeNonInteractive: true, IncludeArchived: true,
		})
		if err != nil {
			t.Errorf("ResumePlan(%q): %v", w.ID, err)
			continue
		}
		if !strings.Contains(strings.Join(plan.Plan.Args, "\x00"), w.ID) {
			t.Errorf("session %q: args %q do not hold the id", w.ID, plan.Plan.Args)
		}
		for name, value := range plan.Plan.Env {
			if !filepath.IsAbs(value) {
				t.Errorf("session %q: env %s = %q, want an absolute path", w.ID, name, value)
			}
		}
	}
}
