package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/providers/catalog"
)

func session(id, project string, age int64) catalog.Session {
	return catalog.Session{ID: id, ProjectPath: project, TimeMS: base - age}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake{agent: catalog.Codex}, fake{agent: catalog.Claude})
	branchy := session("branchy1", "/work/web-app", 300)
	branchy.Branch, branchy.Title = "feature/Login", "Café parser"
	tree := session("tree0001", "/work/tree", 400)
	tree.Worktree = "spike-7"
	headless := session("headless", "/work/web-app", 50)
	headless.NonInteractive = true
	archived := session("archived", "/work/web-app", 60)
	archived.Archived = true
	w.put(t, catalog.Claude, "a.json", session("same-b", "/b", 100), session("same-a", "/a", 100), branchy, tree, headless, archived)
	w.put(t, catalog.Codex, "b.json", session("codex001", "/work/parser", 200), session("same-c", "/a", 100))
	c := w.catalog(t, catalog.Options{})
	tests := []struct {
		name string
		req  catalog.SearchRequest
		want string
	}{
		{"all, newest first, ties by agent, project, id", catalog.SearchRequest{}, "same-a same-b same-c codex001 branchy1 tree0001"},
		{"with non-interactive", catalog.SearchRequest{IncludeNonInteractive: true}, "headless same-a same-b same-c codex001 branchy1 tree0001"},
		{"with archived", catalog.SearchRequest{IncludeArchived: true}, "archived same-a same-b same-c codex001 branchy1 tree0001"},
		{"agent", catalog.SearchRequest{Agent: new("Codex CLI")}, "same-c codex001"},
		{"project", catalog.SearchRequest{Project: new("/a/../a/")}, "same-a same-c"},
		{"word of the path", catalog.SearchRequest{Query: "parser"}, "codex001"},
		{"word of the title is not searched by default", catalog.SearchRequest{Query: "cafe"}, ""},
		{"word of the title", catalog.SearchRequest{Query: "cafe", IncludeSummaries: true}, "branchy1"},
		{"an accent matters when it is given", catalog.SearchRequest{Query: "cafè", IncludeSummaries: true}, ""},
		{"all words must match", catalog.SearchRequest{Query: "web login"}, "branchy1"},
		{"no such words", catalog.SearchRequest{Query: "web zzz"}, ""},
		{"start of an id", catalog.SearchRequest{Query: "CODEX0"}, "codex001"},
		{"start of an id is too short", catalog.SearchRequest{Query: "sam"}, ""},
		{"agent as a word", catalog.SearchRequest{Query: "claude-code"}, "same-a same-b branchy1 tree0001"},
		{"worktree", catalog.SearchRequest{Query: "spike"}, "tree0001"},
		{"agent filter", catalog.SearchRequest{Query: "agent:codex"}, "same-c codex001"},
		{"branch filter", catalog.SearchRequest{Query: "branch:login"}, "branchy1"},
		{"since a time", catalog.SearchRequest{Query: "since:2026-09-01T11:59:59.900Z"}, "same-a same-b same-c"},
		{"since an age", catalog.SearchRequest{Query: "since:2d tree"}, "tree0001"},
		{"since a day to come", catalog.SearchRequest{Query: "since:2026-09-02"}, ""},
		{"a filter without sense is a word", catalog.SearchRequest{Query: "since:whenever"}, ""},
		{"page", catalog.SearchRequest{Limit: new(2), Offset: 1}, "same-b same-c"},
		{"past the end", catalog.SearchRequest{Offset: 5000}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := c.Search(t.Context(), tt.req)
			if err != nil {
				t.Fatal(err)
			}
			if ids(got) != tt.want {
				t.Errorf("Search(%+v) = %q, want %q", tt.req, ids(got), tt.want)
			}
		})
	}
}

func TestMisread(t *testing.T) {
	t.Parallel()
	c := newWorld(t, fake{agent: catalog.Claude}).catalog(t, catalog.Options{})
	for query, want := range map[string]string{
		"":                                   "",
		"words http://host agent since":      "",
		"agent:codex branch:x since:7d":      "",
		"agent:nobody SINCE:soon since:2026": "[agent:nobody SINCE:soon since:2026]",
		"branch: agent:":                     "[branch: agent:]",
	} {
		got := ""
		if words := c.Misread(query); words != nil {
			got = fmt.Sprint(words)
		}
		if got != want {
			t.Errorf("Misread(%q) = %q, want %q", query, got, want)
		}
	}
}

