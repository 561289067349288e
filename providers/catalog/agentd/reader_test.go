package agentd_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/jsonfile"
	"agentd/providers/catalog"
	"agentd/providers/catalog/agentd"
	"agentd/testkit/catalogtest"
)

const (
	folded  messages.SessionID = "agt-ses-1"
	both    messages.SessionID = "agt-ses-2"
	fresh   messages.SessionID = "agt-ses-3"
	deleted messages.SessionID = "agt-ses-4"
	buried  messages.SessionID = "agt-ses-5"
	silent  messages.SessionID = "agt-ses-6"
)

// start is the time of the first record, in Unix seconds.
const start = catalogtest.Time / 1000

// author writes sessions with agentd's own store.
type author struct {
	store   *jsonfile.Store
	handles map[messages.SessionID]persistence.Handle
	last    map[messages.SessionID]uint64
	appends uint64
}

// write appends changes to a session, one a second.
func (a *author) write(ctx context.Context, id messages.SessionID, after int64, changes ...messages.Change) error {
	var records []messages.Record
	for i, change := range changes {
		rec, err := messages.EncodeChange(a.last[id]+uint64(i)+1, start+after+int64(i), change)
		if err != nil {
			return err
		}
		records = append(records, rec)
	}
	a.appends++
	err := a.store.Commit(ctx, []persistence.Append{{Handle: a.handles[id], ID: a.appends, After: a.last[id], Records: records}})[0]
	a.last[id] += uint64(len(records))
	return err
}

// begin makes a session.
func (a *author) begin(ctx context.Context, id messages.SessionID, after int64, changes ...messages.Change) error {
	h, err := a.store.Create(ctx, id)
	if err != nil {
		return err
	}
	a.handles[id] = h
	return a.write(ctx, id, after, append([]messages.Change{messages.Created{AgentID: "local", Epoch: h.Epoch}}, changes...)...)
}

// turn makes the changes of a turn.
func turn(id, prompt, reply, result string, at int64) []messages.Change {
	item := func(n string, it messages.Item) messages.Change {
		it.ID, it.CreatedAt = messages.ItemID(id+n), start+at
		return messages.ItemAppended{Item: &it}
	}
	draft := messages.Item{ID: messages.ItemID(id + "4"), Type: messages.ItemMessage, Role: messages.RoleAssistant, Content: reply, CreatedAt: start + at}
	return []messages.Change{
		messages.TurnStarted{Turn: &messages.Turn{ID: messages.TurnID(id), Status: messages.TurnRunning}},
		item("1", messages.Item{Type: messages.ItemMessage, Role: messages.RoleUser, Content: prompt}),
		item("2", messages.Item{Type: messages.ItemToolCall, Name: "space_read", Arguments: `{"path":"a"}`, CallID: messages.CallID(id + "c")}),
		item("3", messages.Item{Type: messages.ItemToolResult, Name: "space_read", Output: "files", CallID: messages.CallID(id + "c")}),
		item("4", messages.Item{Type: messages.ItemMessage, Role: messages.RoleAssistant, Content: "Th", StreamStatus: messages.StreamStreaming}),
		messages.ItemUpdated{Item: &draft},
		messages.TurnEnded{Turn: &messages.Turn{ID: messages.TurnID(id), Status: messages.TurnCompleted, Result: result}},
	}
}

// writeData writes a data directory: sessions in snapshots, in the journal, in both, and deleted ones.
func writeData(dir string) error {
	ctx := context.Background()
	a := &author{handles: map[messages.SessionID]persistence.Handle{}, last: map[messages.SessionID]uint64{}}
	var err error
	step := func(do func() error) {
		if err == nil {
			err = do()
		}
	}
	open := func() error {
		var err error
		a.store, err = jsonfile.Open(dir, nil)
		return err
	}
	step(open)
	step(func() error {
		return a.begin(ctx, folded, 0, turn("a", "Fix the parser", "The zebra is fixed.", "It is fixed.", 1)...)
	})
	step(func() error { return a.write(ctx, folded, 100, turn("b", "And the tests", "Done.", "", 100)...) })
	step(func() error {
		return a.begin(ctx, both, 10, turn("c", "Begun long ago", "The giraffe begins.", "Begun.", 11)...)
	})
	step(func() error { return a.begin(ctx, deleted, 20, turn("d", "Deleted prompt", "The newt.", "", 21)...) })
	step(func() error { return a.write(ctx, deleted, 30, messages.Deleted{}) })
	step(func() error { return a.store.Delete(ctx, deleted) })
	step(func() error { return a.store.Close(ctx) })
	step(open)
	step(func() error {
		h, _, err := a.store.Open(ctx, both)
		a.handles[both] = h
		return err
	})
	step(func() error {
		return a.write(ctx, both, 200, append([]messages.Change{messages.Opened{Epoch: a.handles[both].Epoch}}, turn("e", "Gone on", "The walrus goes on.", "Went on.", 201)...)...)
	})
	step(func() error {
		return a.begin(ctx, fresh, 300, turn("f", "New prompt", "The lemur is new.", "", 301)...)
	})
	step(func() error { return a.begin(ctx, buried, 400, turn("g", "Buried prompt", "The toad.", "", 401)...) })
	step(func() error { return a.write(ctx, buried, 410, messages.Deleted{}) })
	step(func() error { return a.begin(ctx, silent, 500) })
	step(func() error {
		done, cancel := context.WithCancel(ctx)
		cancel() // So that nothing is folded.
		_ = a.store.Close(done)
		return nil
	})
	return err
}

