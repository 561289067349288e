package claude_test

import (
	"testing"

	"agentd/providers/catalog/claude"
	"agentd/testkit/catalogtest"
)

func FuzzTranscript(f *testing.F) {
	s := &script{id: first, cwd: "/work/app", branch: "main", entry: "cli", at: catalogtest.Time}
	s.say(f, "user", "Hello", nil)
	s.say(f, "assistant", "Hi.", nil)
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: claude.New(), File: ".claude/projects/-work-app/" + first + ".jsonl"},
		[]byte(s.lines[0]+"\n"+s.lines[1]+"\n"),
		[]byte(`{"type":"worktree-state","worktreeSession":{"worktreeName":"x"}}`+"\n"+s.lines[0][:200]),
		[]byte(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"a"}]}]}}`),
		[]byte("\x00\x00{\"type\":\"summary\",\"summary\":\"\\ud83d\",\"leafUuid\":\"\\\\\"}\r\n[]"),
	)
}

func FuzzHistory(f *testing.F) {
	s := &script{id: first, cwd: "/work/app", branch: "main", entry: "cli", at: catalogtest.Time}
	s.say(f, "user", "Hello", nil)
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{
		Reader: claude.New(), File: ".claude/history.jsonl",
		Others: map[string]string{".claude/projects/-work-app/" + first + ".jsonl": s.lines[0] + "\n"},
	},
		[]byte(historyOf(first, "/work/app", "Hello")),
		[]byte(`{"display":"[Pasted text #1 +2 lines]","pastedContents":{"1":{"content":"pasted"}},"timestamp":"soon","project":7,"sessionId":"x"}`),
	)
}
