//go:build e2e && !windows

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	ms "agentd/testkit/modelserver"
)

func (w *world) claude(args ...string) []string {
	return append([]string{module(".bin", "claude")}, args...)
}

// configureClaude writes the project's .mcp.json, and what Claude Code notes when a person has approved it.
func (w *world) configureClaude() {
	w.write(filepath.Join(w.project, ".mcp.json"), w.example("Claude Code"))
	w.writeJSON(filepath.Join(w.home, ".claude.json"), map[string]any{"hasCompletedOnboarding": true, "projects": map[string]any{
		w.project: map[string]any{"hasTrustDialogAccepted": true, "enabledMcpjsonServers": []string{"agf"}},
	}})
}

func TestE2EClaudeConnects(t *testing.T) {
	w := newWorld(t)
	w.configureClaude()
	w.connected(w.run(w.claude("mcp", "list")...))
}

func TestE2EClaudeConnectsForTheUser(t *testing.T) {
	w := newWorld(t)
	w.run(w.claude("mcp", "add", "--scope", "user", "agf", "--", w.agf, "mcp", "--agent", "claude")...)
	w.connected(w.run(w.claude("mcp", "list")...))
}

func TestE2EGeminiConnects(t *testing.T) {
	w := newWorld(t)
	w.writeJSON(filepath.Join(w.home, ".gemini", "trustedFolders.json"), map[string]string{w.project: "TRUST_FOLDER"})
	w.write(filepath.Join(w.project, ".gemini", "settings.json"), w.example("Gemini CLI"))
	w.connected(w.run(module(".bin", "gemini"), "mcp", "list"))
}

func TestE2EOpenCodeConnects(t *testing.T) {
	w := newWorld(t)
	w.write(filepath.Join(w.project, "opencode.json"), w.example("OpenCode"))
	w.connected(w.run(module(".bin", "opencode"), "mcp", "list"))
}

// TestE2ECodexConnects asks Codex's own server for the state of its MCP servers.
func TestE2ECodexConnects(t *testing.T) {
	w := newWorld(t)
	w.write(filepath.Join(w.home, ".codex", "config.toml"), w.example("Codex"))
	ctx, cancel := context.WithTimeout(t.Context(), clientTime)
	defer cancel()
	cmd := w.command(ctx, module(".bin", "codex"), "app-server")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	ask := func(id int, request string) json.RawMessage {
		t.Helper()
		if _, err := fmt.Fprintln(in, request); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			var answer struct {
				ID     int             `json:"id"`
				Result json.RawMessage `json:"result"`
				Error  json.RawMessage `json:"error"`
			}
			if err := json.Unmarshal(lines.Bytes(), &answer); err == nil && answer.ID == id {
				if answer.Error != nil {
					t.Fatalf("%s is answered %s", request, answer.Error)
				}
				return answer.Result
			}
		}
		t.Fatalf("%s is not answered: %v", request, lines.Err())
		return nil
	}
	ask(1, `{"id":1,"method":"initialize","params":{"clientInfo":{"name":"test","version":"1"}}}`)
	if _, err := fmt.Fprintln(in, `{"method":"initialized"}`); err != nil {
		t.Fatal(err)
	}
	var status struct {
		Data []struct {
			Name       string                     `json:"name"`
			ServerInfo struct{ Name string }      `json:"serverInfo"`
			Tools      map[string]json.RawMessage `json:"tools"`
		} `json:"data"`
	}
	raw := ask(2, `{"id":2,"method":"mcpServerStatus/list","params":{}}`)
	if err := json.Unmarshal(raw, &status); err != nil {
		t.Fatal(err)
	}
	if len(status.Data) != 1 || status.Data[0].Name != "agf" || status.Data[0].ServerInfo.Name != "agf" || len(status.Data[0].Tools) != 4 {
		t.Errorf("mcpServerStatus/list = %s, want agf with four tools", raw)
	}
	_ = in.Close() // Its server ends with its input.
	if err := cmd.Wait(); err != nil {
		t.Logf("codex app-server ended with %v", err)
	}
}

// model is a model that searches for the session and then says so. A client may ask it before its servers are connected; Claude Code has a tool to
// wait for them then.
func model(t *testing.T) *ms.Server {
	t.Helper()
	const wait = "WaitForMcpServers"
	connected := func(r ms.Request) bool {
		return slices.ContainsFunc(r.ToolNames(), func(name string) bool { return strings.HasSuffix(name, "agf_search_sessions") })
	}
	searched := func(r ms.Request) bool {
		return slices.ContainsFunc(r.Results(), func(m ms.Message) bool { return strings.Contains(m.Text, "schema_version") })
	}
	return ms.New(t, &ms.Options{
		// Clients ask for titles and the like under the names of other models.
		Models: []string{ms.DefaultModel, "claude-haiku-4-5-20251001"},
		Script: []ms.Step{
			{When: ms.Match{Func: searched}, Reply: ms.Say("The search is done."), Times: ms.Always},
			{When: ms.Match{Func: connected}, Reply: ms.CallLike("agf_search_sessions", `{"query":"zebra","include_summaries":true}`), Times: 3},
			{When: ms.Match{Offered: []string{wait}}, Reply: ms.Call(wait, `{}`), Times: 3},
		},
	})
}

