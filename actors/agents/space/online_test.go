//go:build online

package space_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"agentd/messages"
	"agentd/presets"
	"agentd/providers/opencode"
	"agentd/providers/opencode/bridge"
)

// These are the live tests: they use the real OpenCode, the person's login and a real model. To run them is to choose them:
//
//	make test/online
//
// Where the executable, a login, the provider or the model is missing they fail. They never skip, and never choose another model.

// liveConfig is everything that the live tests are set by.
type liveConfig struct {
	opencodePath string
	model        opencode.Model
	root         string
	mcpAddress   string
	turnTimeout  time.Duration
}

var testConfig = liveConfig{
	opencodePath: "opencode",
	model:        opencode.Model{ProviderID: "opencode", ModelID: "big-pickle"},
	root:         filepath.Join(os.TempDir(), "space", "tests", "agent-mcp-online"),
	mcpAddress:   "127.0.0.1:0",
	turnTimeout:  120 * time.Second,
}

// live starts a host in a fresh root.
func live(t *testing.T, tools func(*host)) *host {
	t.Helper()
	root := filepath.Join(testConfig.root, t.Name())
	if err := os.RemoveAll(root); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		t.Fatal(err)
	}
	s := setting{
		root: root, model: testConfig.model, turnTimeout: testConfig.turnTimeout, before: tools,
		policy: presets.Policy{messages.RiskNormal: presets.RuleAuto},
		bridge: bridge.Options{Executable: testConfig.opencodePath, Server: opencode.ServerOptions{Online: true}},
	}
	s.bridge.HTTP.Addr = testConfig.mcpAddress
	return newHost(t, s)
}

func TestOnlineEcho(t *testing.T) { echoOnce(t, live(t, echoTools)) }

func TestOnlineSequence(t *testing.T) { nonceThenRecord(t, live(t, sequenceTools)) }

func TestOnlineApprovalBoundary(t *testing.T) {
	h := live(t, boundaryTools)
	unapprovedStaysOut(t, h)
	// An OpenCode that cannot reach its model would pass for one that refuses: the harmless tool has to work in the same session.
	h.complete("boundary-session", echoPrompt)
}
