//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentd/messages"
)

// TestMCPIsToldToEnd ends the process while a call runs.
func TestMCPIsToldToEnd(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	p := startMCP(t, "2025-11-25", data, nil, "--yes-risk", "shell")
	go func() {
		_, _ = p.client.CallTool(context.Background(), &sdk.CallToolParams{Name: "space_shell_run", Arguments: map[string]any{"command": "sleep 60"}})
	}()
	for deadline := time.Now().Add(awaitTime); ; {
		if docs := storedSessions(t, data); len(docs) > 0 && slices.Contains(story(docs[0]), "call space_shell_run running") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the command does not run")
		}
		<-time.After(20 * time.Millisecond)
	}
	if err := p.command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if err := p.command.Wait(); err == nil || p.command.ProcessState.ExitCode() != exitCancelled {
		t.Errorf("it ended with %v, want exit code %d\n%s", err, exitCancelled, p.stderr)
	}
	if took := time.Since(begun); took > awaitTime {
		t.Errorf("it took %s", took)
	}
	doc := storedSessions(t, data)[0]
	if got := story(doc); doc.Head.Turn.Status != messages.TurnCancelled || !slices.Contains(got, "result space_shell_run") {
		t.Errorf("the turn is %+v and the session holds %q, want it cancelled and the call with a result", doc.Head.Turn, got)
	}
}
