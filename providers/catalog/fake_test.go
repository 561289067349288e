package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake reads files <home>/<agent>/*.json, each a JSON array of sessions.
type fake struct {
	agent   catalog.Agent
	fail    error // of Discover
	panics  bool  // in Parse
	store   bool  // of its units
	parsed  func(path string)
	records []catalog.Record
}

func (f fake) Agent() catalog.Agent { return f.agent }

func (f fake) Roots(env catalog.Env) []catalog.Root {
	return []catalog.Root{{Path: filepath.Join(env.Home, string(f.agent))}}
}

func (f fake) Discover(ctx context.Context, d *catalog.Discovery) error {
	if f.fail != nil {
		return f.fail
	}
	return bounded.Walk(ctx, f.Roots(d.Env)[0].Path, bounded.WalkOptions{}, func(e bounded.Entry) {
		d.Add(catalog.Unit{Path: e.Path, Store: f.store})
	}, d.Fault)
}

func (f fake) Parse(_ context.Context, p *catalog.Parsing) error {
	if f.parsed != nil {
		f.parsed(p.Unit.Path)
	}
	if f.panics {
		panic("a reader's mistake")
	}
	data, err := bounded.ReadAll(p.Unit.Path, 1<<20)
	if err != nil {
		return err
	}
	var all []catalog.Session
	if err := json.Unmarshal(data, &all); err != nil {
		return errors.Join(bounded.ErrCorrupt, err)
	}
	for _, s := range all {
		s.TimeMS = p.Believe(s.TimeMS)
		p.Emit(s)
	}
	return nil
}

func (f fake) Modes() []catalog.Mode {
	return []catalog.Mode{{Name: catalog.DefaultMode}, {Name: "fast", Args: []string{"--fast"}, Unsafe: true}}
}

func (f fake) Launch(_ catalog.Env, s *catalog.Session) catalog.Launch {
	return catalog.Launch{Args: []string{"resume", s.ID}}
}

// talking is a fake whose transcripts can be read.
type talking struct{ fake }

func (f talking) Records(_ context.Context, req catalog.ContentRequest) iter.Seq2[catalog.Record, error] {
	return func(yield func(catalog.Record, error) bool) {
		for i := range f.records {
			if req.NewestFirst {
				i = len(f.records) - 1 - i
			}
			if !yield(f.records[i], nil) {
				return
			}
		}
	}
}

// base is the time of the newest session in most tests.
const base int64 = 1788264000000

// world is a home with fake stores.
type world struct {
	env     catalog.Env
	readers []catalog.Reader
}

func newWorld(t *testing.T, readers ...catalog.Reader) *world {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return time.UnixMilli(base).Add(24 * time.Hour).UTC() }
	return &world{readers: readers, env: catalog.Env{Home: home, Dir: home, OS: runtime.GOOS, Vars: map[string]string{}, Now: now}}
}

// put writes a file of sessions.
func (w *world) put(t *testing.T, agent catalog.Agent, name string, sessions ...catalog.Session) string {
	t.Helper()
	data, err := json.Marshal(sessions)
	if err != nil {
		t.Fatal(err)
	}
	return w.write(t, string(agent)+"/"+name, string(data))
}

func (w *world) write(t *testing.T, rel, content string) string {
	t.Helper()
	path := filepath.Join(w.env.Home, filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	then := time.UnixMilli(base) // What was written a moment ago is read again, because more may follow unseen.
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
	return path
}

func (w *world) catalog(t *testing.T, opts catalog.Options) *catalog.Catalog {
	t.Helper()
	opts.Env = &w.env
	c, err := catalog.New(w.readers, &opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// ids lists what was found.
func ids(r *catalog.SearchResult) string {
	var out []string
	for _, s := range r.Sessions {
		out = append(out, s.SessionID)
	}
	return strings.Join(out, " ")
}

func codes(ws []catalog.Warning) string {
	var out []string
	for _, w := range ws {
		out = append(out, string(w.Agent)+":"+w.Code)
	}
	return strings.Join(out, " ")
}

func code(err error) catalog.Code {
	var e *catalog.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
