//go:build e2e

package space_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"agentd/messages"
	"agentd/presets"
	"agentd/providers/opencode"
	"agentd/providers/opencode/bridge"
	ms "agentd/testkit/modelserver"
)

// The tests with this tag run the real OpenCode, offline, against a scripted model:
//
//	make e2e
//	go test -tags e2e ./actors/agents/space -opencode /path/to/opencode
var executable = flag.String("opencode", os.Getenv("AGENTD_E2E_OPENCODE"), "path of the real opencode")

// patience bounds a turn. Most take a second on an idle machine; that a hung OpenCode is given up takes more than one minute.
const patience = 4 * time.Minute

var fake = opencode.Model{ProviderID: "fake", ModelID: "fake-1"}

// newModel starts a scripted model.
func newModel(tb testing.TB, script ...ms.Step) *ms.Server {
	tb.Helper()
	return ms.New(tb, &ms.Options{Script: script, ChunkBytes: 8, Models: []string{fake.ModelID}, APIKey: "test-key"})
}

// real starts a host with the real OpenCode and a scripted model.
func real(tb testing.TB, model *ms.Server, change func(*setting)) *host {
	tb.Helper()
	if *executable == "" {
		tb.Fatal("name the real opencode by -opencode or AGENTD_E2E_OPENCODE; scripts/install-opencode.sh installs one")
	}
	root := tb.TempDir()
	provider, err := json.Marshal(map[string]any{fake.ProviderID: map[string]any{
		"npm": "@ai-sdk/openai-compatible", "name": "Fake",
		"options": map[string]any{"baseURL": model.BaseURL(), "apiKey": "test-key"},
		"models":  map[string]any{fake.ModelID: map[string]any{"name": "Fake 1", "limit": map[string]any{"context": 128000, "output": 4096}}},
	}})
	if err != nil {
		tb.Fatal(err)
	}
	s := setting{
		root: root, model: fake, turnTimeout: patience, policy: presets.Policy{messages.RiskNormal: presets.RuleAuto},
		bridge: bridge.Options{
			Executable: *executable, Provider: provider, Server: opencode.ServerOptions{IsolateIn: filepath.Join(root, "own")},
		},
	}
	if change != nil {
		change(&s)
	}
	return newHost(tb, s)
}

// on is a step for a prompt, at a step of its turn.
func on(prompt string, turnStep int, reply ms.Reply) ms.Step {
	return ms.Step{When: ms.Match{Prompt: prompt, TurnStep: turnStep}, Reply: reply, Times: ms.Always}
}

// repeat is a step that says again what the last tool said.
func repeat(prompt string, turnStep int, before string) ms.Step {
	return ms.Step{When: ms.Match{Prompt: prompt, TurnStep: turnStep}, Times: ms.Always, Make: func(r ms.Request) ms.Reply {
		return ms.Say(before + r.Last().Text)
	}}
}

// pid is the process of the host's OpenCode.
func pid(tb testing.TB, h *host) int {
	tb.Helper()
	status := h.br.Status().OpenCode
	if !status.Running || status.PID == 0 {
		tb.Fatalf("OpenCode does not run: %+v", status)
	}
	return status.PID
}
