package pi_test

import (
	"testing"

	"agentd/providers/catalog/pi"
	"agentd/testkit/catalogtest"
)

func FuzzTranscript(f *testing.F) {
	s := &script{id: namedID, cwd: "/work/app", at: catalogtest.Time}
	s.begin("")
	s.say(f, "user", "Hello")
	s.say(f, "assistant", "Hi.")
	s.add(f, "session_info", map[string]any{"name": "x"})
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: pi.New(), File: ".pi/agent/sessions/--work-app--/" + s.name()},
		[]byte(s.text()), []byte(s.text()[:150]),
		[]byte(`{"type":"title","title":7}`+"\n"+`{"type":"session","id":"a","parentSession":"_\\"}`+"\n"+`{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","arguments":[]}]}}`))
}

func FuzzSettings(f *testing.F) {
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: pi.New(), File: ".pi/agent/settings.json"}, []byte(`{"sessionDir":"~/x"}`), []byte(`{"sessionDir":"\u0000"}`))
}
