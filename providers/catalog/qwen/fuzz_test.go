package qwen_test

import (
	"testing"

	"agentd/providers/catalog/qwen"
	"agentd/testkit/catalogtest"
)

func FuzzTranscript(f *testing.F) {
	s := &script{id: first, cwd: "/work/app", branch: "main", at: catalogtest.Time}
	s.say(f, "user", "Hello", nil)
	s.say(f, "assistant", "Hi.", nil)
	s.system(f, "custom_title", map[string]any{"customTitle": "A title"})
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: qwen.New(), File: ".qwen/projects/-work-app/chats/" + first + ".jsonl"},
		[]byte(s.lines[0]+"\n"+s.lines[1]+"\n"+s.lines[2]),
		[]byte(`{"type":"user","cwd":7,"message":{"parts":[{"functionResponse":{"name":"x","response":"y"}},{"text":"\ud83d"}]}}`),
		[]byte(`{"type":"system","subtype":"session_source","systemPayload":{"sourceType":"agent"}}`+"\n"+s.lines[0][:100]),
	)
}

func FuzzWorktree(f *testing.F) {
	s := &script{id: first, cwd: "/work/app", branch: "main", at: catalogtest.Time}
	s.say(f, "user", "Hello", nil)
	chats := ".qwen/projects/-work-app/chats/"
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{
		Reader: qwen.New(), File: chats + first + ".worktree.json", Others: map[string]string{chats + first + ".jsonl": s.lines[0] + "\n"},
	}, []byte(`{"slug":"spike","worktreePath":"/x"}`), []byte(`{"slug":{},"worktreePath":"\`), []byte("[]"))
}

func FuzzSettings(f *testing.F) {
	s := &script{id: first, cwd: "/work/app", branch: "main", at: catalogtest.Time}
	s.say(f, "user", "Hello", nil)
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{
		Reader: qwen.New(), File: ".qwen/settings.json", Others: map[string]string{".qwen/projects/-work-app/chats/" + first + ".jsonl": s.lines[0] + "\n"},
	}, []byte(`{"advanced":{"runtimeOutputDir":"~/x"}}`), []byte(`{"advanced":{"runtimeOutputDir":"\u0000"}}`))
}
