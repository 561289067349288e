package catalog

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sampleUnits() []Unit {
	return []Unit{{Path: "/store/a/one.jsonl"}, {Path: "/store/a/two.jsonl", Kind: "k"}, {Path: "/store/b/gone.jsonl"}}
}

func sampleVerdicts() []verdict {
	return []verdict{
		{stamp: stamp{size: 5, modNS: -7, changeNS: 1 << 62, inode: 1<<64 - 1, with: 1 << 63}, known: true},
		{reason: Corrupt, loss: true, part: 99},
		{reason: Gone, absent: true},
	}
}

func sampleSessions() []Session {
	return []Session{{
		ID: "a", ProjectPath: "/project", ProjectName: "c", TimeMS: 1, Title: "d", Prompts: []string{"e", ""}, Recap: "f", Branch: "g", Worktree: "h",
		NonInteractive: true,
		Details:        Details{Parent: "i", Relation: Fork, Archived: true, Repository: "j", StartedMS: -3, StoreFile: "/elsewhere", Ref: "l"},
	}, {ID: "two", ProjectPath: "/project", Details: Details{StoreFile: "/store/a/two.jsonl"}}}
}

func sampleSkips() []Skipped { return []Skipped{{Reason: Corrupt, Count: 3, Samples: []string{"m"}}} }

// sampleShelf returns a shelf, and the store that was packed.
func sampleShelf(tb testing.TB) (*shelf, *store) {
	tb.Helper()
	st := &store{units: sampleUnits(), seen: 2, failed: true, later: skipCounter{Corrupt: &sampleSkips()[0]}}
	var p packer
	parts := packParts([]string{p.part(sampleSessions(), sampleSkips(), st.units[0]), p.part(nil, sampleSkips(), st.units[1]), ""})
	s, err := newShelf(packUnits(st, sampleVerdicts()), packFound(newestFirst(sampleSessions()), st.units), func() (string, error) { return parts, nil })
	if err != nil {
		tb.Fatal(err)
	}
	return s, st
}

// contents unpacks all of a shelf.
type contents struct {
	Seen     int
	Failed   bool
	Skips    []Skipped
	Found    []Session
	Verdicts []verdict
	Parts    []part
}

type part struct {
	Sessions []Session
	Skips    []Skipped
}

// unpackAll follows the units of a store over a shelf.
func unpackAll(s *shelf, units []Unit) contents {
	out := contents{Seen: s.seen, Failed: s.failed, Skips: s.skips}
	for i := range s.len() {
		var one Session
		if s.session(i, units, &one) {
			out.Found = append(out.Found, one)
		}
	}
	parts, _ := s.allParts() // One that is damaged has none.
	follow := newFollower(s)
	for _, u := range units {
		at := follow.find(u)
		if at == (place{}) {
			continue
		}
		out.Verdicts = append(out.Verdicts, s.verdict(at))
		if int(at.number) <= len(parts) {
			var p part
			p.Sessions, p.Skips = unpackPart(parts[at.number-1], u, nil)
			out.Parts = append(out.Parts, p)
		}
	}
	return out
}

func sampleContents() contents {
	return contents{
		Seen: 2, Failed: true, Skips: sampleSkips(), Found: sampleSessions(), Verdicts: sampleVerdicts(),
		Parts: []part{{sampleSessions(), sampleSkips()}, {nil, sampleSkips()}, {}},
	}
}

func compareShelf(t *testing.T, s *shelf, units []Unit) {
	t.Helper()
	if diff := cmp.Diff(sampleContents(), unpackAll(s, units), cmp.AllowUnexported(verdict{}, stamp{})); diff != "" {
		t.Errorf("unpacked (-want +got):\n%s", diff)
	}
}

func TestShelfRoundTrip(t *testing.T) {
	t.Parallel()
	s, st := sampleShelf(t)
	compareShelf(t, s, st.units)
}

// Units are found in any order, and others are not.
func TestFollowingInAnotherOrder(t *testing.T) {
	t.Parallel()
	s, st := sampleShelf(t)
	follow := newFollower(s)
	var got []uint32
	for _, u := range []Unit{st.units[0], {Path: "/store/a/one.jsonl", Kind: "k"}, {Path: "/store/a/new"}, st.units[2], st.units[1], st.units[0]} {
		got = append(got, follow.find(u).number)
	}
	if diff := cmp.Diff([]uint32{1, 0, 0, 3, 2, 1}, got); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}

// cacheOf returns a catalog with a cache that holds the sample, and the path of the file.
func cacheOf(t *testing.T) (*Catalog, shelfKey, string) {
	t.Helper()
	c, err := New(nil, &Options{CacheDir: t.TempDir(), Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	s, _ := sampleShelf(t)
	k := shelfKey{agent: Claude}
	c.saveCache(k, s)
	return c, k, c.cachePath(k)
}

func TestCacheRoundTrip(t *testing.T) {
	t.Parallel()
	c, k, _ := cacheOf(t)
	s := c.loadCache(k)
	if s == nil {
		t.Fatal("the cache was not read")
	}
	compareShelf(t, s, sampleUnits())
	c.opts.Version = "2"
	if c.loadCache(k) != nil {
		t.Error("a cache of another version was read")
	}
}

// A cache file with any byte changed, or cut at any place, is not read, or the parts of it that are read late are not.
func TestDamagedCache(t *testing.T) {
	t.Parallel()
	c, k, path := cacheOf(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sound := func() bool {
		s := c.loadCache(k)
		if s == nil {
			return false
		}
		_, err := s.allParts()
		return err == nil
	}
	write := func(data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x10
		if write(damaged); sound() {
			t.Errorf("a cache with byte %d of %d changed was read", i, len(whole))
		}
		if write(whole[:i]); sound() {
			t.Errorf("a cache cut at byte %d of %d was read", i, len(whole))
		}
	}
	if write(whole); !sound() {
		t.Error("a sound cache was not read")
	}
}

// A cache that is replaced or deleted after its head was read gives no parts that do not belong to the head.
func TestReplacedCache(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(c *Catalog, k shelfKey, path string) error{
		"deleted": func(_ *Catalog, _ shelfKey, path string) error { return os.Remove(path) },
		"replaced": func(c *Catalog, k shelfKey, _ string) error {
			s, _ := sampleShelf(t)
			s.parts = func() (string, error) { return packParts([]string{"", "", ""}), nil }
			c.saveCache(k, s)
			return nil
		},
		"a folder": func(_ *Catalog, _ shelfKey, path string) error {
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o700), os.WriteFile(filepath.Join(path, "x"), nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, k, path := cacheOf(t)
			s := c.loadCache(k)
			if err := replace(c, k, path); err != nil {
				t.Fatal(err)
			}
			if _, err := s.allParts(); err == nil {
				t.Error("parts of another file were read")
			}
		})
	}
}

func FuzzCache(f *testing.F) {
	s, _ := sampleShelf(f)
	parts, err := s.parts()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(s.units), []byte(s.found), []byte(parts))
	f.Add(bytes.Repeat([]byte{0xff}, 40), bytes.Repeat([]byte{0}, 40), bytes.Repeat([]byte{0x7f}, 40))
	f.Fuzz(func(_ *testing.T, units, found, parts []byte) { // The checksums are right, so that what unpacks is tried.
		if s, err := newShelf(string(units), string(found), func() (string, error) { return string(parts), nil }); err == nil {
			unpackAll(s, sampleUnits())
		}
	})
}
