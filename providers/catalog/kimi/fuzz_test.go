package kimi_test

import (
	"testing"

	"agentd/providers/catalog/kimi"
	"agentd/testkit/catalogtest"
)

const dir = ".kimi-code/sessions/wd/session_a/"

func FuzzState(f *testing.F) {
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{
		Reader: kimi.New(), File: dir + "state.json", Others: map[string]string{dir + "agents/main/wire.jsonl": wire(catalogtest.Time, "Hello", "Hi.")},
	},
		[]byte(`{"version":2,"cwd":"/work/app","createdAt":1788264000000,"title":"A","lastPrompt":"B","custom":{"child_session_kind":"child"}}`),
		[]byte(`{"cwd":{},"updatedAt":"soon","custom":[],"archived":1}`),
	)
}

func FuzzWire(f *testing.F) {
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{
		Reader: kimi.New(), File: dir + "agents/main/wire.jsonl", Others: map[string]string{dir + "state.json": `{"cwd":"/work/app","title":"A"}`},
	},
		[]byte(wire(catalogtest.Time, "Hello", "Hi.")),
		[]byte(`{"type":"turn.prompt","input":"x","origin":7}`+"\n"+`{"type":"context.append_loop_event","event":{"type":"tool.result","result":{"output":[{"text":"\ud83d"}]}}}`),
	)
}

func FuzzIndex(f *testing.F) {
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{
		Reader: kimi.New(), File: ".kimi-code/session_index.jsonl", Others: map[string]string{dir + "agents/main/wire.jsonl": wire(catalogtest.Time, "Hello", "Hi.")},
	},
		[]byte(`{"sessionId":"session_a","sessionDir":"/x","workDir":"/work/app"}`+"\n"+`{"sessionId":"session_a","deleted":true}`),
		[]byte(`{"sessionId":"session_a","workDir":"\u0000"}`),
	)
}
