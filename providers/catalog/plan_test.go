package catalog_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/providers/catalog"
)

// TestProgramOnWindows checks the rules of Windows on every system: the extension decides.
func TestProgramOnWindows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake{agent: catalog.Claude})
	w.env.OS = "windows"
	w.env.Vars["Path"] = filepath.Join(w.env.Home, "bin")
	w.env.Vars["PATHEXT"] = ".EXE;.cmd"
	w.write(t, "bin/claude", "no extension")
	program := w.write(t, "bin/claude.cmd", "@exit 1")
	got, err := w.catalog(t, catalog.Options{}).Capabilities(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if p := got.Providers[0]; p.Program != program || !p.Installed {
		t.Errorf("program = %q, installed %v, want %q", p.Program, p.Installed, program)
	}
}

func TestDetails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake{agent: catalog.Claude})
	dir := func(rel string) string {
		path := filepath.Join(w.env.Home, filepath.FromSlash(rel))
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	missing := func(rel string) string { return filepath.Join(w.env.Home, filepath.FromSlash(rel)) }
	cloned := session("remote", missing("old/service"), 1)
	cloned.Repository = "https://user:hunter22@example.com/service.git"
	clone := session("clone", dir("new/service-clone"), 2)
	clone.Repository = cloned.Repository
	w.put(t, catalog.Claude, "a.json",
		session("present", dir("code/app"), 0),
		session("same-name", missing("elsewhere/app"), 3),
		session("worktree", missing("code/app/.claude/worktrees/x"), 4),
		cloned, clone,
		session("parent-renamed", missing("before/deep/tool"), 5),
		session("no-trace", "/nowhere/at/all", 6),
	)
	dir("after/deep/tool")
	found, err := w.catalog(t, catalog.Options{}).Search(t.Context(), catalog.SearchRequest{Details: true})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"present": "", "clone": "", "no-trace": "missing", "same-name": missing("code/app"), "worktree": missing("code/app"),
		"remote": missing("new/service-clone"), "parent-renamed": missing("after/deep/tool"),
	}
	got := map[string]string{}
	for _, s := range found.Sessions {
		switch {
		case s.Details.ProjectExists:
			got[s.SessionID] = ""
		case s.Details.LikelyProject == nil:
			got[s.SessionID] = "missing"
		default:
			got[s.SessionID] = *s.Details.LikelyProject
		}
		if r := s.Details.Repository; r != nil && strings.Contains(*r, "hunter22") {
			t.Errorf("details show a password: %s", *r)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("likely places (-want +got):\n%s", diff)
	}
}

func TestContent(t *testing.T) {
	t.Parallel()
	records := []catalog.Record{
		{Role: catalog.User, Text: "Please rotate the token", Cite: "1", TimeMS: base},
		{Role: catalog.Assistant, Text: strings.Repeat("long text ", 200) + "here api_key=abcdef1234567890 is the ROTATED one", Cite: "2"},
		{Role: catalog.Tool, Text: "nothing", Cite: "3"},
	}
	w := newWorld(t, talking{fake{agent: catalog.Claude, records: records}}, fake{agent: catalog.Codex})
	w.put(t, catalog.Claude, "a.json", session("s", "/p", 0))
	w.put(t, catalog.Codex, "b.json", session("silent", "/p", 0))
	c := w.catalog(t, catalog.Options{})
	found, err := c.Search(t.Context(), catalog.SearchRequest{Query: "rotated please", Content: true})
	if err != nil {
		t.Fatal(err)
	}
	if ids(found) != "s" || len(found.Sessions[0].Matches) != 2 {
		t.Fatalf("content search = %q with %v, want s with two places", ids(found), found.Sessions)
	}
	snippet := found.Sessions[0].Matches[1].Snippet
	if strings.Contains(snippet, "abcdef") || !strings.Contains(snippet, "ROTATED") || len(snippet) > catalog.MaxSnippetBytes {
		t.Errorf("snippet = %q, want it short, with the word and without the key", snippet)
	}
	if found, err = c.Search(t.Context(), catalog.SearchRequest{Query: "rotated absent", Content: true}); err != nil || found.Total != 0 {
		t.Errorf("content search for a missing word = %d, %v, want none", found.Total, err)
	}
	page, err := c.Read(t.Context(), catalog.ReadRequest{Agent: "claude", SessionID: "s", MaxBytes: 100})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Records) != 2 || page.Records[0].Cite != "3" || !page.Records[1].Truncated || page.NextBefore == nil || *page.NextBefore != "2" {
		t.Errorf("page = %+v, want records 3 and 2, the latter cut, and more before 2", page)
	}
	if _, err := c.Read(t.Context(), catalog.ReadRequest{Agent: "claude", SessionID: "s", Before: "nosuch"}); code(err) != catalog.InvalidRequest {
		t.Errorf("Read before an unknown cite = %v, want %s", err, catalog.InvalidRequest)
	}
	if _, err := c.Read(t.Context(), catalog.ReadRequest{Agent: "codex", SessionID: "silent"}); code(err) != catalog.InvalidRequest {
		t.Errorf("Read of an unreadable store = %v, want %s", err, catalog.InvalidRequest)
	}
}

