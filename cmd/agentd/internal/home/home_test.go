package home_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agentd/cmd/agentd/internal/home"
	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/jsonfile"
	"agentd/presets"
)

func TestFind(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the system's place differs by system")
	}
	for _, test := range []struct {
		name, asked string
		env         map[string]string
		want        string
		fault       string
	}{
		{"asked for", "/asked", map[string]string{"AGENTD_HOME": "/env"}, "/asked", ""},
		{"variable", "", map[string]string{"AGENTD_HOME": "/env", "XDG_DATA_HOME": "/xdg"}, "/env", ""},
		{"XDG", "", map[string]string{"XDG_DATA_HOME": "/xdg", "HOME": "/home/ann"}, "/xdg/agentd", ""},
		{"a relative XDG does not count", "", map[string]string{"XDG_DATA_HOME": "xdg", "HOME": "/home/ann"}, "/home/ann/.local/share/agentd", ""},
		{"home", "", map[string]string{"HOME": "/home/ann"}, "/home/ann/.local/share/agentd", ""},
		{"nothing is set", "", nil, "", "HOME is not set"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := home.Find(test.asked, func(name string) string { return test.env[name] })
			if got.Path() != test.want || (err == nil) != (test.fault == "") || err != nil && !strings.Contains(err.Error(), test.fault) {
				t.Errorf("Find(%q, %v) = %q, %v, want %q, %q", test.asked, test.env, got, err, test.want, test.fault)
			}
		})
	}
}

// owner is a process that owns a data directory and writes to it.
type owner struct {
	t     *testing.T
	dir   home.Dir
	store *jsonfile.Store
	// last is the number of the last change, by session.
	last    map[messages.SessionID]uint64
	handles map[messages.SessionID]persistence.Handle
}

func own(t *testing.T, dir home.Dir) *owner {
	t.Helper()
	store, err := jsonfile.Open(dir.Path(), nil)
	if err != nil {
		t.Fatal(err)
	}
	o := &owner{t: t, dir: dir, store: store, last: map[messages.SessionID]uint64{}, handles: map[messages.SessionID]persistence.Handle{}}
	t.Cleanup(o.leave)
	return o
}

func (o *owner) leave() {
	if err := o.store.Close(o.t.Context()); err != nil && o.t.Context().Err() == nil {
		o.t.Error(err)
	}
}

func (o *owner) create(id messages.SessionID, agent messages.AgentID, at int64) {
	o.t.Helper()
	handle, err := o.store.Create(o.t.Context(), id)
	if err != nil {
		o.t.Fatal(err)
	}
	o.handles[id] = handle
	o.write(id, at, messages.Created{AgentID: agent, Epoch: handle.Epoch})
}

func (o *owner) write(id messages.SessionID, at int64, change messages.Change) {
	o.t.Helper()
	record, err := messages.EncodeChange(o.last[id]+1, at, change)
	if err != nil {
		o.t.Fatal(err)
	}
	batch := []persistence.Append{{Handle: o.handles[id], ID: record.Seq, After: o.last[id], Records: []messages.Record{record}}}
	if errs := o.store.Commit(o.t.Context(), batch); errs[0] != nil {
		o.t.Fatal(errs[0])
	}
	o.last[id] = record.Seq
}

func (o *owner) say(id messages.SessionID, at int64, text string) {
	o.t.Helper()
	o.write(id, at, messages.ItemAppended{Item: &messages.Item{
		ID: messages.NewItemID(), Type: messages.ItemMessage, Role: messages.RoleUser, Content: text, CreatedAt: at,
	}})
}

func (o *owner) fold(id messages.SessionID, at int64) {
	o.t.Helper()
	if err := o.store.Fold(o.t.Context(), id); err != nil {
		o.t.Fatal(err)
	}
	when := time.Unix(at, 0)
	if err := os.Chtimes(o.dir.Session(id), when, when); err != nil {
		o.t.Fatal(err)
	}
}

func read(t *testing.T, dir home.Dir) *home.Reader {
	t.Helper()
	reader, err := dir.Read()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.Close)
	return reader
}

