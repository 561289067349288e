package antigravity_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"agentd/providers/catalog"
	"agentd/providers/catalog/antigravity"
	"agentd/testkit/catalogtest"
)

func fuzzDatabase(f *testing.F, rel string, statements []string) {
	f.Helper()
	env := catalogtest.NewEnv(f)
	catalogtest.PutSQLite(f, env, "x.db", 0, statements...)
	data, err := os.ReadFile(filepath.Join(env.Home, "x.db"))
	if err != nil {
		f.Fatal(err)
	}
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: antigravity.New(), File: root + rel}, data, data[:len(data)/2])
}

func FuzzIndex(f *testing.F) {
	fuzzDatabase(f, "conversation_summaries.db", index([]any{indexedID, "t", "p", `["file:///work"]`, sqlTime(catalogtest.Time), "", 0}))
}

func FuzzConversation(f *testing.F) {
	fuzzDatabase(f, "conversations/"+lateID+".db", conversation("/work/late", "", catalogtest.Time, talk("a", "b", catalogtest.Time)...))
}

func FuzzLog(f *testing.F) {
	text := logOf("a", "b", catalogtest.Time)
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{
		Reader: antigravity.New(), File: root + "brain/" + lateID + "/.system_generated/logs/transcript.jsonl",
		Others: map[string]string{root + "conversations/" + lateID + ".db-wal": "x"},
	}, []byte(text), []byte(text[:200]), []byte(`{"type":"USER_INPUT","content":[{"text":"<USER_REQUEST>"}],"tool_calls":{},"created_at":7}`))
}

// FuzzStep fuzzes the protocol buffers of a conversation.
func FuzzStep(f *testing.F) {
	for _, s := range talk("a", "b", catalogtest.Time) {
		f.Add([]byte(s), []byte(bytes(1, "file:///work")+bytes(6, lateID)))
	}
	f.Fuzz(func(t *testing.T, payload, metadata []byte) {
		env := catalogtest.NewEnv(t)
		putConversation(t, env, lateID, append(
			conversation("/work/late", "", catalogtest.Time),
			fmt.Sprintf("UPDATE trajectory_metadata_blob SET data = x'%x'", metadata), fmt.Sprintf("INSERT INTO steps (idx, step_payload) VALUES (0, x'%x')", payload),
		))
		found, err := newCatalog(t, env).Search(t.Context(), catalog.SearchRequest{IncludeNonInteractive: true, Details: true})
		if err != nil || found.Total > 1 {
			t.Fatalf("Search = %v, %v", found, err)
		}
		for _, s := range found.Sessions {
			session := catalog.Session{ID: s.SessionID, Details: catalog.Details{StoreFile: s.Details.StoreFile}}
			for rec, err := range antigravity.New().Records(t.Context(), catalog.ContentRequest{Session: session}) {
				if err != nil || !utf8.ValidString(rec.Text) || len(rec.Text) > catalog.MaxRecordBytes {
					t.Errorf("record %q, %v", rec.Text, err)
				}
			}
		}
	})
}
