package cursor_test

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/providers/catalog"
	"agentd/providers/catalog/cursor"
	"agentd/testkit/catalogtest"
)

// chat writes a chat's database.
type chat struct {
	id, cwd, name string
	messages      []string
	root          []byte
	nested        bool // the messages stand a level deeper
}

func (c *chat) say(tb testing.TB, role, text string) {
	tb.Helper()
	content, err := json.Marshal(text)
	if err != nil {
		tb.Fatal(err)
	}
	// The order of members is the program's.
	c.messages = append(c.messages, fmt.Sprintf(`{"role":%q,"content":[{"type":"text","text":%s}]}`, role, content))
}

func (c *chat) folder() string {
	sum := md5.Sum([]byte(c.cwd))
	return "chats/" + hex.EncodeToString(sum[:]) + "/" + c.id
}

func insert(data []byte) (id string, statement string) {
	sum := sha256.Sum256(data)
	id = hex.EncodeToString(sum[:])
	return id, fmt.Sprintf("INSERT OR IGNORE INTO blobs VALUES ('%s', x'%s')", id, hex.EncodeToString(data))
}

func (c *chat) statements(tb testing.TB) []string {
	tb.Helper()
	out := []string{"CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)", "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)"}
	var root []byte
	for _, m := range c.messages {
		id, statement := insert([]byte(m))
		sum, err := hex.DecodeString(id)
		if err != nil {
			tb.Fatal(err)
		}
		root = append(append(root, 0x0a, 0x20), sum...)
		out = append(out, statement)
	}
	if c.nested {
		id, statement := insert(root)
		sum, err := hex.DecodeString(id)
		if err != nil {
			tb.Fatal(err)
		}
		root = append([]byte{0x18, 0x01, 0x0a, 0x20}, sum...)
		out = append(out, statement)
	}
	root = append(root, c.root...)
	id, statement := insert(root)
	meta := fmt.Sprintf(`{"agentId":%q,"latestRootBlobId":%q,"name":%q,"createdAt":%d}`, c.id, id, c.name, catalogtest.Time)
	return append(out, statement, fmt.Sprintf("INSERT INTO meta VALUES ('0', '%s')", hex.EncodeToString([]byte(meta))))
}

const (
	namedID  = "aaaaaaaa-0000-4000-8000-000000000001"
	bareID   = "aaaaaaaa-0000-4000-8000-000000000002"
	nestedID = "aaaaaaaa-0000-4000-8000-000000000003"
	childID  = "aaaaaaaa-0000-4000-8000-000000000004"
	textID   = "aaaaaaaa-0000-4000-8000-000000000005"
	emptyID  = "aaaaaaaa-0000-4000-8000-000000000006"
	editorID = "aaaaaaaa-0000-4000-8000-000000000007"
	logID    = "aaaaaaaa-0000-4000-8000-000000000008"
)

