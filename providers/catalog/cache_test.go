package catalog

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sampleEntry() *memoEntry {
	return &memoEntry{
		stamp: stamp{size: 5, modNS: -7, with: 1 << 63},
		sessions: []Session{{
			ID: "a", ProjectPath: "b", ProjectName: "c", TimeMS: 1, Title: "d", Prompts: []string{"e", ""}, Recap: "f", Branch: "g", Worktree: "h",
			NonInteractive: true,
			Details:        Details{Parent: "i", Relation: Fork, Archived: true, Repository: "j", StartedMS: -3, StoreFile: "k", Ref: "l"},
		}, {ID: "z"}},
		skips: []Skipped{{Reason: Corrupt, Count: 3, Samples: []string{"m"}}},
	}
}

func TestCacheRoundTrip(t *testing.T) {
	t.Parallel()
	e := newEncoder("1")
	e.entry(sampleEntry())
	d, err := newDecoder(e.finish(), "1")
	if err != nil {
		t.Fatal(err)
	}
	got := d.entry()
	if diff := cmp.Diff(sampleEntry(), got, cmp.AllowUnexported(memoEntry{}, stamp{})); diff != "" || d.bad {
		t.Errorf("decoded (-want +got, bad %v):\n%s", d.bad, diff)
	}
}

func TestCacheOfAnotherVersion(t *testing.T) {
	t.Parallel()
	if _, err := newDecoder(newEncoder("1").finish(), "2"); err == nil {
		t.Error("a cache of another version was read")
	}
}

func FuzzCache(f *testing.F) {
	e := newEncoder("1")
	e.entry(sampleEntry())
	head := len(cacheForm) + 2
	f.Add(e.b[head:])
	f.Add(bytes.Repeat([]byte{0xff}, 40))
	f.Fuzz(func(t *testing.T, body []byte) {
		e := newEncoder("1")
		e.b = append(e.b, body...)
		d, err := newDecoder(e.finish(), "1") // The checksum is right, so that the decoder itself is tried.
		if err != nil {
			t.Fatal(err)
		}
		d.entry()
	})
}
