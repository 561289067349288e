//go:build e2e && unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The tests of this file show "agentd mcp --http" to real clients, configured as docs/mcp.md says. scripts/clients.sh runs them.
var clients = flag.String("clients", "", "the folder that scripts/clients.sh fills")

// clientTime bounds one run of a client, on a machine that is busy.
const clientTime = 3 * time.Minute

func TestClientsOverHTTP(t *testing.T) {
	if *clients == "" {
		t.Fatal("run scripts/clients.sh, or give -clients")
	}
	modules := filepath.Join(*clients, "node_modules")
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "mcp.md"))
	if err != nil {
		t.Fatal(err)
	}
	p := startHTTP(t, filepath.Join(t.TempDir(), "data"), nil)
	for _, client := range []struct{ name, file, program string }{
		{"Claude Code", ".mcp.json", "claude"},
		{"Gemini CLI", ".gemini/settings.json", "gemini"},
		{"OpenCode", "opencode.json", "opencode"},
	} {
		t.Run(client.name, func(t *testing.T) {
			example := regexp.MustCompile(regexp.QuoteMeta("**"+client.name+"**, `"+client.file+"`") + "[^`]*`(\\{.*\\})`").FindSubmatch(page)
			if example == nil || !json.Valid(example[1]) {
				t.Fatalf("docs/mcp.md has no configuration for %s in %s", client.name, client.file)
			}
			// Not the test's own folder: clients may still write when they have been told to go, and removing must not fail for that.
			home, err := os.MkdirTemp("", "agentd-clients-")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(home) })
			if home, err = filepath.EvalSymlinks(home); err != nil {
				t.Fatal(err)
			}
			project := filepath.Join(home, "project")
			config := bytes.ReplaceAll(example[1], []byte("http://127.0.0.1:8765/mcp"), []byte(p.url))
			trusted := map[string]any{"hasCompletedOnboarding": true, "projects": map[string]any{
				project: map[string]any{"hasTrustDialogAccepted": true, "enabledMcpjsonServers": []string{"agentd"}},
			}}
			for path, content := range map[string]any{
				filepath.Join(project, client.file):                   json.RawMessage(config),
				filepath.Join(home, ".claude.json"):                   trusted,
				filepath.Join(home, ".gemini", "trustedFolders.json"): map[string]string{project: "TRUST_FOLDER"},
			} {
				text, err := json.Marshal(content)
				if err == nil {
					err = os.MkdirAll(filepath.Dir(path), 0o700)
				}
				if err == nil {
					err = os.WriteFile(path, text, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), clientTime)
			defer cancel()
			cmd := exec.CommandContext(ctx, filepath.Join(modules, ".bin", client.program), "mcp", "list")
			cmd.Dir, cmd.WaitDelay = project, 10*time.Second
			const dead = "http://127.0.0.1:9"
			cmd.Env = []string{
				"HOME=" + home, "PATH=" + filepath.Join(modules, "node-current", "bin") + ":/usr/bin:/bin", "TERM=dumb", "NO_COLOR=1", "LANG=C.UTF-8",
				"HTTP_PROXY=" + dead, "HTTPS_PROXY=" + dead, "NO_PROXY=127.0.0.1,localhost", "npm_config_registry=" + dead + "/",
				"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
				"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
				envMCPToken + "=" + p.token,
			}
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			out, err := cmd.CombinedOutput()
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // What it has started and left.
			if err != nil {
				t.Fatalf("%s ended with %v:\n%s", client.program, err, out)
			}
			if low := strings.ToLower(string(out)); !strings.Contains(low, "agentd") || !strings.Contains(low, "connected") || strings.Contains(low, "disconnected") || strings.Contains(low, "not connected") {
				t.Errorf("%s does not say that agentd is connected:\n%s", client.program, out)
			}
		})
	}
	if code := p.end(syscall.SIGTERM); code != exitOK {
		t.Errorf("it exited with %d\n%s", code, p.said)
	}
}