func TestPaging(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake{agent: catalog.Claude})
	var all []catalog.Session
	for i := range 5 {
		all = append(all, session(fmt.Sprintf("session-%d", i), "/p", int64(i)))
	}
	w.put(t, catalog.Claude, "a.json", all...)
	c := w.catalog(t, catalog.Options{})
	var got []string
	offset := 0
	for {
		page, err := c.Search(t.Context(), catalog.SearchRequest{Limit: new(2), Offset: offset})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(ids(page), " of ", page.Total))
		if page.NextOffset == nil {
			break
		}
		offset = *page.NextOffset
	}
	want := []string{"session-0 session-1 of 5", "session-2 session-3 of 5", "session-4 of 5"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake{agent: catalog.Claude}, fake{agent: catalog.Codex})
	w.put(t, catalog.Claude, "a.json", session("s", "/p", 0), session("twin", "/p", 0), session("twin", "/q", 0))
	open := w.catalog(t, catalog.Options{})
	scoped := w.catalog(t, catalog.Options{Agent: "claude", Project: "/p"})
	search := func(c *catalog.Catalog, r catalog.SearchRequest) error {
		_, err := c.Search(t.Context(), r)
		return err
	}
	show := func(c *catalog.Catalog, r catalog.ShowRequest) error {
		_, err := c.Show(t.Context(), r)
		return err
	}
	plan := func(c *catalog.Catalog, r catalog.PlanRequest) error {
		_, err := c.ResumePlan(t.Context(), r)
		return err
	}
	long := strings.Repeat("x", 5000)
	tests := []struct {
		name string
		err  error
		want catalog.Code
	}{
		{"limit 0", search(open, catalog.SearchRequest{Limit: new(0)}), catalog.InvalidRequest},
		{"limit 201", search(open, catalog.SearchRequest{Limit: new(201)}), catalog.InvalidRequest},
		{"offset", search(open, catalog.SearchRequest{Offset: 1_000_001}), catalog.InvalidRequest},
		{"negative offset", search(open, catalog.SearchRequest{Offset: -1}), catalog.InvalidRequest},
		{"query", search(open, catalog.SearchRequest{Query: long}), catalog.InvalidRequest},
		{"agent", search(open, catalog.SearchRequest{Agent: new("nosuch")}), catalog.InvalidAgent},
		{"empty agent", search(open, catalog.SearchRequest{Agent: new("")}), catalog.InvalidAgent},
		{"agent without a reader", search(open, catalog.SearchRequest{Agent: new("pi")}), catalog.InvalidAgent},
		{"long agent", search(open, catalog.SearchRequest{Agent: &long}), catalog.InvalidAgent},
		{"empty project", search(open, catalog.SearchRequest{Project: new("")}), catalog.InvalidRequest},
		{"long project", search(open, catalog.SearchRequest{Project: &long}), catalog.InvalidRequest},
		{"project with NUL", search(open, catalog.SearchRequest{Project: new("/a\x00b")}), catalog.InvalidRequest},
		{"project that is not UTF-8", search(open, catalog.SearchRequest{Project: new("/a\xff")}), catalog.InvalidRequest},
		{"another agent", search(scoped, catalog.SearchRequest{Agent: new("codex")}), catalog.OutOfScope},
		{"another project", search(scoped, catalog.SearchRequest{Project: new("/q")}), catalog.OutOfScope},
		{"the same scope", search(scoped, catalog.SearchRequest{Agent: new("claude"), Project: new("/p")}), ""},
		{"empty id", show(open, catalog.ShowRequest{Agent: "claude"}), catalog.InvalidRequest},
		{"id like a flag", show(open, catalog.ShowRequest{Agent: "claude", SessionID: "-rf"}), catalog.InvalidRequest},
		{"id with a control character", show(open, catalog.ShowRequest{Agent: "claude", SessionID: "a\u0085b"}), catalog.InvalidRequest},
		{"long id", show(open, catalog.ShowRequest{Agent: "claude", SessionID: long}), catalog.InvalidRequest},
		{"no such id", show(open, catalog.ShowRequest{Agent: "claude", SessionID: "nosuch"}), catalog.NotFound},
		{"no agent", show(open, catalog.ShowRequest{SessionID: "s"}), catalog.InvalidAgent},
		{"two of one id", show(open, catalog.ShowRequest{Agent: "claude", SessionID: "twin"}), catalog.AmbiguousSession},
		{"two of one id, one project", show(open, catalog.ShowRequest{Agent: "claude", SessionID: "twin", Project: new("/q")}), ""},
		{"two of one id, scope", show(scoped, catalog.ShowRequest{Agent: "claude", SessionID: "twin"}), ""},
		{"no such mode", plan(open, catalog.PlanRequest{Agent: "claude", SessionID: "s", Mode: new("nosuch")}), catalog.InvalidResumePlan},
		{"long mode", plan(open, catalog.PlanRequest{Agent: "claude", SessionID: "s", Mode: &long}), catalog.InvalidRequest},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := code(tt.err); got != tt.want {
				t.Errorf("code = %q (%v), want %q", got, tt.err, tt.want)
			}
		})
	}
}

