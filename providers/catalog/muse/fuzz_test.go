package muse_test

import (
	"strings"
	"testing"

	"agentd/providers/catalog/muse"
	"agentd/testkit/catalogtest"
)

func FuzzLog(f *testing.F) {
	s := &script{id: namedID, at: catalogtest.Time}
	s.begin("/work/app")
	s.ask("Hello")
	s.reply("Hi.")
	s.add("runtime.session", run(`{"kind":"assistant_tool_calls_committed","tool_calls":[{"name":"bash","args":"{}"}]}`))
	text := strings.Join(s.lines, "\n")
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: muse.New(), File: ".local/share/muse/sessions/2026/09/01/" + namedID + "/session.jsonl"},
		[]byte(text), []byte(text[:300]),
		[]byte(`{"stream":{"kind":"session","id":"`+namedID+`"},"recorded_at":"x","payload":{"children":[{"record_json":"{\"children\":[]}"},7]}}`))
}
