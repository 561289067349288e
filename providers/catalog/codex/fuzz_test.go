package codex_test

import (
	"testing"

	"agentd/providers/catalog/codex"
	"agentd/testkit/catalogtest"
)

func FuzzRollout(f *testing.F) {
	s := &script{id: typedID, cwd: "/work/app", at: catalogtest.Time}
	s.begin(f, map[string]any{"base_instructions": nil})
	s.ask(f, "Hello", "Hi.")
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: codex.New(), File: ".codex" + day + typedID + ".jsonl"},
		[]byte(s.text()),
		[]byte(s.text()[:300]),
		[]byte(`{"id":"x","timestamp":"2025-06-01T10:00:00Z"}`+"\n"+`{"type":"message","role":"user","content":"plain"}`),
		[]byte(`{"type":"session_meta","payload":{"id":"a","source":{"subagent":{"thread_spawn":7}},"git":[]}}`+"\n"+`{"type":"response_item","payload":{"type":"function_call","arguments":{}}}`),
	)
}

func FuzzPackedRollout(f *testing.F) {
	s := &script{id: typedID, cwd: "/work/app", at: catalogtest.Time}
	s.begin(f, map[string]any{"base_instructions": nil})
	s.ask(f, "Hello", "Hi.")
	packed := pack(f, s.text())
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: codex.New(), File: ".codex" + day + typedID + ".jsonl.zst"},
		[]byte(packed), []byte(packed[:len(packed)/2]), []byte("\x28\xb5\x2f\xfd"))
}

func FuzzLists(f *testing.F) {
	s := &script{id: typedID, cwd: "/work/app", at: catalogtest.Time}
	s.begin(f, map[string]any{"base_instructions": nil})
	s.ask(f, "Hello", "Hi.")
	others := map[string]string{".codex" + day + typedID + ".jsonl": s.text()}
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: codex.New(), File: ".codex/history.jsonl", Others: others},
		[]byte(`{"session_id":"`+typedID+`","ts":1e99,"text":"x"}`), []byte(`{"session_id":7,"ts":"soon"}`))
}

func FuzzConfig(f *testing.F) {
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: codex.New(), File: ".codex/config.toml"},
		[]byte(`sqlite_home = "~/x"`), []byte(`sqlite_home = ["x"]`), []byte("[a\n"))
}