func TestLosses(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	good := fake{agent: catalog.Claude}
	tests := []struct {
		name    string
		readers []catalog.Reader
		files   map[string]string
		agent   *string
		want    string // ids | warnings | code
	}{
		{"a damaged file", []catalog.Reader{good}, map[string]string{"claude/x.json": "{"}, nil, "s | claude:corrupt | "},
		{"an empty file", []catalog.Reader{good}, map[string]string{"claude/x.json": ""}, nil, "s |  | "},
		{"unusable ids and paths", []catalog.Reader{good}, map[string]string{"claude/x.json": `[{"ID":"-x"},{"ID":""},{"ID":"a\nb"},{"ID":"ok","ProjectPath":"` + strings.Repeat("p", 5000) + `"}]`}, nil, "s | claude:invalid_metadata | "},
		{"one of two stores", []catalog.Reader{good, fake{agent: catalog.Codex, fail: boom}}, nil, nil, "s | codex:scan_failed | "},
		{"the selected store", []catalog.Reader{good, fake{agent: catalog.Codex, fail: boom}}, nil, new("codex"), " |  | scan_failed"},
		{"all stores", []catalog.Reader{fake{agent: catalog.Codex, fail: boom}}, nil, nil, " |  | scan_failed"},
		{"a panic", []catalog.Reader{good, fake{agent: catalog.Codex, panics: true}}, map[string]string{"codex/x.json": "[]"}, nil, "s | codex:reader_fault | "},
		{"the only database", []catalog.Reader{fake{agent: catalog.Codex, store: true}}, map[string]string{"codex/x.json": "{"}, new("codex"), " |  | scan_failed"},
		{"one of two databases", []catalog.Reader{fake{agent: catalog.Codex, store: true}}, map[string]string{"codex/x.json": "{", "codex/y.json": `[{"ID":"y"}]`}, new("codex"), "y | codex:corrupt | "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tt.readers...)
			w.put(t, catalog.Claude, "good.json", session("s", "/p", 0))
			for rel, content := range tt.files {
				w.write(t, rel, content)
			}
			found, err := w.catalog(t, catalog.Options{}).Search(t.Context(), catalog.SearchRequest{Agent: tt.agent})
			if err != nil {
				found = &catalog.SearchResult{}
			}
			if got := fmt.Sprintf("%s | %s | %s", ids(found), codes(found.Warnings), code(err)); got != tt.want {
				t.Errorf("Search = %q (%v), want %q", got, err, tt.want)
			}
		})
	}
}

