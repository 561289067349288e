package cursor_test

import (
	"os"
	"path/filepath"
	"testing"

	"agentd/providers/catalog"
	"agentd/providers/catalog/cursor"
	"agentd/testkit/catalogtest"
)

// FuzzRoot fuzzes the protocol buffer that lists the messages of a chat.
func FuzzRoot(f *testing.F) {
	f.Add([]byte("\x4a\x0efile:///work/a"))
	f.Add([]byte("\x0a\x20" + "0123456789abcdef0123456789abcdef\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, root []byte) {
		env := catalogtest.NewEnv(t)
		c := &chat{id: namedID, cwd: "/work/app", name: "x", root: root}
		c.say(t, "user", "<user_query>q</user_query>")
		catalogtest.PutSQLite(t, env, ".cursor/"+c.folder()+"/store.db", 0, c.statements(t)...)
		cat, err := catalog.New([]catalog.Reader{cursor.New()}, &catalog.Options{Env: &env})
		if err != nil {
			t.Fatal(err)
		}
		found, err := cat.Search(t.Context(), catalog.SearchRequest{})
		if err != nil || found.Total != 1 || len(found.Warnings) > 0 {
			t.Errorf("Search = %v, %v, want the one session", found, err)
		}
	})
}

func FuzzChat(f *testing.F) {
	env := catalogtest.NewEnv(f)
	c := &chat{id: namedID, cwd: "/work/app", name: "x"}
	c.say(f, "user", "<user_query>q</user_query>")
	catalogtest.PutSQLite(f, env, "x.db", 0, c.statements(f)...)
	data, err := os.ReadFile(filepath.Join(env.Home, "x.db"))
	if err != nil {
		f.Fatal(err)
	}
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: cursor.New(), File: ".cursor/" + c.folder() + "/store.db"}, data, data[:len(data)/2])
}

func FuzzTranscript(f *testing.F) {
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: cursor.New(), File: ".cursor/projects/work-app/agent-transcripts/" + namedID + "/subagents/" + logID + ".jsonl"},
		[]byte(`{"role":"user","message":{"content":[{"type":"text","text":"<user_query>q</user_query>"}]}}`), []byte(`{"role":{},"message":[],"content":[{"type":"tool-call","args":7}]}`))
}

func FuzzText(f *testing.F) {
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: cursor.New(), File: ".cursor/projects/work-app/agent-transcripts/" + textID + ".txt"},
		[]byte("user:\n<user_query>\nText\n</user_query>\nassistant:\nA\n"), []byte("User:\r\n<user_query>\xff"))
}
