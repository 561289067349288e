package catalogtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/providers/catalog"
)

func testContent(t *testing.T, cfg Config) {
	if _, ok := cfg.Reader.(catalog.ContentReader); !ok {
		return // Transcripts of this store cannot be read.
	}
	b := cfg.setup(t, nil)
	c := b.catalog(t, 4)
	asked := 0
	for _, w := range b.wants {
		if w.Said == "" {
			continue
		}
		asked++
		for _, word := range []string{w.Said, strings.ToUpper(w.Said)} {
			req := everything()
			req.Query, req.Content = word, true
			found, err := c.Search(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if len(found.Sessions) != 1 || found.Sessions[0].SessionID != w.ID {
				t.Errorf("content search for %q found %d sessions, want %q alone", word, len(found.Sessions), w.ID)
				continue
			}
			if m := found.Sessions[0].Matches; len(m) == 0 || !strings.Contains(strings.ToLower(m[0].Snippet), strings.ToLower(w.Said)) {
				t.Errorf("content search for %q: matches %v do not show it", word, m)
			}
		}
		b.bothWays(t, c, w)
	}
	if asked == 0 {
		t.Error("no session of the store says a word to search for: set Want.Said")
	}
}

// bothWays checks that a transcript reads the same in small pages and in one, and that cites are unique.
func (b *bench) bothWays(t *testing.T, c *catalog.Catalog, w Want) {
	t.Helper()
	read := func(budget int) (cites []string) {
		before := ""
		for range 1000 {
			page, err := c.Read(t.Context(), catalog.ReadRequest{
				Agent: string(b.cfg.Reader.Agent()), SessionID: w.ID, Before: before, MaxBytes: budget, IncludeNonInteractive: true, IncludeArchived: true,
			})
			if err != nil {
				t.Fatalf("Read(%q, before %q): %v", w.ID, before, err)
			}
			for _, r := range page.Records {
				cites = append(cites, r.Cite)
			}
			if page.NextBefore == nil {
				return cites
			}
			before = *page.NextBefore
		}
		t.Fatalf("Read(%q) does not end", w.ID)
		return nil
	}
	whole := read(catalog.MaxReadBytes)
	if diff := cmp.Diff(whole, read(1)); diff != "" {
		t.Errorf("session %q (-one page +small pages):\n%s", w.ID, diff)
	}
	sorted := slices.Sorted(slices.Values(whole))
	if len(slices.Compact(sorted)) != len(whole) {
		t.Errorf("session %q: cites %v are not unique", w.ID, whole)
	}
	shown := b.search(t, c)[w.ID]
	var forward []string
	for rec, err := range b.cfg.Reader.(catalog.ContentReader).Records(t.Context(), catalog.ContentRequest{
		Env: b.env, Session: b.session(t, shown),
	}) {
		if err != nil {
			t.Fatal(err)
		}
		forward = append(forward, rec.Cite)
	}
	slices.Reverse(forward)
	if diff := cmp.Diff(whole, forward); diff != "" {
		t.Errorf("session %q (-newest first +oldest first, reversed):\n%s", w.ID, diff)
	}
}

// session finds the reader's own form of a session.
func (b *bench) session(t *testing.T, v catalog.SessionView) catalog.Session {
	t.Helper()
	s, err := b.catalog(t, 1).Session(t.Context(), catalog.ShowRequest{
		Agent: string(b.cfg.Reader.Agent()), SessionID: v.SessionID, IncludeNonInteractive: true, IncludeArchived: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
