package prime_test

import (
	"testing"

	"agentd/providers/catalog/prime"
	"agentd/testkit/catalogtest"
)

func FuzzTranscript(f *testing.F) {
	s := begin(namedID, "/work/app", `,"git":{"branch":"x"}`, catalogtest.Time)
	s.say("user", "Hello")
	s.note("agent_status", `"status":{"summary":"Done","basedOnMessageCount":1}`)
	s.note("session_state", `"state":{"status":"archived"}`)
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: prime.New(), File: ".prime/agent/sessions/" + namedID + ".jsonl"},
		[]byte(s.text()), []byte(s.text()[:200]),
		[]byte(`{"type":"session","id":"a","rlmDepth":"1e999","parentSession":7}`+"\n"+`{"type":"git_state","git":[]}`+"\n"+`{"type":"message","message":{"role":"assistant"}}`+"\n"+`{"type":"agent_status","status":{"basedOnMessageCount":{}}}`))
}

func FuzzSettings(f *testing.F) {
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: prime.New(), File: ".prime/agent/settings.json"}, []byte(`{"sessionDir":"~/x"}`), []byte(`{"sessionDir":"\u0000"}`))
}
