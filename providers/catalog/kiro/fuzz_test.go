package kiro_test

import (
	"testing"

	"agentd/providers/catalog"
	"agentd/providers/catalog/kiro"
	"agentd/testkit/catalogtest"
)

func FuzzSession(f *testing.F) {
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{
		Reader: kiro.New(), File: ".kiro/sessions/cli/" + fileID + ".json",
		Others: map[string]string{".kiro/sessions/cli/" + fileID + ".jsonl": `{"kind":"Prompt","data":{"content":[{"kind":"text","data":"q"}]}}` + "\n"},
	},
		[]byte(`{"session_id":"a","cwd":"/work","updated_at":1788264000,"title":"x"}`), []byte(`{"session":{"session":{"id":7}},"metadata":[],"git":3}`))
}

func FuzzLog(f *testing.F) {
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{
		Reader: kiro.New(), File: ".kiro/sessions/cli/" + fileID + ".jsonl",
		Others: map[string]string{".kiro/sessions/cli/" + fileID + ".json": `{"session_id":"a","cwd":"/work","title":"x"}`},
	},
		[]byte(`{"kind":"Prompt","data":{"message_id":"m","content":[{"kind":"text","data":"q"}],"meta":{"timestamp":1788264000}}}`),
		[]byte(`{"kind":"ToolResults","data":{"content":[{"kind":"toolResult","data":{"content":[{"kind":"text","data":"x"}]}}]}}`),
		[]byte(`{"id":"e","timestamp":"2026-09-01T12:00:00Z","payload":{"type":"session_start","content":[{"text":7}],"agentType":"main"}}`))
}

func FuzzConversation(f *testing.F) {
	f.Add(`{"history":[` + turn("q", "a") + `]}`)
	f.Add(`{"history":[{"user":{"content":{"CancelledToolUses":{"prompt":null}}},"assistant":[]}],"messages":7`)
	f.Fuzz(func(t *testing.T, value string) {
		env := catalogtest.NewEnv(t)
		env.OS = "linux"
		catalogtest.PutSQLite(t, env, ".local/share/kiro-cli/data.sqlite3", 0, statements()[:2]...)
		catalogtest.PutSQLite(t, env, ".local/share/kiro-cli/data.sqlite3", 0, row(tableID, "/work/app", value, catalogtest.Time))
		found, err := newCatalog(t, env).Search(t.Context(), catalog.SearchRequest{IncludeSummaries: true})
		if err != nil || found.Total > 1 || len(found.Warnings) > 0 {
			t.Errorf("Search = %v, %v, want at most the one session", found, err)
		}
		if found != nil && found.Total == 1 {
			_, _ = newCatalog(t, env).Read(t.Context(), catalog.ReadRequest{Agent: "kiro", SessionID: tableID}) // An error is an answer.
		}
	})
}
