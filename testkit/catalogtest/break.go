package catalogtest

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"agentd/providers/catalog"
)

// breakage is a way to spoil a file.
type breakage struct {
	name  string
	spoil func(path string) error
}

// rewrite changes the content of a file and keeps its time.
func rewrite(change func([]byte) []byte) func(string) error {
	return func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, change(data), 0o600); err != nil {
			return err
		}
		return os.Chtimes(path, time.Time{}, info.ModTime())
	}
}

// replace puts something else in the place of a file.
func replace(make func(path string) error) func(string) error {
	return func(path string) error {
		if err := os.Remove(path); err != nil {
			return err
		}
		return make(path)
	}
}

// breakages lists all ways.
func breakages() []breakage {
	cut := func(part float64) func(string) error {
		return rewrite(func(b []byte) []byte { return b[:int(float64(len(b))*part)] })
	}
	noise := func(b []byte) []byte {
		r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // The noise is to be the same each time.
		b = bytes.Clone(b)
		for range 1 + len(b)/16 {
			b[r.IntN(len(b))] = byte(r.UintN(256))
		}
		return b
	}
	out := []breakage{
		{"empty", rewrite(func([]byte) []byte { return nil })},
		{"cut to a tenth", cut(0.1)},
		{"cut to a half", cut(0.5)},
		{"cut to nine tenths", cut(0.9)},
		{"noise", rewrite(noise)},
		{"garbage", rewrite(func(b []byte) []byte { return bytes.Repeat([]byte{0xff, 0x00, '{', '"', '\n'}, 1+len(b)/5) })},
		{"zeros", rewrite(func(b []byte) []byte { return make([]byte, len(b)+1) })},
		{"other JSON", rewrite(func([]byte) []byte {
			return []byte(`[1,"two",null,{"id":{}},[[]]]` + "\n" + `{"id":7,"sessionId":[],"cwd":{},"timestamp":"soon"}` + "\n")
		})},
		{"nested JSON", rewrite(func([]byte) []byte {
			return []byte(strings.Repeat(`{"a":`, 20000) + strings.Repeat("[", 20000))
		})},
		{"removed", os.Remove},
		{"folder", replace(func(path string) error { return os.MkdirAll(filepath.Join(path, "inner"), 0o700) })},
		{"dangling link", replace(func(path string) error { return os.Symlink(path+".gone", path) })},
		{"link to itself", replace(func(path string) error { return os.Symlink(filepath.Base(path), path) })},
	}
	if runtime.GOOS == "windows" {
		return out[:len(out)-2] // Links need a right that tests rarely have.
	}
	return append(out, breakage{"pipe", replace(makePipe)})
}

func (b *bench) shared(rel string) bool { return b.cfg.Shared != nil && b.cfg.Shared(rel) }

func testBroken(t *testing.T, cfg Config) {
	files := cfg.setup(t, nil).files(t)
	for _, way := range breakages() {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			for _, rel := range files {
				b := cfg.setup(t, nil)
				whole := b.search(t, b.catalog(t, 4))
				if err := way.spoil(filepath.Join(b.env.Home, filepath.FromSlash(rel))); err != nil {
					t.Fatal(err)
				}
				b.survive(t, rel, whole)
			}
		})
	}
}

// survive checks that a broken file cost at most its own sessions.
func (b *bench) survive(t *testing.T, rel string, whole map[string]catalog.SessionView) {
	t.Helper()
	c := b.catalog(t, 4)
	found, err := c.Search(t.Context(), everything())
	if err != nil {
		var e *catalog.Error
		if !errors.As(err, &e) || e.Code != catalog.ScanFailed || !b.shared(rel) {
			t.Errorf("%s broken: Search: %v", rel, err)
		}
		found = &catalog.SearchResult{}
	}
	got := byID(found)
	for id, s := range whole {
		own := s.Details.StoreFile == filepath.Join(b.env.Home, filepath.FromSlash(rel)) || filepath.Dir(s.Details.StoreFile) == filepath.Join(b.env.Home, filepath.Dir(filepath.FromSlash(rel))) && besides(rel, id)
		if _, ok := got[id]; !ok && !own && !b.shared(rel) {
			t.Errorf("%s broken: session %q of another file is lost", rel, id)
		}
	}
	b.noFault(t, c, rel)
}

