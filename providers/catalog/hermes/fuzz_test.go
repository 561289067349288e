package hermes_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"agentd/providers/catalog"
	"agentd/providers/catalog/hermes"
	"agentd/testkit/catalogtest"
)

func FuzzDatabase(f *testing.F) {
	env := catalogtest.NewEnv(f)
	catalogtest.PutSQLite(f, env, "x.db", 0, append(schema(), session(rootID, "title", "'x'"), say(rootID, "user", "q", 1))...)
	data, err := os.ReadFile(filepath.Join(env.Home, "x.db"))
	if err != nil {
		f.Fatal(err)
	}
	rel, err := filepath.Rel(env.Home, hermes.New().Roots(env)[0].Path)
	if err != nil {
		f.Fatal(err)
	}
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: hermes.New(), File: filepath.ToSlash(rel) + "/state.db"}, data, data[:len(data)/2])
}

// FuzzMessage fuzzes what stands in the columns of one message.
func FuzzMessage(f *testing.F) {
	f.Add([]byte("\x00json:[{\"type\":\"text\",\"text\":\"a\"}]"), []byte(`[{"function":{"name":"x","arguments":"{}"}}]`))
	f.Add([]byte("\x01json:{"), []byte(`[[],{"function":[]},7]`))
	f.Fuzz(func(t *testing.T, content, calls []byte) {
		env := catalogtest.NewEnv(t)
		rel, err := filepath.Rel(env.Home, filepath.Join(hermes.New().Roots(env)[0].Path, "state.db"))
		if err != nil {
			t.Fatal(err)
		}
		row := insert("messages", "session_id", "'"+rootID+"'", "role", "'user'", "content", fmt.Sprintf("CAST(x'%x' AS TEXT)", content), "tool_calls", fmt.Sprintf("CAST(x'%x' AS TEXT)", calls), "timestamp", "1")
		catalogtest.PutSQLite(t, env, filepath.ToSlash(rel), 0, append(schema(), session(rootID, "title", "'x'"), row)...)
		s, err := newCatalog(t, env).Session(t.Context(), catalog.ShowRequest{Agent: "hermes", SessionID: rootID})
		if err != nil {
			t.Fatal(err)
		}
		for rec, err := range hermes.New().Records(t.Context(), catalog.ContentRequest{Session: s}) {
			if err != nil || !utf8.ValidString(rec.Text) || len(rec.Text) > catalog.MaxRecordBytes {
				t.Errorf("record %q, %v", rec.Text, err)
			}
		}
	})
}
