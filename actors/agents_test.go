package actors_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/actors"
	"agentd/messages"
	"agentd/testkit"
)

func TestChecklist37FactoriesAreLazyAndCached(t *testing.T) {
	t.Parallel()
	var built atomic.Int32
	factory := func() (actors.Agent, error) { built.Add(1); return testkit.Script{}, nil }
	var agents actors.Agents
	if err := agents.Register("a", factory); err != nil || built.Load() != 0 {
		t.Fatalf("Register() = %v and built %d agents, want none before the first Get", err, built.Load())
	}
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			if _, err := agents.Get("a"); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if built.Load() != 1 {
		t.Errorf("Get() built %d agents, want one", built.Load())
	}
	if err := agents.Register("a", factory); err != nil {
		t.Fatal(err)
	}
	if _, err := agents.Get("a"); err != nil || built.Load() != 2 {
		t.Errorf("after registering again %d agents were built, %v, want a new one", built.Load(), err)
	}
	agents.Unregister("a")
	agents.Unregister("a")
	_, err := agents.Get("a")
	wantError(t, "Get(unregistered)", err, actors.ErrUnknownAgent, "a")
}

func TestFactoriesThatFail(t *testing.T) {
	t.Parallel()
	tries := 0
	factories := map[messages.AgentID]actors.AgentFactory{
		"error": func() (actors.Agent, error) { return nil, errors.New("no key") },
		"panic": func() (actors.Agent, error) { panic("no key") },
		"none":  func() (actors.Agent, error) { return nil, nil }, //nolint:nilnil // That is the fault.
		"later": func() (actors.Agent, error) {
			if tries++; tries == 1 {
				return nil, errors.New("not yet")
			}
			return testkit.Script{}, nil
		},
		"good": func() (actors.Agent, error) { return testkit.Script{}, nil },
	}
	var agents actors.Agents
	for id, factory := range factories {
		if err := agents.Register(id, factory); err != nil {
			t.Fatal(err)
		}
	}
	for id, names := range map[messages.AgentID]string{"error": "no key", "panic": "panicked", "none": "no agent", "later": "not yet"} {
		_, err := agents.Get(id)
		wantError(t, "Get("+string(id)+")", err, nil, string(id), names)
	}
	if _, err := agents.Get("later"); err != nil {
		t.Errorf("Get() after a failure = %v, want it tried again", err)
	}
	if agents.Register("x", nil) == nil || agents.Register("a/b", factories["good"]) == nil {
		t.Error("Register() took a nil factory or a bad id")
	}
	var lines []string
	for _, info := range agents.List() {
		line := string(info.ID) + " " + info.Name
		if info.Err != nil {
			line += " !"
		}
		lines = append(lines, line)
	}
	want := []string{"error error !", "good scripted", "later scripted", "none none !", "panic panic !"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("List() (-want +got):\n%s", diff)
	}
}

func TestPromptOfAnAgentThatCannotBeBuilt(t *testing.T) {
	t.Parallel()
	rt := start(t, testkit.Script{}, nil)
	if err := rt.Agents().Register("b", func() (actors.Agent, error) { return nil, errors.New("no key") }); err != nil {
		t.Fatal(err)
	}
	id := rt.Create("b", "")
	_, err := rt.RunTurn(rt.Context(), id, "hi", actors.RunOptions{})
	if err == nil || !strings.Contains(err.Error(), "no key") || len(rt.View(id).Items) > 0 {
		t.Errorf("RunTurn() = %v with the items %+v, want the factory's error and nothing stored", err, rt.View(id).Items)
	}
}