// besides reports whether a file lies beside a session's file and bears its name: a side file of that session.
func besides(rel, id string) bool { return strings.Contains(rel, id) }

// noFault checks that the reader did not panic.
func (b *bench) noFault(tb testing.TB, c *catalog.Catalog, what string) {
	tb.Helper()
	reports, err := c.Doctor(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	for _, r := range reports {
		if strings.Contains(r.Error, "fault in the reader") {
			tb.Errorf("%s: the reader failed: %s", what, r.Error)
		}
		for _, s := range r.Skipped {
			if s.Reason == catalog.Fault {
				tb.Errorf("%s: the reader failed on %v", what, s.Samples)
			}
		}
	}
}

func testDamagedLines(t *testing.T, cfg Config) {
	ways := []breakage{
		{"byte order mark", rewrite(func(b []byte) []byte { return append([]byte("\xef\xbb\xbf"), b...) })},
		{"CRLF", rewrite(func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")) })},
		{"blank lines", rewrite(func(b []byte) []byte {
			return append([]byte("\n\n  \n"), append(bytes.ReplaceAll(b, []byte("\n"), []byte("\n\n")), " \n"...)...)
		})},
		{"NUL bytes", rewrite(afterFirst("{\"bad\":\"a\x00b\"}\n" + strings.Repeat("\x00", 4096) + "\n"))},
		{"bytes that are not UTF-8", rewrite(afterFirst("{\"note\":\"\xff\xfe\xc3\x28\"}\n"))},
		{"nested line", rewrite(afterFirst(strings.Repeat("[", 10000) + strings.Repeat("]", 10000) + "\n"))},
		{"torn last line", rewrite(func(b []byte) []byte { return append(b, `{"type":"user","timestamp":"2026-09-01T12:3`...) })},
	}
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			b := cfg.setup(t, nil)
			for _, rel := range b.files(t) {
				if strings.HasSuffix(rel, ".jsonl") {
					if err := way.spoil(filepath.Join(b.env.Home, filepath.FromSlash(rel))); err != nil {
						t.Fatal(err)
					}
				}
			}
			c := b.catalog(t, 4)
			b.compare(t, b.search(t, c))
			b.noFault(t, c, way.name)
		})
	}
}

// afterFirst inserts text behind the first line.
func afterFirst(text string) func([]byte) []byte {
	return func(b []byte) []byte { return bytes.Replace(b, []byte("\n"), []byte("\n"+text), 1) }
}

// maxGrowth is what reading a store with a gigabyte file may allocate.
const maxGrowth = 96 << 20

// testGigabyte is about memory, which other tests of the program may take meanwhile, so it takes the least of a few
// tries.
func testGigabyte(t *testing.T, cfg Config) {
	for _, rel := range cfg.setup(t, nil).files(t) {
		b := cfg.setup(t, nil)
		whole := b.search(t, b.catalog(t, 1))
		path := filepath.Join(b.env.Home, filepath.FromSlash(rel))
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, info.Size()+1<<30); err != nil {
			t.Fatal(err)
		}
		least := ^uint64(0)
		for range 5 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			b.survive(t, rel, whole)
			runtime.ReadMemStats(&after)
			if least = min(least, after.TotalAlloc-before.TotalAlloc); least < maxGrowth {
				break
			}
		}
		if least > maxGrowth {
			t.Errorf("%s grown by a gigabyte: reading allocated %d bytes, want at most %d", rel, least, maxGrowth)
		}
	}
}
