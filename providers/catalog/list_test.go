package catalog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentd/providers/catalog"
)

// TestList holds that a listing has no largest page, and else is a search.
func TestList(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake{agent: catalog.Claude})
	var all []catalog.Session
	for i := range catalog.MaxPage + 50 {
		all = append(all, catalog.Session{ID: fmt.Sprintf("s%03d", i), ProjectPath: "/work/app", TimeMS: base - int64(i)})
	}
	w.put(t, catalog.Claude, "a.json", all...)
	c := w.catalog(t, catalog.Options{})
	for limit, want := range map[int]int{-1: len(all), 0: len(all), 1: 1, catalog.MaxPage + 1: catalog.MaxPage + 1, 1 << 40: len(all)} {
		found, err := c.List(t.Context(), catalog.SearchRequest{Limit: &limit, Offset: 7})
		if err != nil || len(found.Sessions) != want || found.Total != len(all) || found.Sessions[0].SessionID != "s000" {
			t.Errorf("List(limit %d) = %d sessions of %d, %v, want %d from the first one on", limit, len(found.Sessions), found.Total, err, want)
		}
	}
	if found, err := c.List(t.Context(), catalog.SearchRequest{}); err != nil || len(found.Sessions) != len(all) || found.NextOffset != nil {
		t.Errorf("List() = %d sessions, %v, want all %d", len(found.Sessions), err, len(all))
	}
	if _, err := c.List(t.Context(), catalog.SearchRequest{Query: strings.Repeat("x", catalog.MaxQueryBytes+1)}); code(err) != catalog.InvalidRequest {
		t.Errorf("List(long query) = %v, want invalid_request", err)
	}
}

// TestShowTellsWhereAProjectIs holds that one session's details guess as well as those of a search.
func TestShowTellsWhereAProjectIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake{agent: catalog.Claude})
	now := filepath.Join(w.env.Home, "new", "app")
	if err := os.MkdirAll(now, 0o700); err != nil {
		t.Fatal(err)
	}
	w.put(t, catalog.Claude, "a.json", catalog.Session{ID: "moved", ProjectPath: filepath.Join(w.env.Home, "old", "deep", "app"), TimeMS: base})
	w.put(t, catalog.Claude, "b.json", catalog.Session{ID: "later", ProjectPath: now, TimeMS: base + 1})
	found, err := w.catalog(t, catalog.Options{}).Show(t.Context(), catalog.ShowRequest{Agent: "claude", SessionID: "moved", Details: true})
	if err != nil {
		t.Fatal(err)
	}
	if d := found.Session.Details; d.ProjectExists || d.LikelyProject == nil || *d.LikelyProject != now {
		t.Errorf("Show(details) = %+v, want a missing project that is likely at %q", d, now)
	}
}

// TestSeal holds that an outcome without a catalog has an envelope too.
func TestSeal(t *testing.T) {
	t.Parallel()
	_, err := catalog.New(nil, &catalog.Options{Agent: "nobody"})
	got := catalog.Seal("1.2.3", nil, err)
	if got.OK || got.Error == nil || got.Error.Code != catalog.InvalidAgent || got.Version != "1.2.3" || got.SchemaVersion != catalog.SchemaVersion {
		t.Errorf("Seal(%v) = %+v, want invalid_agent of version 1.2.3", err, got)
	}
	if got := catalog.Seal("", 1, nil); !got.OK || got.Data != 1 || got.Version != catalog.DefaultVersion {
		t.Errorf("Seal(1) = %+v, want data of the default version", got)
	}
}
