package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"agentd/actors"
	"agentd/actors/agents/function"
	"agentd/actors/agents/local"
	"agentd/messages"
)

// TestMain makes the test binary agentd itself when it is called by that name, with a few agents more than the real one.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"agentd": func() { os.Exit(start(local.Register, registerTestAgents)) },
	})
}

// registerTestAgents adds agents that behave as the local one never does.
func registerTestAgents(agents *actors.Agents) error {
	return errors.Join(
		function.Register(agents, "failing", "Fails", func(context.Context, *actors.TurnContext) (string, error) {
			return "", errors.New("the model is \x1b[31mout of reach")
		}),
		function.Register(agents, "stubborn", "Does not stop", func(context.Context, *actors.TurnContext) (string, error) {
			select {}
		}),
		function.Register(agents, "hostile", "Says what steers terminals", func(context.Context, *actors.TurnContext) (string, error) {
			return "\x1b]0;owned\x07\x1b[2Jred \x1b[31mtext\r\u202eevil\u009b5mend", nil
		}),
		function.Register(agents, "slow", "Streams its answer", stream),
		agents.Register("broken", func() (actors.Agent, error) { return nil, errors.New("no login") }),
	)
}

// stream sends an answer word by word; each word waits for a file of its number in the workspace, so that a test sees every state.
func stream(ctx context.Context, turn *actors.TurnContext) (string, error) {
	item := messages.Item{ID: messages.NewItemID(), Type: messages.ItemMessage, Role: messages.RoleAssistant, StreamStatus: messages.StreamStreaming}
	for i, word := range strings.Fields(turn.Input) {
		for i > 0 {
			if _, err := os.Stat(filepath.Join(turn.WorkspaceRoot, strconv.Itoa(i))); err == nil {
				break
			}
			select {
			case <-ctx.Done():
				return "", context.Cause(ctx)
			case <-time.After(5 * time.Millisecond):
			}
		}
		item.Content = strings.TrimSpace(item.Content + " " + word)
		if _, err := turn.Turn.UpsertItem(item); err != nil {
			return "", err
		}
	}
	item.StreamStatus = messages.StreamComplete
	return "", turn.Turn.Finish(item.Content, item)
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			env.Setenv("AGENTD_HOME", filepath.Join(env.WorkDir, "data"))
			env.Setenv("USER", "ann")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits, "await": await, "big": big, "setid": setID,
		},
	})
}

// exits runs a program and expects an exit code: exits CODE PROGRAM ARGUMENTS.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGUMENTS")
	}
	code := 0
	var failed *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &failed) {
		code = failed.ExitCode()
	} else if err != nil {
		ts.Fatalf("running %q: %v", args[1:], err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("%q exited with %d, want %s", args[1:], code, args[0])
	}
}

// awaitTime bounds waiting for what another process does.
const awaitTime = 30 * time.Second

// await runs a program until its output holds a text: await TEXT PROGRAM ARGUMENTS.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: await TEXT PROGRAM ARGUMENTS")
	}
	for deadline := time.Now().Add(awaitTime); ; {
		err := ts.Exec(args[1], args[2:]...)
		out := ts.ReadFile("stdout")
		if err == nil && strings.Contains(out, args[0]) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%q never said %q; at last: %v\n%s", args[1:], args[0], err, out)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// big makes a file of some size: big FILE BYTES.
func big(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Repeat([]byte("x"), n), 0o600))
}

// setID sets a variable to the id of the session that a JSON line on standard output names first: setid NAME.
func setID(ts *testscript.TestScript, _ bool, args []string) {
	_, rest, _ := strings.Cut(ts.ReadFile("stdout"), `"`+messages.SessionPrefix)
	id, _, found := strings.Cut(rest, `"`)
	if !found {
		ts.Fatalf("standard output names no session")
	}
	ts.Setenv(args[0], fmt.Sprint(messages.SessionPrefix, id))
	ts.Setenv(args[0]+"_SHORT", id[:8])
}