// counted is a talking reader that counts the records that were taken from it.
type counted struct {
	talking
	taken *atomic.Int64
}

func (f counted) Records(ctx context.Context, req catalog.ContentRequest) iter.Seq2[catalog.Record, error] {
	return func(yield func(catalog.Record, error) bool) {
		for rec, err := range f.talking.Records(ctx, req) {
			f.taken.Add(1)
			if !yield(rec, err) {
				return
			}
		}
	}
}

// A search of content must not do for all sessions what only those of the page need: a frequent word would cost seconds.
func TestContentCitesOnlyThePage(t *testing.T) {
	t.Parallel()
	const sessions, records = 50, 100
	said := make([]catalog.Record, records)
	for i := range said {
		said[i] = catalog.Record{Role: catalog.User, Text: "a frequent word", Cite: strconv.Itoa(i)}
	}
	var taken atomic.Int64
	w := newWorld(t, counted{talking{fake{agent: catalog.Claude, records: said}}, &taken})
	for i := range sessions {
		name := fmt.Sprintf("s%02d", i)
		w.put(t, catalog.Claude, name+".json", session(name, "/p", 0))
	}
	c := w.catalog(t, catalog.Options{})
	tests := []struct {
		name, query       string
		limit, offset     int
		page, cited, most int
	}{
		{"one of many", "frequent", 1, 0, 1, catalog.MaxMatches, sessions + catalog.MaxMatches},
		{"two words in one record", "frequent word", 2, 0, 2, catalog.MaxMatches, sessions + 2*catalog.MaxMatches},
		{"the last page", "frequent", 10, sessions - 3, 3, catalog.MaxMatches, sessions + 3*catalog.MaxMatches},
		{"behind the end", "frequent", 10, sessions, 0, 0, sessions},
		{"a word that is missing", "frequent absent", 1, 0, 0, 0, sessions * records},
		{"no words", "", 1, 0, 1, 0, 0},
	}
	for _, tt := range tests { // One after the other: they share the count.
		taken.Store(0)
		found, err := c.Search(t.Context(), catalog.SearchRequest{Query: tt.query, Content: true, Limit: &tt.limit, Offset: tt.offset})
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if len(found.Sessions) != tt.page {
			t.Errorf("%s: %d sessions, want %d", tt.name, len(found.Sessions), tt.page)
		}
		for _, s := range found.Sessions {
			if len(s.Matches) != tt.cited {
				t.Errorf("%s: %d places in %s, want %d", tt.name, len(s.Matches), s.SessionID, tt.cited)
			}
		}
		if got := int(taken.Load()); got > tt.most {
			t.Errorf("%s: %d records were looked at, want at most %d", tt.name, got, tt.most)
		}
	}
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake{agent: catalog.Claude})
	w.put(t, catalog.Claude, "a.json", session("s", "/p", 0))
	bad := w.write(t, "claude/b.json", "{")
	got, err := w.catalog(t, catalog.Options{}).Doctor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []catalog.Report{{
		Agent: catalog.Claude, Roots: []catalog.RootReport{{Path: filepath.Dir(bad), Exists: true}}, Seen: 2, Listed: 1,
		Skipped: []catalog.Skipped{{Reason: catalog.Corrupt, Count: 1, Samples: []string{bad}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Doctor (-want +got):\n%s", diff)
	}
}

func TestParseAgent(t *testing.T) {
	t.Parallel()
	seen := map[string]catalog.Agent{}
	for _, info := range catalog.Agents() {
		for _, name := range append(info.Aliases, string(info.ID)) {
			if other, ok := seen[name]; ok {
				t.Errorf("%q names %q and %q", name, other, info.ID)
			}
			seen[name] = info.ID
			if got, ok := catalog.ParseAgent(" " + strings.ToUpper(strings.ReplaceAll(name, "-", "_")) + " "); !ok || got != info.ID {
				t.Errorf("ParseAgent(%q) = %q, %v, want %q", name, got, ok, info.ID)
			}
		}
	}
	if _, ok := catalog.ParseAgent("nosuch"); ok {
		t.Error("ParseAgent takes an unknown name")
	}
}
