package yolop_test

import (
	"testing"

	"agentd/providers/catalog/yolop"
	"agentd/testkit/catalogtest"
)

const dir = ".local/share/yolop/sessions/" + whole + "/"

func FuzzWorkspace(f *testing.F) {
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{
		Reader: yolop.New(), File: dir + "workspace.json", Others: map[string]string{dir + "events.jsonl": events(whole, catalogtest.Time, "Hello", "Hi.")},
	},
		[]byte(`{"active_root":"/work/app","repo_root":"/","title":"A","session_kind":"nested","worktree":{"slug":"x","branch":"b"}}`),
		[]byte(`{"active_root":7,"worktree":[],"created_at":"soon"}`),
	)
}

func FuzzEvents(f *testing.F) {
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: yolop.New(), File: dir + "events.jsonl"},
		[]byte(events(whole, catalogtest.Time, "Hello", "Hi.", `session.title.updated {"title":"A"}`)),
		[]byte(`{"type":"tool.completed","data":{"result":{"text":[["\ud83d"]]}}}`+"\n"+`{"type":"input.message","data":{"message":{"role":"user","content":"plain"}}}`),
	)
}
