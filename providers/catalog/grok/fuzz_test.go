package grok_test

import (
	"testing"

	"agentd/providers/catalog/grok"
	"agentd/testkit/catalogtest"
)

const dir = ".grok/sessions/%2Fwork%2Fapp/"

func FuzzSummary(f *testing.F) {
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{
		Reader: grok.New(), File: dir + whole + "/summary.json", Others: map[string]string{dir + whole + "/chat_history.jsonl": chat("Hello", "Hi.")},
	},
		[]byte(`{"info":{"id":"`+whole+`","cwd":"/work/app"},"generated_title":"A","last_active_at":"2026-09-01T12:00:00Z","git_remotes":[{"url":"x"}]}`),
		[]byte(`{"info":[],"session_kind":7,"hidden":"yes","num_chat_messages":1e400}`),
	)
}

func FuzzChat(f *testing.F) {
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: grok.New(), File: dir + whole + "/chat_history.jsonl"},
		[]byte(chat("Hello", "Hi.")),
		[]byte(`{"role":"user","content":"plain"}`+"\n"+`{"type":"assistant","content":[{"type":"text","text":"\ud83d"}],"tool_calls":[{}]}`),
	)
}

func FuzzDirectory(f *testing.F) {
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{
		Reader: grok.New(), File: ".grok/sessions/long/.cwd", Others: map[string]string{".grok/sessions/long/" + whole + "/chat_history.jsonl": chat("Hello", "Hi.")},
	}, []byte("/work/app\n"), []byte("\x00\xff"))
}