// writeStore writes one of each kind of session.
func writeStore(tb testing.TB, env catalog.Env) []catalogtest.Want {
	tb.Helper()
	config, data := ".cursor/", ".cursor/"
	if env.Var("CURSOR_CONFIG_DIR") != "" {
		config, data = "moved/config/", "moved/data/"
	}
	at := catalogtest.Time
	a := &chat{id: namedID, cwd: "/work/app.one", name: "Old name"}
	a.say(tb, "system", "be good")
	a.say(tb, "user", "<user_info>\nWorkspace Path: /work/app.one\n</user_info>\n<user_query>\nFirst question\n</user_query>")
	a.say(tb, "assistant", "The zebra answers.")
	a.say(tb, "user", "<user_query>Last question</user_query>")
	catalogtest.PutSQLite(tb, env, config+a.folder()+"/store.db", at, a.statements(tb)...)
	catalogtest.Put(tb, env, config+a.folder()+"/meta.json", fmt.Sprintf(
		`{"schemaVersion":1,"createdAtMs":%d,"updatedAtMs":%d,"hasConversation":true,"isSubagent":false,"title":"A title","cwd":"/work/app.one"}`, at, at+60_000), 0)

	b := &chat{id: bareID, cwd: "/work/빈 폴더", name: "New Agent"}
	b.say(tb, "user", "<user_info>\nOS: x\nWorkspace Path: /work/빈 폴더\n</user_info>")
	b.say(tb, "user", "Bare question")
	b.say(tb, "assistant", "The giraffe answers.")
	catalogtest.PutSQLite(tb, env, config+b.folder()+"/store.db", at+100_000, b.statements(tb)...)

	uri := "file:///work/app.one"
	c := &chat{id: nestedID, cwd: "/work/app.one", name: "New Agent", nested: true, root: append([]byte{0x4a, byte(len(uri))}, uri...)}
	c.say(tb, "user", "<user_query>\nNested question\n</user_query>")
	c.say(tb, "assistant", "The walrus answers.")
	catalogtest.PutSQLite(tb, env, config+c.folder()+"/store.db", at, c.statements(tb)...)
	catalogtest.Put(tb, env, data+"projects/work-app-one/agent-transcripts/"+nestedID+"/"+nestedID+".jsonl",
		`{"role":"user","message":{"content":[{"type":"text","text":"<user_query>\nNested question\n</user_query>"}]}}`+"\n", at+200_000)

	d := &chat{id: childID, cwd: "/work/app.one", name: "sub"}
	d.say(tb, "user", "<user_query>Child question</user_query>")
	d.say(tb, "assistant", "The badger was spawned.")
	catalogtest.PutSQLite(tb, env, config+d.folder()+"/store.db", at, d.statements(tb)...)
	catalogtest.Put(tb, env, config+d.folder()+"/meta.json", fmt.Sprintf(`{"updatedAtMs":%d,"hasConversation":true,"isSubagent":true,"cwd":"/work/app.one"}`, at+300_000), 0)

	e := &chat{id: emptyID, cwd: "/work/app.one", name: "New Agent"}
	e.say(tb, "system", "be good")
	catalogtest.PutSQLite(tb, env, config+e.folder()+"/store.db", at, e.statements(tb)...)

	transcripts := data + "projects/work-app-one/agent-transcripts/"
	catalogtest.Put(tb, env, transcripts+textID+".txt", "user:\n<user_query>\nText question\n</user_query>\n\nassistant:\nThe ocelot answers.\n", at+400_000)
	catalogtest.Put(tb, env, transcripts+editorID+".jsonl", `{"role":"user","message":{"content":[{"type":"text","text":"In the editor"}]}}`+"\n", at)
	catalogtest.Put(tb, env, transcripts+nestedID+"/subagents/"+logID+".jsonl",
		`{"role":"user","message":{"content":[{"type":"text","text":"Log question"}]}}`+"\n"+`{"role":"assistant","message":{"content":[{"type":"text","text":"The heron answers."}]}}`+"\n", at+500_000)

	return []catalogtest.Want{
		{ID: namedID, Project: "/work/app.one", TimeMS: at + 60_000, Title: "A title", Prompt: "First question", Said: "zebra"},
		{ID: bareID, Project: "/work/빈 폴더", TimeMS: at + 100_000, Prompt: "Bare question", Said: "giraffe"},
		{ID: nestedID, Project: "/work/app.one", TimeMS: at + 200_000, Prompt: "Nested question", Said: "walrus"},
		{ID: childID, Project: "/work/app.one", TimeMS: at + 300_000, Title: "sub", Prompt: "Child question", NonInteractive: true, Relation: catalog.SubAgent, Said: "badger"},
		{ID: textID, Project: "/work/app.one", TimeMS: at + 400_000, Prompt: "Text question", Said: "ocelot"},
		{
			ID: logID, Project: "/work/app.one", TimeMS: at + 500_000, Prompt: "Log question", NonInteractive: true,
			Parent: nestedID, Relation: catalog.SubAgent, Said: "heron",
		},
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	catalogtest.Run(t, catalogtest.Config{
		Reader: cursor.New(), Write: writeStore, Vars: map[string]string{"CURSOR_CONFIG_DIR": "~/moved/config", "CURSOR_DATA_DIR": "~/moved/data"},
	})
}

func TestReport(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	writeStore(t, env)
	c, err := catalog.New([]catalog.Reader{cursor.New()}, &catalog.Options{Env: &env})
	if err != nil {
		t.Fatal(err)
	}
	reports, err := c.Doctor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[catalog.Reason]string{}
	for _, s := range reports[0].Skipped {
		got[s.Reason] = fmt.Sprint(s.Count, " ", filepath.Base(s.Samples[0]))
	}
	if got[catalog.NoConversation] != "1 store.db" || got[catalog.Unresumable] != "1 "+editorID+".jsonl" || len(got) != 2 {
		t.Errorf("skipped = %v, want an empty chat and a transcript of the editor", got)
	}
}

func TestProgram(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	env.Vars["AGF_CURSOR_CLI"] = "agent"
	if got := cursor.New().Launch(env, &catalog.Session{ID: "a"}).Program; got != "agent" {
		t.Errorf("Launch: program = %q, want the configured one", got)
	}
}

// moveChats moves the chats of a store to another folder.
func moveChats(t *testing.T, env catalog.Env, to string) {
	t.Helper()
	to = filepath.Join(env.Home, filepath.FromSlash(to))
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(env.Home, ".cursor", "chats"), to); err != nil {
		t.Fatal(err)
	}
}