// files lists everything below a directory with its content.
func files(t *testing.T, dir home.Dir) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir.Path(), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			found[path] = ""
			return err
		}
		text, err := os.ReadFile(path)
		found[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestReadBesideTheOwner(t *testing.T) {
	t.Parallel()
	dir := home.Dir(t.TempDir())
	o := own(t, dir)
	o.create("folded", "a", 100)
	o.say("folded", 101, "one")
	o.fold("folded", 101)
	o.create("journalled", "a", 102)
	o.say("journalled", 103, "two")
	o.say("folded", 104, "three")
	before := files(t, dir)

	reader := read(t, dir)
	listing, err := reader.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ids []messages.SessionID
	for _, head := range listing.Sessions {
		ids = append(ids, head.ID)
	}
	if diff := cmp.Diff([]messages.SessionID{"folded", "journalled"}, ids); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
	doc, err := reader.Document(t.Context(), "folded")
	if err != nil || len(doc.Items) != 2 || doc.Items[1].Content != "three" {
		t.Errorf("Document(folded) = %+v, %v, want both items", doc, err)
	}
	reader.Close()
	if diff := cmp.Diff(before, files(t, dir)); diff != "" {
		t.Errorf("reading changed the directory (-before +after):\n%s", diff)
	}
	o.say("journalled", 105, "the owner goes on")
	if page, err := read(t, dir).Page(t.Context(), "journalled", persistence.PageQuery{}); err != nil || len(page.Items) != 2 {
		t.Errorf("Page = %d items, %v, want what the owner wrote since", len(page.Items), err)
	}
}

func TestReadMakesNothing(t *testing.T) {
	t.Parallel()
	dir := home.Dir(filepath.Join(t.TempDir(), "none"))
	reader := read(t, dir)
	if listing, err := reader.List(t.Context()); err != nil || len(listing.Sessions)+len(listing.Bad) > 0 {
		t.Errorf("List = %v, %v, want nothing", listing, err)
	}
	if _, err := reader.Head(t.Context(), "x"); !errors.Is(err, persistence.ErrNotFound) {
		t.Errorf("Head = %v, want ErrNotFound", err)
	}
	if exists, err := dir.Exists(); exists || err != nil {
		t.Errorf("Exists = %v, %v, want that reading made nothing", exists, err)
	}
}

func TestRunningIsInterruptedWhenNobodyRunsIt(t *testing.T) {
	t.Parallel()
	dir := home.Dir(t.TempDir())
	o := own(t, dir)
	o.create("s", "a", 100)
	o.write("s", 101, messages.TurnStarted{Turn: &messages.Turn{ID: "t", Status: messages.TurnRunning, StartedAt: 101}})
	if head, err := read(t, dir).Head(t.Context(), "s"); err != nil || head.Status != messages.SessionRunning {
		t.Errorf("Head beside the owner = %v, %v, want running", head.Status, err)
	}
	o.leave()
	head, err := read(t, dir).Head(t.Context(), "s")
	if err != nil || head.Status != messages.SessionIdle || head.Turn.Status != messages.TurnInterrupted || head.Turn.Error == "" {
		t.Errorf("Head without an owner = %v, %v, want idle and interrupted", head, err)
	}
}

func TestLatest(t *testing.T) {
	t.Parallel()
	dir := home.Dir(t.TempDir())
	o := own(t, dir)
	for i := range 5 {
		id := messages.SessionID(fmt.Sprintf("a%d", i))
		o.create(id, "a", int64(100+i))
		o.fold(id, int64(100+i))
	}
	o.create("b", "b", 90)
	o.fold("b", 500) // Folded long after its last change.
	latest := func(agent messages.AgentID, want messages.SessionID) {
		t.Helper()
		head, bad, found, err := dir.Latest(t.Context(), o.store, agent)
		if err != nil || len(bad) > 0 || found != (want != "") || head.ID != want {
			t.Errorf("Latest(%q) = %q, %v, %v, %v, want %q", agent, head.ID, bad, found, err, want)
		}
	}
	latest("a", "a4")
	latest("b", "b")
	latest("", "a4")
	latest("c", "")
	o.say("a1", 600, "only in the journal")
	latest("a", "a1")
	if err := os.WriteFile(dir.Session("bad"), []byte("no session"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, bad, found, err := dir.Latest(t.Context(), o.store, "a"); err != nil || !found || len(bad) != 1 || bad[0].ID != "bad" {
		t.Errorf("Latest beside a bad file = %v, %v, %v, want it named", bad, found, err)
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	dir := home.Dir(t.TempDir())
	o := own(t, dir)
	for _, id := range []messages.SessionID{"agt-ses-aaaa1111", "agt-ses-aaaa2222", "agt-ses-bbbb1111", "mine", "mine-too"} {
		o.create(id, "a", 100)
	}
	o.fold("agt-ses-bbbb1111", 100)
	for _, test := range []struct {
		given string
		want  messages.SessionID
		fault string
	}{
		{"agt-ses-aaaa1111", "agt-ses-aaaa1111", ""},
		{"aaaa1", "agt-ses-aaaa1111", ""},
		{"agt-ses-aaaa2", "agt-ses-aaaa2222", ""},
		{"bbbb", "agt-ses-bbbb1111", ""},
		{"mine", "mine", ""},
		{"mine-", "mine-too", ""},
		{"aaaa", "", "short for several"},
		{"agt-ses-", "agt-ses-", ""},
		{"min", "min", ""},
		{"unknown", "unknown", ""},
		{"../x", "", "invalid session id"},
		{"", "", "invalid session id"},
	} {
		got, err := dir.Resolve(o.store, test.given)
		if got != test.want || (err == nil) != (test.fault == "") || err != nil && !strings.Contains(err.Error(), test.fault) {
			t.Errorf("Resolve(%q) = %q, %v, want %q, %q", test.given, got, err, test.want, test.fault)
		}
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	got := home.Shorten([]messages.SessionID{"agt-ses-0123456789ab", "agt-ses-0123456789ff", "agt-ses-ffff00001111", "mine"})
	want := map[messages.SessionID]string{
		"agt-ses-0123456789ab": "0123456789a", "agt-ses-0123456789ff": "0123456789f", "agt-ses-ffff00001111": "ffff0000", "mine": "mine",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Shorten (-want +got):\n%s", diff)
	}
}

func TestSmallFiles(t *testing.T) {
	t.Parallel()
	dir := home.Dir(filepath.Join(t.TempDir(), "data"))
	ctx := t.Context()
	if grants, err := dir.GrantFile().Load(ctx); err != nil || len(grants) > 0 {
		t.Errorf("Load = %v, %v, want no grants", grants, err)
	}
	grants := []presets.Grant{{ID: "grant-1", ToolID: "t", Name: "space_t", Risk: messages.RiskShell, Fingerprint: "f", CreatedAt: 1}}
	if err := dir.GrantFile().Save(ctx, grants); err != nil {
		t.Fatal(err)
	}
	if got, err := dir.GrantFile().Load(ctx); err != nil || !cmp.Equal(grants, got) {
		t.Errorf("Load = %v, %v, want %v", got, err, grants)
	}
	overrides := presets.Overrides{Global: map[string]presets.Override{"shell": presets.OverrideOff}}
	if err := dir.OverrideFile().Save(ctx, overrides); err != nil {
		t.Fatal(err)
	}
	if got, err := dir.OverrideFile().Load(ctx); err != nil || !maps.Equal(overrides.Global, got.Global) {
		t.Errorf("Load = %v, %v, want %v", got, err, overrides)
	}
	for _, broken := range []string{"", "{", `{"schema":"agentd.grants/2"}`} {
		for _, path := range []string{dir.Grants(), dir.Overrides()} {
			if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := dir.GrantFile().Load(ctx); err == nil || !strings.Contains(err.Error(), "grants.json") {
			t.Errorf("Load(%q) = %v, want an error that names the file", broken, err)
		}
		if _, err := dir.OverrideFile().Load(ctx); err == nil || !strings.Contains(err.Error(), "overrides.json") {
			t.Errorf("Load(%q) = %v, want an error that names the file", broken, err)
		}
	}
}
