package ohmypi_test

import (
	"fmt"
	"testing"

	"agentd/providers/catalog"
	"agentd/providers/catalog/ohmypi"
	"agentd/testkit/catalogtest"
)

const (
	titledID = "019f223a-0000-7000-8000-000000000001"
	plainID  = "019f223a-0000-7000-8000-000000000002"
	childID  = "019f223a-0000-7000-8000-000000000003"
)

// transcript writes a transcript behind a slot for the title.
func transcript(id, cwd, title, prompt, answer string) string {
	return fmt.Sprintf(`{"type":"title","v":1,"title":%q,"updatedAt":"2026-09-01T12:00:00.000Z","pad":"      "}
{"type":"session","version":3,"id":%q,"timestamp":"2026-09-01T12:00:00.000Z","cwd":%q}
{"type":"message","id":"1","timestamp":"2026-09-01T12:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":%q}]}}
{"type":"message","id":"2","timestamp":"2026-09-01T12:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":%q}]}}
`, title, id, cwd, prompt, answer)
}

// writeStore writes a session with a title, one without, and a sub-agent's.
func writeStore(tb testing.TB, env catalog.Env) []catalogtest.Want {
	tb.Helper()
	const dir = ".omp/agent/sessions/-work-app/2026-09-01T12-00-00-000Z_"
	catalogtest.Put(tb, env, dir+titledID+".jsonl", transcript(titledID, "/work/app", "A title", "First question", "The zebra answers."), 0)
	catalogtest.Put(tb, env, dir+plainID+".jsonl", transcript(plainID, "/work/app", "", "Second question", "The giraffe answers."), 0)
	catalogtest.Put(tb, env, dir+titledID+"/0-Explore.jsonl", transcript(childID, "/work/app", "", "Child question", "The walrus was spawned."), 0)
	at := catalogtest.Time + 2000
	return []catalogtest.Want{
		{ID: titledID, Project: "/work/app", TimeMS: at, Title: "A title", Prompt: "First question", Said: "zebra"},
		{ID: plainID, Project: "/work/app", TimeMS: at, Title: "Second question", Said: "giraffe"},
		{ID: childID, Project: "/work/app", TimeMS: at, Prompt: "Child question", NonInteractive: true, Parent: titledID, Relation: catalog.SubAgent, Said: "walrus"},
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	catalogtest.Run(t, catalogtest.Config{Reader: ohmypi.New(), Write: writeStore})
}

func TestSubAgentsAreHiddenByDefault(t *testing.T) {
	t.Parallel()
	env := catalogtest.NewEnv(t)
	writeStore(t, env)
	c, err := catalog.New([]catalog.Reader{ohmypi.New()}, &catalog.Options{Env: &env})
	if err != nil {
		t.Fatal(err)
	}
	found, err := c.Search(t.Context(), catalog.SearchRequest{})
	if err != nil || found.Total != 2 {
		t.Errorf("Search = %v, %v, want two sessions", found, err)
	}
}

func FuzzTranscript(f *testing.F) {
	text := transcript(titledID, "/work/app", "A title", "First question", "The zebra answers.")
	catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: ohmypi.New(), File: ".omp/agent/sessions/-work-app/x_" + titledID + ".jsonl"},
		[]byte(text), []byte(text[:200]))
}