// data returns the files of a data directory, by path. It is written once: each write waits for the disk.
var data = sync.OnceValues(func() (map[string]string, error) {
	dir, err := os.MkdirTemp("", "agentd-catalog-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := writeData(dir); err != nil {
		return nil, err
	}
	files := map[string]string{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(content)
		return err
	})
	return files, err
})

// root is where the data directory is, below the home.
func root(tb testing.TB, env catalog.Env) string {
	tb.Helper()
	rel, err := filepath.Rel(env.Home, agentd.New().Roots(env)[0].Path)
	if err != nil {
		tb.Fatal(err)
	}
	return filepath.ToSlash(rel)
}

func writeStore(tb testing.TB, env catalog.Env) []catalogtest.Want {
	tb.Helper()
	files, err := data()
	if err != nil {
		tb.Fatal(err)
	}
	for rel, content := range files {
		// The zeros that the journal is filled with ahead would be copied too often.
		if strings.HasSuffix(rel, ".log") {
			content = strings.TrimRight(content, "\x00") + strings.Repeat("\x00", 4096)
		}
		catalogtest.Put(tb, env, root(tb, env)+"/"+rel, content, catalogtest.Time)
	}
	at := func(seconds int64) int64 { return (start + seconds) * 1000 }
	return []catalogtest.Want{
		{ID: string(folded), TimeMS: at(106), Prompt: "Fix the parser", Said: "zebra"},
		{ID: string(both), TimeMS: at(207), Prompt: "Begun long ago", Recap: "Went on.", Said: "walrus"},
		{ID: string(fresh), TimeMS: at(307), Prompt: "New prompt", Said: "lemur"},
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	catalogtest.Run(t, catalogtest.Config{
		Reader: agentd.New(), Write: writeStore, Vars: map[string]string{"AGENTD_HOME": "~/moved"},
		Shared: func(rel string) bool { return strings.HasSuffix(rel, ".log") },
	})
}

// TestTranscript checks that a transcript holds each item once, in its last state, wherever it lies.
func TestTranscript(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	writeStore(t, env)
	c, err := catalog.New([]catalog.Reader{agentd.New()}, &catalog.Options{Env: &env})
	if err != nil {
		t.Fatal(err)
	}
	page, err := c.Read(t.Context(), catalog.ReadRequest{Agent: "agentd", SessionID: string(both)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range page.Records {
		got = append(got, fmt.Sprintf("%s %s: %s", r.Cite, r.Role, r.Text))
	}
	want := []string{
		"e4 assistant: The walrus goes on.", "e3 tool: space_read\nfiles", `e2 tool: space_read {"path":"a"}`, "e1 user: Gone on",
		"c4 assistant: The giraffe begins.", "c3 tool: space_read\nfiles", `c2 tool: space_read {"path":"a"}`, "c1 user: Begun long ago",
	}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("Read = %q, want %q", got, want)
	}
}

// TestTombstone checks that a tombstone hides a session whose snapshot or records are still there.
func TestTombstone(t *testing.T) {
	t.Parallel()
	for _, id := range []messages.SessionID{folded, both, fresh} {
		t.Run(string(id), func(t *testing.T) {
			t.Parallel()
			env := catalogtest.NewEnv(t)
			writeStore(t, env)
			catalogtest.Put(t, env, root(t, env)+"/agent-sessions/deleted/"+string(id)+".json", "{}\n", 0)
			c, err := catalog.New([]catalog.Reader{agentd.New()}, &catalog.Options{Env: &env})
			if err != nil {
				t.Fatal(err)
			}
			found, err := c.Search(t.Context(), catalog.SearchRequest{})
			if err != nil || found.Total != 2 {
				t.Errorf("Search = %+v, %v, want the two others", found, err)
			}
		})
	}
}

// TestRoots checks that the data directory is looked for where the commands look.
func TestRoots(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, system string
		vars         map[string]string
		want, envar  string
	}{
		{"usual", "linux", nil, ".local/share/agentd", ""},
		{"macOS", "darwin", nil, "Library/Application Support/agentd", ""},
		{"XDG", "darwin", map[string]string{"XDG_DATA_HOME": "/xdg"}, "/xdg/agentd", "XDG_DATA_HOME"},
		{"a relative XDG does not count", "linux", map[string]string{"XDG_DATA_HOME": "xdg"}, ".local/share/agentd", ""},
		{"named", "linux", map[string]string{"AGENTD_HOME": "rel", "XDG_DATA_HOME": "/xdg"}, "rel", "AGENTD_HOME"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			env := catalogtest.NewEnv(t)
			env.OS = test.system
			for k, v := range test.vars {
				env.Vars[k] = v
			}
			if filepath.VolumeName(env.Home) != "" && test.name == "XDG" {
				env.Vars["XDG_DATA_HOME"] = filepath.VolumeName(env.Home) + `\xdg`
			}
			want := test.want
			if strings.HasPrefix(want, "/") {
				want = filepath.VolumeName(env.Home) + filepath.FromSlash(want)
			} else {
				want = filepath.Join(env.Home, filepath.FromSlash(want))
			}
			if got := agentd.New().Roots(env)[0]; got.Path != want || got.Var != test.envar {
				t.Errorf("Roots = %+v, want %q by %q", got, want, test.envar)
			}
		})
	}
}
