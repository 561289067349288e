//go:build e2e

package main

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentd/messages"
	ms "agentd/testkit/modelserver"
)

// The tests of this file run agentd with the real OpenCode against a scripted model:
//
//	go test -tags e2e -run E2E ./cmd/agentd -opencode /path/to/opencode
var executable = flag.String("opencode", os.Getenv("AGENTD_E2E_OPENCODE"), "path of the real opencode")

// realWorld is a data directory whose space agent uses the scripted model.
type realWorld struct {
	t     *testing.T
	root  string
	model *ms.Server
}

func newRealWorld(t *testing.T, script ...ms.Step) *realWorld {
	t.Helper()
	if *executable == "" {
		t.Fatal("name the real opencode by -opencode or AGENTD_E2E_OPENCODE; scripts/install-opencode.sh installs one")
	}
	w := &realWorld{t: t, root: t.TempDir(), model: ms.New(t, &ms.Options{Models: []string{"fake-1"}, APIKey: "key-of-the-person", Script: script})}
	config, err := json.Marshal(map[string]any{
		"model": "fake/fake-1", "executable": *executable, "online": false, "env": []string{"FAKE_KEY"},
		"provider": map[string]any{"fake": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "Fake", "options": map[string]any{"baseURL": w.model.BaseURL(), "apiKey": "{env:FAKE_KEY}"},
			"models": map[string]any{"fake-1": map[string]any{"name": "Fake 1", "limit": map[string]any{"context": 128000, "output": 4096}}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(w.data(), "agent-opencode")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "space.json"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *realWorld) data() string { return filepath.Join(w.root, "data") }

// agentd runs one command as a process, and returns its output and exit code.
func (w *realWorld) agentd(args ...string) (string, int) {
	w.t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"--data-dir", w.data(), "--workspace", w.root}, args...)...)
	cmd.Args[0] = "agentd"
	cmd.Env = append(os.Environ(), "HOME="+w.root, "XDG_DATA_HOME="+filepath.Join(w.root, "person"), "XDG_CONFIG_HOME="+filepath.Join(w.root, "config"), "FAKE_KEY=key-of-the-person", "AGENTD_SPACE_MODEL=", "OPENCODE_PATH=")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		w.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func TestE2ERunSpace(t *testing.T) {
	w := newRealWorld(t,
		ms.Step{When: ms.Match{Prompt: "draw", TurnStep: 1}, Reply: ms.Call("space_space_drawing_insert_shape", map[string]string{"shape": "circle", "color": "#ff0000"}), Times: ms.Always},
		ms.Step{When: ms.Match{Prompt: "draw", TurnStep: 2}, Reply: ms.Say("A red circle."), Times: ms.Always},
		ms.Step{When: ms.Match{Prompt: "shell", TurnStep: 1}, Reply: ms.Call("space_space_shell_run", map[string]string{"command": "echo it-ran"}), Times: ms.Always},
		ms.Step{When: ms.Match{Prompt: "shell", TurnStep: 2}, Reply: ms.Say("I tried."), Times: ms.Always},
	)
	out, code := w.agentd("run", "--agent", "space", "draw a red circle")
	if code != exitOK || !strings.Contains(out, "A red circle.") {
		t.Fatalf("the first run exited with %d:\n%s", code, out)
	}
	names := w.model.Turns()[0].ToolNames()
	if slices.Contains(names, "bash") || slices.Contains(names, "space_space_shell_run") || !slices.Contains(names, "space_space_drawing_insert_shape") {
		t.Errorf("the model was offered %q, want our tools that need no approval", names)
	}
	doc := storedSessions(t, w.data())[0]
	if got := story(doc); !slices.Contains(got, "call space_drawing_insert_shape completed") {
		t.Errorf("the session holds %q", got)
	}
	last := doc.Items[len(doc.Items)-1]
	if last.Type != messages.ItemMessage || last.Provider != "fake" && last.Model != "fake-1" {
		t.Errorf("the last item is %+v, want the answer with its model", last)
	}

	// The session goes on, in the same session of OpenCode.
	out, code = w.agentd("run", "--agent", "space", "--yes-risk", "shell", "a shell command")
	if code != exitOK || !strings.Contains(out, "I tried.") {
		t.Fatalf("the second run exited with %d:\n%s", code, out)
	}
	docs := storedSessions(t, w.data())
	if got := story(docs[0]); len(docs) != 1 || !slices.Contains(got, "call space_shell_run completed") {
		t.Errorf("%d sessions, the first holds %q", len(docs), got)
	}
	if n := len(w.model.Turns()[2].Messages); n < 4 {
		t.Errorf("the second turn had %d messages, want the history of the first", n)
	}
	if left := processesOf(t, w.root); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
}

// processesOf are the processes whose command line or environment names a folder.
func processesOf(t *testing.T, root string) []string {
	t.Helper()
	entries, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, entry := range entries {
		environ, _ := os.ReadFile(filepath.Join(entry, "environ"))
		if strings.Contains(string(environ), root) {
			line, _ := os.ReadFile(filepath.Join(entry, "cmdline"))
			left = append(left, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return left
}

func TestE2EDoctorProbe(t *testing.T) {
	w := newRealWorld(t)
	out, code := w.agentd("doctor", "--probe")
	for _, want := range []string{"ok       opencode", "ok       model", "ok       login           fake is configured", "ok       probe", "sees", "ok       probed model    OpenCode can use fake/fake-1"} {
		if !strings.Contains(out, want) {
			t.Errorf("doctor does not say %q", want)
		}
	}
	if code != exitOK {
		t.Errorf("doctor exited with %d", code)
	}
	t.Logf("\n%s", out)
	if out, code = w.agentd("doctor", "--probe", "--model", "fake/fake-2"); code != exitFailed || !strings.Contains(out, `fault    probed model    fake has no model "fake-2"`) {
		t.Errorf("doctor with an unknown model exited with %d:\n%s", code, out)
	}
	if out, code = w.agentd("doctor", "--probe", "--model", "nowhere/m"); code != exitFailed || !strings.Contains(out, `OpenCode has no provider "nowhere"`) {
		t.Errorf("doctor with an unknown provider exited with %d:\n%s", code, out)
	}
	if _, err := os.Stat(filepath.Join(w.data(), "agent-sessions")); err == nil {
		t.Error("the probe has made sessions")
	}
	if len(w.model.Turns()) > 0 {
		t.Error("the probe has called the model")
	}
	if left := processesOf(t, w.root); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
}
