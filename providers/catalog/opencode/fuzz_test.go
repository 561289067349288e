package opencode_test

import (
	"os"
	"path/filepath"
	"testing"

	"agentd/providers/catalog/opencode"
	"agentd/testkit/catalogtest"
)

func FuzzDatabase(f *testing.F) {
	env := catalogtest.NewEnv(f)
	catalogtest.PutSQLite(f, env, "x.db", 0, append(append(schema(), session("session", oldID, "/work/app", "A title", "", catalogtest.Time)), talk(oldID, "a", "b", 1)...)...)
	data, err := os.ReadFile(filepath.Join(env.Home, "x.db"))
	if err != nil {
		f.Fatal(err)
	}
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: opencode.New(), File: ".local/share/opencode/opencode.db"}, data, data[:len(data)/2])
}

func FuzzFile(f *testing.F) {
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{
		Reader: opencode.New(), File: ".local/share/opencode/storage/session/p/" + fileID + ".json",
		Others: map[string]string{".local/share/opencode/storage/message/" + fileID + "/msg_1.json": `{"role":"user","parts":[{"type":"text","text":"x"}]}`},
	},
		[]byte(`{"id":"`+fileID+`","directory":"/work","title":"x","time":{"created":1,"updated":1788264000000}}`), []byte(`{"id":{},"time":[]}`))
}

func FuzzMessage(f *testing.F) {
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{
		Reader: opencode.New(), File: ".local/share/opencode/storage/message/" + fileID + "/msg_1.json",
		Others: map[string]string{".local/share/opencode/storage/session/p/" + fileID + ".json": `{"id":"` + fileID + `"}`},
	},
		[]byte(`{"role":"user","parts":[{"type":"text","text":"x"},{"type":"tool","state":{"input":{},"output":[]}}]}`), []byte(`{"role":7,"path":{"cwd":[]},"metadata":3}`))
}