func TestChatsElsewhere(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, variable, value, chats string
		want                         int
	}{
		{"by the program's variable", "CURSOR_CONFIG_DIR", "moved", "moved/chats", 3},
		{"by the common variable", "XDG_CONFIG_HOME", "config", "config/cursor/chats", 4},
		{"by the common variable, but not moved", "XDG_CONFIG_HOME", "config", ".cursor/chats", 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := catalogtest.NewEnv(t)
			writeStore(t, env)
			if tt.chats != ".cursor/chats" {
				moveChats(t, env, tt.chats)
			}
			env.Vars[tt.variable] = filepath.Join(env.Home, tt.value)
			c, err := catalog.New([]catalog.Reader{cursor.New()}, &catalog.Options{Env: &env})
			if err != nil {
				t.Fatal(err)
			}
			found, err := c.Search(t.Context(), catalog.SearchRequest{})
			if err != nil || found.Total != tt.want {
				t.Fatalf("Search = %v, %v, want %d sessions", found, err, tt.want)
			}
			plan, err := c.ResumePlan(t.Context(), catalog.PlanRequest{Agent: "cursor", SessionID: namedID})
			if err != nil {
				t.Fatal(err)
			}
			moved := tt.chats != ".cursor/chats"
			if got := plan.Plan.Env[tt.variable]; (got != "") != moved {
				t.Errorf("plan: %s = %q, want it set: %v", tt.variable, got, moved)
			}
		})
	}
}

// What was remembered is not the answer in other surroundings, although every file is where it was and as it was.
func TestCacheInOtherSurroundings(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	writeStore(t, env)
	cache := t.TempDir()
	search := func(vars map[string]string, cacheDir string) *catalog.SearchResult {
		in := env
		in.Vars = vars
		c, err := catalog.New([]catalog.Reader{cursor.New()}, &catalog.Options{Env: &in, CacheDir: cacheDir})
		if err != nil {
			t.Fatal(err)
		}
		found, err := c.Search(t.Context(), catalog.SearchRequest{IncludeNonInteractive: true})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	home := filepath.Join(env.Home, ".cursor")
	for _, vars := range []map[string]string{
		{}, {"CURSOR_CONFIG_DIR": home}, {"CURSOR_CONFIG_DIR": home, "CURSOR_DATA_DIR": home}, {"CURSOR_CONFIG_DIR": home}, {"XDG_CONFIG_HOME": env.Home}, {},
	} {
		if diff := cmp.Diff(search(vars, ""), search(vars, cache)); diff != "" {
			t.Errorf("with %v (-afresh +remembered):\n%s", vars, diff)
		}
	}
}
