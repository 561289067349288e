package gemini_test

import (
	"testing"

	"agentd/providers/catalog/gemini"
	"agentd/testkit/catalogtest"
)

func FuzzLines(f *testing.F) {
	s := &script{id: firstID, cwd: "/work/app", at: catalogtest.Time}
	s.begin(f, "main")
	s.say(f, "user", "Hello")
	s.say(f, "gemini", "Hi.")
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: gemini.New(), File: ".gemini/tmp/app/chats/session-x-aaaaaaa1.jsonl"},
		[]byte(s.text()), []byte(s.text()[:250]), []byte(s.lines[0]+"\n"+`{"$rewindTo":"x"}`+"\n"+`{"$set":{"messages":[{"type":"user","content":{"text":7}},3]}}`))
}

func FuzzObject(f *testing.F) {
	s := &script{id: oldID, cwd: "/work/app", at: catalogtest.Time}
	text := s.object(f)
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: gemini.New(), File: ".gemini/tmp/app/chats/session-x-aaaaaaa3.json"},
		[]byte(text), []byte(text[:200]), []byte(`{"sessionId":"a","messages":[{"type":"gemini","toolCalls":[{"name":1,"args":[]}]}]}`))
}

func FuzzIndexes(f *testing.F) {
	s := &script{id: firstID, cwd: "/work/app", at: catalogtest.Time}
	s.begin(f, "main")
	s.say(f, "user", "Hello")
	others := map[string]string{".gemini/tmp/app/chats/session-x-aaaaaaa1.jsonl": s.text(), ".gemini/tmp/app/logs.json": `[{"sessionId":"` + firstID + `","message":"x"}]`}
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: gemini.New(), File: ".gemini/projects.json", Others: others},
		[]byte(`{"projects":{"/work/app":"app"}}`), []byte(`{"projects":{"/a\u0000":"app","/b":7`))
}
