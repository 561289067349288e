package outline_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/outline"
	"agentd/testkit/catalogtest"
)

// reader lists one file and outlines it: lines "<unix ms> <what> <text>".
type reader struct{ path string }

func (reader) Agent() catalog.Agent               { return catalog.Qwen }
func (r reader) Roots(catalog.Env) []catalog.Root { return []catalog.Root{{Path: r.path}} }

func (reader) Modes() []catalog.Mode                               { return []catalog.Mode{{Name: catalog.DefaultMode}} }
func (reader) Launch(catalog.Env, *catalog.Session) catalog.Launch { return catalog.Launch{} }
func (r reader) Discover(_ context.Context, d *catalog.Discovery) error {
	d.Add(catalog.Unit{Path: r.path})
	return nil
}

func (r reader) Parse(_ context.Context, p *catalog.Parsing) error {
	f, err := p.Open(p.Unit.Path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	o := outline.New(p)
	var dir string
	var title outline.Last
	err = o.Read(f, func(line bounded.Line) {
		var at int64
		var what, text string
		if n, _ := fmt.Sscanf(string(line.Data), "%d %s %s", &at, &what, &text); n < 2 {
			return
		}
		o.Time(at)
		switch what {
		case "prompt":
			o.Prompt(text)
		case "reply":
			o.Reply()
		case "dir":
			o.First(&dir, text)
		case "title":
			o.Last(&title, text)
		}
	}, nil)
	if err != nil {
		return err
	}
	s := o.Session()
	s.ID, s.ProjectPath, s.Title = "a", dir, title.Text
	s.Recap = fmt.Sprint(o.Talked(), o.Whole())
	p.Emit(s)
	return nil
}

func TestRead(t *testing.T) {
	t.Parallel()
	const at = catalogtest.Time
	line := func(after int64, rest string) string { return fmt.Sprintf("%d %s\n", at+after, rest) }
	long := strings.Repeat(strings.Repeat("x", 999)+"\n", 4000)
	for _, test := range []struct {
		name, content string
		want          catalog.Session
	}{
		{
			"short", line(1, "title old") + line(2, "dir /a") + line(3, "prompt first") + line(9, "title new") + line(4, "dir /b") + line(5, "prompt last"),
			catalog.Session{ProjectPath: "/a", Title: "new", Prompts: []string{"first", "last"}, TimeMS: at + 9, Recap: "true true", Details: catalog.Details{StartedMS: at + 1}},
		},
		{
			"taken away", line(1, "title old") + line(2, "title"),
			catalog.Session{TimeMS: at + 2, Recap: "false true", Details: catalog.Details{StartedMS: at + 1}},
		},
		{
			"long", line(1, "dir /a") + line(2, "prompt first") + line(3, "title old") + long + line(7, "prompt middle") + line(8, "title new") + line(9, "prompt last") + line(10, "reply"),
			catalog.Session{ProjectPath: "/a", Title: "new", Prompts: []string{"first", "last"}, TimeMS: at + 10, Recap: "true false", Details: catalog.Details{StartedMS: at + 1}},
		},
		{
			"long, and nothing at the end", line(1, "dir /a") + line(2, "prompt first") + line(3, "title old") + long,
			catalog.Session{ProjectPath: "/a", Title: "old", Prompts: []string{"first"}, TimeMS: at + 5000, Recap: "true false", Details: catalog.Details{StartedMS: at + 1}},
		},
		{"no time", "0 reply\n", catalog.Session{TimeMS: at + 5000, Recap: "true true"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			env := catalogtest.NewEnv(t)
			catalogtest.Put(t, env, "a.jsonl", test.content, at+5000)
			c, err := catalog.New([]catalog.Reader{reader{filepath.Join(env.Home, "a.jsonl")}}, &catalog.Options{Env: &env})
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Session(t.Context(), catalog.ShowRequest{Agent: "qwen", SessionID: "a"})
			if err != nil {
				t.Fatal(err)
			}
			test.want.ID, test.want.StoreFile = "a", got.StoreFile
			test.want.ProjectName = got.ProjectName
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Session (-want +got):\n%s", diff)
			}
		})
	}
}

func TestObject(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, content string
		limit         int64
		want          string
		whole         bool
		fault         error
	}{
		{"whole", " {\"a\":1}\n", 100, `{"a":1}`, true, nil},
		{"byte order mark and zeros", "\xef\xbb\xbf{\"a\":1}\x00\x00", 100, `{"a":1}`, true, nil},
		{"cut", `{"a":1,"b`, 100, `{"a":1,"b`, false, nil},
		{"beyond the bound", `{"a":1,"b":2}`, 8, `{"a":1,"`, false, nil},
		{"zeros", "\x00\x00", 100, "", false, bounded.ErrEmpty},
		{"a list", "[1]", 100, "", false, outline.ErrForeign},
		{"a null", "null", 100, "", false, outline.ErrForeign},
		{"noise", "\xff{", 100, "", false, bounded.ErrCorrupt},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "a.json")
			if err := os.WriteFile(path, []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, time.Time{}, time.UnixMilli(catalogtest.Time)); err != nil {
				t.Fatal(err)
			}
			f, err := bounded.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = f.Close() }()
			got, whole, err := outline.Object(f, test.limit)
			if string(got) != test.want || whole != test.whole || !errors.Is(err, test.fault) {
				t.Errorf("Object(%q, %d) = %q, %t, %v, want %q, %t, %v", test.content, test.limit, got, whole, err, test.want, test.whole, test.fault)
			}
		})
	}
}
