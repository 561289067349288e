package agentd_test

import (
	"strings"
	"testing"

	"agentd/providers/catalog/agentd"
	"agentd/testkit/catalogtest"
)

// seed returns a file of the sound store: that whose path ends so.
func seed(f *testing.F, suffix string) []byte {
	f.Helper()
	files, err := data()
	if err != nil {
		f.Fatal(err)
	}
	for rel, content := range files {
		if strings.HasSuffix(rel, suffix) {
			return []byte(strings.TrimRight(content, "\x00"))
		}
	}
	f.Fatalf("the store has no file %q", suffix)
	return nil
}

func FuzzSnapshot(f *testing.F) {
	whole := seed(f, string(folded)+".json")
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: agentd.New(), File: ".local/share/agentd/agent-sessions/" + string(folded) + ".json"},
		whole, whole[:len(whole)/2], []byte(`{"schema":"agentd.session/1","id":"agt-ses-1","last-seq":1e300,"turn":7,"items":[`+"\n{\"type\":\"message\",\"role\":\"user\"}"),
	)
}

func FuzzSegment(f *testing.F) {
	whole := seed(f, ".log")
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: agentd.New(), File: ".local/share/agentd/agent-sessions/journal/00000001.log"},
		whole, whole[:len(whole)*2/3], []byte("00000000 {\"session\":\"a\",\"seq\":1,\"kind\":\"item\",\"at\":1,\"body\":{}}\n"),
	)
}

func FuzzTombstone(f *testing.F) {
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{
		Reader: agentd.New(), File: ".local/share/agentd/agent-sessions/deleted/agt-ses-1.json",
		Others: map[string]string{".local/share/agentd/agent-sessions/agt-ses-1.json": string(seed(f, string(folded)+".json"))},
	}, []byte("{}\n"))
}
