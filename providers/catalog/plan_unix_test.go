//go:build unix

package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/providers/catalog"
)

func TestResumePlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake{agent: catalog.Claude})
	project := filepath.Join(w.env.Home, "app")
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	w.put(t, catalog.Claude, "a.json", session("here", project, 0), session("nowhere", "", 0), session("gone", "/gone/app", 0))
	w.write(t, "bin1/claude", "not executable")
	program := w.write(t, "bin2/claude", "#!/bin/sh\nexit 1\n")
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	w.env.Vars["PATH"] = strings.Join([]string{"", filepath.Join(w.env.Home, "bin1"), "bin2"}, string(filepath.ListSeparator))
	c := w.catalog(t, catalog.Options{})
	plan := func(id string, mode *string) *catalog.PlanResult {
		t.Helper()
		p, err := c.ResumePlan(t.Context(), catalog.PlanRequest{Agent: "claude", SessionID: id, Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	want := &catalog.PlanResult{
		Plan: catalog.Plan{
			Agent: catalog.Claude, SessionID: "here", Program: program, Args: []string{"resume", "here", "--fast"}, Env: map[string]string{},
			Cwd: &project, ExecutableFound: true, WorkingDirectoryExists: true,
		},
		RequiresUserAction: true, Warnings: []catalog.Warning{},
	}
	if diff := cmp.Diff(want, plan("here", new("fast"))); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if p := plan("nowhere", nil); p.Plan.Cwd != nil || p.Plan.WorkingDirectoryExists {
		t.Errorf("plan without a project has cwd %v", p.Plan.Cwd)
	}
	p := plan("gone", nil)
	if codes(p.Warnings) != "claude:missing_directory" || !strings.Contains(p.Warnings[0].Message, project) {
		t.Errorf("warnings of a moved project = %v, want its likely place %q", p.Warnings, project)
	}
}

// A project is found by every spelling of its directory, also when the directory does not exist any more and only its parents are links.
func TestProjectThroughLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake{agent: catalog.Claude})
	home := w.env.Home
	for _, dir := range []string{"real/here", "other"} {
		if err := os.MkdirAll(filepath.Join(home, filepath.FromSlash(dir)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(home, "real"), filepath.Join(home, "link")); err != nil {
		t.Fatal(err)
	}
	w.put(t, catalog.Claude, "a.json", session("here", home+"/real/here", 0), session("gone", home+"/real/gone/deep", 1), session("linked", home+"/link/gone/deep", 2))
	c := w.catalog(t, catalog.Options{})
	for project, want := range map[string]string{
		home + "/real/here":         "here",
		home + "/link/here":         "here",
		"link/here/":                "here",
		home + "/real/gone/deep":    "gone linked",
		home + "/link/gone/deep":    "gone linked",
		home + "/link/gone/deep/..": "",
		home + "/other/gone/deep":   "",
		home + "/link":              "",
		"/":                         "",
	} {
		found, err := c.Search(t.Context(), catalog.SearchRequest{Project: &project})
		if err != nil || ids(found) != want {
			t.Errorf("Search(project %q) = %v, %v, want %q", project, found, err, want)
		}
	}
}