// found expects that a conversation had the tools, and that the model was given the envelope with the session.
func found(t *testing.T, model *ms.Server, printed string) {
	t.Helper()
	if !strings.Contains(printed, "The search is done.") {
		t.Errorf("the client printed %q, want the model's last words", printed)
	}
	for _, turn := range model.Turns() {
		for _, result := range turn.Results() {
			text := strings.ReplaceAll(result.Text, `\"`, `"`)
			if strings.Contains(text, `"schema_version":1`) && strings.Contains(text, `"ok":true`) && strings.Contains(text, sessionID) && strings.Contains(text, "Find the zebra") {
				return
			}
		}
	}
	t.Errorf("no result of a tool holds the envelope with the session; the model was asked %d times", len(model.Turns()))
	for _, turn := range model.Turns() {
		t.Logf("tools %q, results %+v", turn.ToolNames(), turn.Results())
	}
}

func TestE2EClaudeConverses(t *testing.T) {
	w, model := newWorld(t), model(t)
	w.configureClaude()
	w.vars = []string{"ANTHROPIC_BASE_URL=" + model.URL(), "ANTHROPIC_API_KEY=test"}
	found(t, model, w.run(w.claude("-p", "Where is the zebra?", "--model", ms.DefaultModel, "--allowedTools", "mcp__agf__agf_search_sessions")...))
}

func TestE2ECodexConverses(t *testing.T) {
	w, model := newWorld(t), model(t)
	w.write(filepath.Join(w.home, ".codex", "config.toml"), fmt.Sprintf(`model = %q
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.fake]
name = "Fake"
base_url = %q
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 1
stream_max_retries = 1
`, ms.DefaultModel, model.BaseURL())+toClaude(w.example("Codex"))+"required = true\n") // So that it waits for the server.
	w.vars = []string{"FAKE_KEY=test"}
	found(t, model, w.run(module(".bin", "codex"), "exec", "--json", "--skip-git-repo-check", "Where is the zebra?"))
}

func TestE2EOpenCodeConverses(t *testing.T) {
	w, model := newWorld(t), model(t)
	var config map[string]any
	if err := json.Unmarshal([]byte(toClaude(w.example("OpenCode"))), &config); err != nil {
		t.Fatal(err)
	}
	config["model"], config["small_model"], config["enabled_providers"] = "fake/"+ms.DefaultModel, "fake/"+ms.DefaultModel, []string{"fake"}
	config["provider"] = map[string]any{"fake": map[string]any{
		"npm": "@ai-sdk/openai-compatible", "name": "Fake", "options": map[string]string{"baseURL": model.BaseURL(), "apiKey": "test"},
		"models": map[string]any{ms.DefaultModel: map[string]any{"name": "Fake", "limit": map[string]int{"context": 128000, "output": 4096}}},
	}}
	w.writeJSON(filepath.Join(w.project, "opencode.json"), config)
	found(t, model, w.run(module(".bin", "opencode"), "run", "Where is the zebra?"))
}

func TestE2EInspector(t *testing.T) {
	for _, era := range []string{"legacy", "auto", "modern"} {
		t.Run(era, func(t *testing.T) {
			w := newWorld(t)
			inspect := func(args ...string) string {
				t.Helper()
				command := []string{module("node-current", "bin", "node"), module("@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js"), "--cli", w.agf, "mcp", "--extended"}
				return w.run(append(command, append([]string{"--protocol-era", era}, args...)...)...)
			}
			list := inspect("--method", "tools/list", "--strict")
			if strings.Count(list, `"inputSchema"`) != 5 || strings.Contains(strings.ToLower(list), "warning") {
				t.Errorf("the strict list is %s, want five tools and no warning", list)
			}
			exact := []string{"--tool-arg", "agent=claude", "--tool-arg", "session_id=" + sessionID}
			for tool, args := range map[string][]string{
				"agf_search_sessions": {"--tool-arg", "query=zebra", "--tool-arg", "include_summaries=true"},
				"agf_get_session":     exact, "agf_resume_plan": exact, "agf_read_session": exact, "agf_capabilities": nil,
			} {
				answer := inspect(append([]string{"--method", "tools/call", "--tool-name", tool}, args...)...)
				if tool != "agf_capabilities" && !strings.Contains(answer, sessionID) {
					t.Errorf("%s answers %s, want the session", tool, answer)
				}
				if !strings.Contains(answer, `"isError": false`) || !strings.Contains(answer, `"ok": true`) || !strings.Contains(answer, `"schema_version": 1`) {
					t.Errorf("%s answers %s, want an envelope", tool, answer)
				}
			}
		})
	}
}