func TestUnion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake{agent: catalog.Claude})
	old := session("s", "/p", 100)
	old.Title, old.Branch, old.StartedMS = "old title", "main", base-500
	fresh := session("s", "/p", 0)
	fresh.NonInteractive, fresh.Branch = true, "next"
	stub := session("s", "", 50)
	stub.Recap = "recap"
	w.put(t, catalog.Claude, "1.json", old)
	w.put(t, catalog.Claude, "2.json", fresh)
	w.put(t, catalog.Claude, "3.json", stub)
	w.put(t, catalog.Claude, "4.json", session("s", "/elsewhere", 10))
	found, err := w.catalog(t, catalog.Options{}).Search(t.Context(), catalog.SearchRequest{IncludeSummaries: true})
	if err != nil {
		t.Fatal(err)
	}
	if ids(found) != "s s s" {
		t.Fatalf("Search = %q, want the three of two projects and one unknown project", ids(found))
	}
	first := found.Sessions[0]
	if *first.GitBranch != "next" || first.Summaries[0] != "old title" || !first.Interactive {
		t.Errorf("joined session = %+v, want the newer branch, the older title, and interactive", first)
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	var parsed atomic.Int32
	reader := fake{agent: catalog.Claude, parsed: func(string) { parsed.Add(1) }}
	w := newWorld(t, reader)
	path := w.put(t, catalog.Claude, "a.json", session("s", "/p", 0))
	future := session("future", "/p", -10*24*3600*1000)
	w.put(t, catalog.Claude, "b.json", future)
	cache := filepath.Join(w.env.Home, "cache")
	look := func(c *catalog.Catalog) string {
		t.Helper()
		found, err := c.Search(t.Context(), catalog.SearchRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(ids(found), " after ", parsed.Swap(0))
	}
	c := w.catalog(t, catalog.Options{CacheDir: cache})
	steps := []struct {
		name string
		do   func() string
		want string
	}{
		{"first", func() string { return look(c) }, "s future after 2"},
		{"again, but what lies in the future", func() string { return look(c) }, "s future after 1"},
		{"from the cache", func() string { return look(w.catalog(t, catalog.Options{CacheDir: cache})) }, "s future after 1"},
		{"another version", func() string { return look(w.catalog(t, catalog.Options{CacheDir: cache, Version: "9"})) }, "s future after 2"},
		{"no cache", func() string { return look(w.catalog(t, catalog.Options{})) }, "s future after 2"},
		{"changed", func() string { w.put(t, catalog.Claude, "a.json", session("longer", "/p", 0)); return look(c) }, "longer future after 2"},
		{"gone", func() string { _ = os.Remove(path); return look(c) }, "future after 1"},
	}
	for _, s := range steps {
		if got := s.do(); got != s.want {
			t.Errorf("%s: %q, want %q", s.name, got, s.want)
		}
	}
	if err := os.WriteFile(filepath.Join(cache, "heads-claude.bin"), []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := look(w.catalog(t, catalog.Options{CacheDir: cache})), "future after 1"; got != want {
		t.Errorf("damaged cache: %q, want %q", got, want)
	}
}

func TestNothingIsWrittenWithoutACache(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake{agent: catalog.Claude})
	w.put(t, catalog.Claude, "a.json", session("s", "/p", 0))
	if _, err := w.catalog(t, catalog.Options{}).Search(t.Context(), catalog.SearchRequest{}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(w.env.Home)
	if err != nil || len(entries) != 1 {
		t.Errorf("home holds %v (%v), want the store alone", entries, err)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("nobody waits")
	w := newWorld(t, fake{agent: catalog.Claude, parsed: func(string) { cancel(why) }})
	for i := range 100 {
		w.put(t, catalog.Claude, fmt.Sprintf("%d.json", i), session("s", "/p", 0))
	}
	if _, err := w.catalog(t, catalog.Options{Workers: 1}).Search(ctx, catalog.SearchRequest{}); !errors.Is(err, why) {
		t.Errorf("Search = %v, want %v", err, why)
	}
}

// TestContract pins the names and the nulls of the answers.
func TestContract(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake{agent: catalog.Claude})
	w.put(t, catalog.Claude, "a.json", session("s", "/p/app", 0))
	c := w.catalog(t, catalog.Options{Version: "1.2.3"})
	seal := func(data any, err error) string {
		out, jsonErr := json.Marshal(c.Seal(data, err))
		if jsonErr != nil {
			t.Fatal(jsonErr)
		}
		return string(out)
	}
	found, err := c.Search(t.Context(), catalog.SearchRequest{IncludeSummaries: true})
	const key = `"key":"claude:s","agent":"claude","agent_name":"Claude Code","session_id":"s","project_name":"app","project_path":"/p/app","timestamp_ms":1788264000000,"git_branch":null,"worktree":null,"interactive":true`
	tests := []struct{ name, got, want string }{
		{"search", seal(found, err), `{"schema_version":1,"agf_version":"1.2.3","ok":true,"data":{"sessions":[{` + key + `,"summaries":[],"recap":null}],"total":1,"offset":0,"next_offset":null,"warnings":[]}}`},
	}
	shown, err := c.Show(t.Context(), catalog.ShowRequest{Agent: "claude", SessionID: "s"})
	tests = append(tests, struct{ name, got, want string }{"show", seal(shown, err), `{"schema_version":1,"agf_version":"1.2.3","ok":true,"data":{"session":{` + key + `},"warnings":[]}}`})
	_, err = c.Show(t.Context(), catalog.ShowRequest{Agent: "claude", SessionID: "x"})
	tests = append(tests, struct{ name, got, want string }{"error", seal(nil, err), `{"schema_version":1,"agf_version":"1.2.3","ok":false,"error":{"code":"not_found","message":"session not found within the requested scope"}}`})
	tests = append(tests, struct{ name, got, want string }{"unexpected error", seal(nil, errors.New("secret")), `{"schema_version":1,"agf_version":"1.2.3","ok":false,"error":{"code":"internal_error","message":"the operation ended with an unexpected error; see the diagnostics"}}`})
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
