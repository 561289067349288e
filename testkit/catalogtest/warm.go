package catalogtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agentd/providers/catalog"
)

// warmSteps is how many changes a store goes through.
const warmSteps = 60

// testWarm changes a store at random, and holds that a catalog that remembers the store, in memory or in a cache file, has the answers of one that sees it for
// the first time.
func testWarm(t *testing.T, cfg Config) {
	b := cfg.setup(t, nil)
	cache := t.TempDir()
	warm := b.catalog(t, 4)
	r := rand.New(rand.NewPCG(7, 11)) //nolint:gosec // The changes are to be the same each time.
	changes := storeChanges()
	done := "nothing"
	for step := range warmSteps {
		want := b.answers(t, b.catalog(t, 1))
		cached, err := catalog.New([]catalog.Reader{cfg.Reader}, &catalog.Options{Env: &b.env, Version: "test", CacheDir: cache})
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]*catalog.Catalog{"in memory": warm, "with a cache": cached} {
			if diff := cmp.Diff(want, b.answers(t, c)); diff != "" {
				t.Fatalf("step %d, after %s, %s (-afresh +remembered):\n%s", step, done, name, diff)
			}
		}
		files := b.files(t)
		if len(files) == 0 {
			return // All are gone.
		}
		change, file := changes[r.IntN(len(changes))], files[r.IntN(len(files))]
		done = change.name + " " + file
		if err := change.spoil(filepath.Join(b.env.Home, filepath.FromSlash(file))); err != nil {
			done += fmt.Sprintf(" (half: %v)", err) // After enough changes some cannot be made; what was made of it is one, too.
		}
	}
}

// answers is all that a catalog says of a store.
func (b *bench) answers(t *testing.T, c *catalog.Catalog) string {
	t.Helper()
	var out bytes.Buffer
	for _, req := range []catalog.SearchRequest{everything(), {IncludeSummaries: true}, {Query: "e", IncludeNonInteractive: true}} {
		found, err := c.Search(t.Context(), req)
		add(t, &out, found, err)
	}
	able, err := c.Capabilities(t.Context(), true)
	add(t, &out, able, err)
	return out.String()
}

func add(t *testing.T, out *bytes.Buffer, answer any, err error) {
	t.Helper()
	data, jsonErr := json.MarshalIndent(answer, "", " ")
	if jsonErr != nil {
		t.Fatal(jsonErr)
	}
	fmt.Fprintf(out, "%s\n%v\n", data, err)
}

// storeChanges lists what programs and people do to the files of a store, and worse.
func storeChanges() []breakage {
	out := []breakage{
		{"appending the last line again to", grow},
		{"touching", func(path string) error { return os.Chtimes(path, time.Time{}, time.Now()) }},
		{"cutting", func(path string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			return os.Truncate(path, info.Size()/2)
		}},
		{"emptying", func(path string) error { return os.Truncate(path, 0) }},
		{"deleting", os.Remove},
		{"renaming", func(path string) error {
			return os.Rename(path, filepath.Join(filepath.Dir(path), "renamed-"+filepath.Base(path)))
		}},
		{"copying, beside it,", func(path string) error {
			return copyFile(path, filepath.Join(filepath.Dir(path), "a-copy-of-"+filepath.Base(path)))
		}},
		{"copying, into a new folder beside its own,", func(path string) error {
			return copyFile(path, filepath.Join(filepath.Dir(path)+"-new", filepath.Base(path)))
		}},
		{"putting a folder in the place of", replace(func(path string) error { return os.MkdirAll(path, 0o700) })},
		{"renaming the folder of", func(path string) error { return os.Rename(filepath.Dir(path), filepath.Dir(path)+"-moved") }},
	}
	if runtime.GOOS == "windows" {
		return out // The system tells no more than size and time, and links need a right that tests rarely have.
	}
	return append(out,
		breakage{"replacing, with the same size and time,", func(path string) error {
			if err := copyFile(path, path+".new"); err != nil {
				return err
			}
			if err := rewrite(twist)(path + ".new"); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		}},
		breakage{"changing, with the same size and time,", func(path string) error {
			<-time.After(25 * time.Millisecond) // In the same tick of the system's clock nobody could see it.
			return rewrite(twist)(path)
		}},
		breakage{"putting a link in the place of", func(path string) error {
			if err := os.Rename(path, path+".target"); err != nil {
				return err
			}
			return os.Symlink(path+".target", path)
		}},
		breakage{"putting a dangling link in the place of", replace(func(path string) error { return os.Symlink(path+".gone", path) })},
	)
}

// grow appends the last line of a file to it.
func grow(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	last := bytes.TrimRight(data, "\n")
	last = last[bytes.LastIndexByte(last, '\n')+1:]
	return os.WriteFile(path, append(append(data, last...), '\n'), 0o600)
}

// copyFile copies a file with its time.
func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		return err
	}
	return os.Chtimes(to, time.Time{}, info.ModTime())
}

// twist changes letters within words, so that a file has the same size and still makes sense, but says something else.
func twist(data []byte) []byte {
	data = bytes.Clone(data)
	for i := range data {
		if data[i] == 'e' && i > 0 && data[i-1] != '\\' {
			data[i] = 'o'
		}
	}
	return data
}
