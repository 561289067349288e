package readers_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/providers/catalog"
	"agentd/providers/catalog/readers"
	"agentd/testkit/catalogtest"
)

// TestNothingIsTouched asks everything of one home with a store of each agent, its databases as a running program leaves
// them, and compares the home before and after.
func TestNothingIsTouched(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	env.Vars[catalogtest.LogVar] = "1"
	writeHome(t, env)
	before := catalogtest.Snapshot(t, env.Home)
	c, err := catalog.New(readers.All(), &catalog.Options{Env: &env})
	if err != nil {
		t.Fatal(err)
	}
	all := catalog.SearchRequest{Limit: new(catalog.MaxPage), IncludeSummaries: true, IncludeNonInteractive: true, IncludeArchived: true, Details: true}
	found, err := c.Search(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Warnings) > 0 {
		t.Errorf("Search: warnings %v", found.Warnings)
	}
	seen := map[catalog.Agent]bool{}
	for _, s := range found.Sessions {
		seen[s.Agent] = true
		askAll(t, c, s)
	}
	for _, r := range readers.All() {
		if !seen[r.Agent()] {
			t.Errorf("no session of %s was found; writeHome has to write one", r.Agent())
		}
	}
	all.Query, all.Content = "zebra", true
	if found, err = c.Search(t.Context(), all); err != nil || found.Total == 0 {
		t.Errorf("content search = %v, %v, want what the stores say", found, err)
	}
	if _, err := c.Doctor(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := c.Capabilities(t.Context(), true); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(before, catalogtest.Snapshot(t, env.Home)); diff != "" {
		t.Errorf("reading changed the home (-before +after):\n%s", diff)
	}
}

// askAll asks for one session in every way.
func askAll(t *testing.T, c *catalog.Catalog, s catalog.SessionView) {
	t.Helper()
	agent := string(s.Agent)
	if _, err := c.Show(t.Context(), catalog.ShowRequest{Agent: agent, SessionID: s.SessionID, Details: true}); err != nil {
		t.Errorf("Show(%s, %q): %v", agent, s.SessionID, err)
	}
	if _, err := c.ResumePlan(t.Context(), catalog.PlanRequest{Agent: agent, SessionID: s.SessionID}); err != nil {
		t.Errorf("ResumePlan(%s, %q): %v", agent, s.SessionID, err)
	}
	page, err := c.Read(t.Context(), catalog.ReadRequest{Agent: agent, SessionID: s.SessionID})
	if err != nil || !slices.ContainsFunc(page.Records, func(r catalog.RecordView) bool { return r.Role == catalog.User && r.Text == "Ask the zebra" }) {
		t.Errorf("Read(%s, %q) = %v, %v, want the prompt", agent, s.SessionID, page, err)
	}
}

func TestEachAgentHasOneReader(t *testing.T) {
	t.Parallel()
	seen := map[catalog.Agent]bool{}
	for _, r := range readers.All() {
		if seen[r.Agent()] {
			t.Errorf("two readers for %s", r.Agent())
		}
		seen[r.Agent()] = true
		if _, ok := catalog.ParseAgent(string(r.Agent())); !ok {
			t.Errorf("a reader for %q, which is no known agent", r.Agent())
		}
	}
}
