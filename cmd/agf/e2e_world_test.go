//go:build e2e && !windows

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// clients is where scripts/clients.sh has installed the clients, and agf.
var clients = flag.String("clients", "", "the folder that scripts/clients.sh fills")

// clientTime bounds one run of a client, on a machine that is busy.
const clientTime = 3 * time.Minute

// world is a home that holds one session of Claude Code and nothing of the client under test, and a project.
type world struct {
	tb            testing.TB
	home, project string
	agf           string
	vars          []string
}

// sessionID is the session that is there to be found.
const sessionID = "77777777-0000-4000-8000-000000000008"

func newWorld(t *testing.T) *world {
	t.Helper()
	if *clients == "" {
		t.Fatal("run scripts/clients.sh, or give -clients")
	}
	// Not the test's own folder: clients may still write when they have been told to go, and removing must not fail for that.
	dir, err := os.MkdirTemp("", "agf-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	w := &world{tb: t, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project"), agf: filepath.Join(*clients, "agf")}
	t.Cleanup(func() {
		w.checkNobodyIsLeft(t)
		_ = os.RemoveAll(dir)
	})
	w.write(filepath.Join(w.project, "README"), "A project.\n")
	line := map[string]any{
		"type": "user", "uuid": "1", "sessionId": sessionID, "cwd": w.project, "gitBranch": "main", "timestamp": "2026-09-01T12:00:00.000Z",
		"isSidechain": false, "entrypoint": "cli", "message": map[string]any{"role": "user", "content": "Find the zebra"},
	}
	w.writeJSON(filepath.Join(w.home, ".claude", "projects", "p", sessionID+".jsonl"), line)
	return w
}

func (w *world) write(path, text string) {
	w.tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.tb.Fatal(err)
	}
}

func (w *world) writeJSON(path string, value any) {
	w.tb.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		w.tb.Fatal(err)
	}
	w.write(path, string(data)+"\n")
}

// example returns the first configuration under a heading of docs/clients.md, made out to this world.
func (w *world) example(heading string) string {
	w.tb.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "clients.md"))
	if err != nil {
		w.tb.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## "+heading+"\n")
	_, block, open := strings.Cut(section, "```")
	block, _, closed := strings.Cut(block, "\n```")
	_, text, _ := strings.Cut(block, "\n")
	if !found || !open || !closed {
		w.tb.Fatalf("docs/clients.md has no example under %q", heading)
	}
	return strings.NewReplacer("/absolute/path/to/agf", w.agf, "/absolute/path/to/project", w.project).Replace(text) + "\n"
}

// toClaude makes a configuration look for sessions of Claude Code, of which there is one.
func toClaude(config string) string {
	return regexp.MustCompile(`"--agent", "[a-z]+"`).ReplaceAllString(config, `"--agent", "claude"`)
}

// module is a file of an installed package.
func module(parts ...string) string {
	return filepath.Join(append([]string{*clients, "node_modules"}, parts...)...)
}

// command returns a client as a process in this world: an empty home, no keys, no network but loopback, and a group of its own.
func (w *world) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = w.project
	const dead = "http://127.0.0.1:9"
	cmd.Env = append([]string{
		"HOME=" + w.home, "PATH=" + module("node-current", "bin") + ":/usr/bin:/bin", "TERM=dumb", "NO_COLOR=1", "LANG=C.UTF-8",
		"HTTP_PROXY=" + dead, "HTTPS_PROXY=" + dead, "NO_PROXY=127.0.0.1,localhost", "npm_config_registry=" + dead + "/",
		"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
	}, w.vars...)
	group(cmd)
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// run runs a client to its end and returns what it printed, without colours.
func (w *world) run(args ...string) string {
	w.tb.Helper()
	ctx, cancel := context.WithTimeout(w.tb.Context(), clientTime)
	defer cancel()
	cmd := w.command(ctx, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	text := regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`).ReplaceAllString(out.String(), "")
	w.tb.Cleanup(func() {
		if w.tb.Failed() {
			w.tb.Logf("%s:\n%s", strings.Join(args, " "), text)
		}
	})
	if err != nil && !errors.As(err, new(*exec.ExitError)) || ctx.Err() != nil {
		w.tb.Fatalf("running %q: %v", args, err)
	}
	if err != nil {
		w.tb.Errorf("%q ended with %v", args, err)
	}
	return text
}

// connected expects one line that names agf and says so.
func (w *world) connected(text string) {
	w.tb.Helper()
	for line := range strings.Lines(text) {
		low := strings.ToLower(line)
		if strings.Contains(line, "agf") && strings.Contains(low, "connected") && !strings.Contains(low, "disconnected") && !strings.Contains(low, "not connected") {
			return
		}
	}
	w.tb.Errorf("no line says that agf is connected:\n%s", text)
}
