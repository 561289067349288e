//go:build e2e

package opencode_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"agentd/providers/opencode"
	"agentd/testkit/modelserver"
)

// The tests of this file and its neighbour run the real OpenCode against a scripted model:
//
//	go test -tags e2e -run E2E ./providers/opencode -opencode /path/to/opencode
var executable = flag.String("opencode", os.Getenv("AGENTD_E2E_OPENCODE"), "path of the real opencode")

// patience is how long anything may take that takes a second on an idle machine.
const patience = 3 * time.Minute

var fake = opencode.Model{ProviderID: "fake", ModelID: "fake-1"}

// world is one OpenCode with a model, a tool server and folders of its own.
type world struct {
	t      *testing.T
	model  *modelserver.Server
	params opencode.ServerParams
	opts   opencode.ServerOptions
	server *opencode.Server
	client *opencode.Client
}

// newWorld starts everything, with no rules of permission in the configuration.
func newWorld(t *testing.T, script ...modelserver.Step) *world {
	t.Helper()
	return newWorldWith(t, nil, script...)
}

// newWorldWith starts everything; the server is stopped and found to be gone at the end.
func newWorldWith(t *testing.T, permission map[string]string, script ...modelserver.Step) *world {
	t.Helper()
	if permission == nil {
		permission = map[string]string{}
	}
	if *executable == "" {
		t.Fatal("name the real opencode by -opencode or AGENTD_E2E_OPENCODE; scripts/install-opencode.sh installs one")
	}
	w := &world{t: t, model: modelserver.New(t, &modelserver.Options{
		Script: script, ChunkBytes: 8, Models: []string{"fake-1"}, APIKey: "test-key",
	})}
	root := t.TempDir()
	w.params = opencode.ServerParams{Path: *executable, Dir: folder(t, root, "project"), ConfigHome: filepath.Join(root, "config")}
	w.opts = opencode.ServerOptions{IsolateIn: filepath.Join(root, "own")}
	config := folder(t, w.params.ConfigHome, "opencode")
	write(t, filepath.Join(config, "opencode.json"), map[string]any{
		"permission": permission, "autoupdate": false, "share": "disabled", "model": "fake/fake-1", "small_model": "fake/fake-1", "enabled_providers": []string{"fake"},
		"provider": map[string]any{"fake": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "Fake",
			"options": map[string]any{"baseURL": w.model.BaseURL(), "apiKey": "test-key"},
			"models":  map[string]any{"fake-1": map[string]any{"name": "Fake 1", "limit": map[string]any{"context": 128000, "output": 4096}}},
		}},
	})
	w.start()
	return w
}

func folder(t *testing.T, parts ...string) string {
	t.Helper()
	dir := filepath.Join(parts...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, path string, value any) {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// in is the world for a part of its test.
func (w *world) in(t *testing.T) *world {
	t.Helper()
	part := *w
	part.t = t
	return &part
}

func (w *world) start() {
	w.t.Helper()
	server, err := opencode.StartServer(w.t.Context(), w.params, &w.opts)
	if err != nil {
		w.t.Fatal(err)
	}
	w.server, w.client = server, server.Client()
	w.t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			w.t.Error(err)
		}
		if alive(server.PID()) {
			w.t.Errorf("OpenCode (process %d) lives on after Stop", server.PID())
		}
	})
}

// older says that the server is of the line that answers success for what does not exist.
func (w *world) older() bool { return strings.HasPrefix(w.server.Version(), "1.2.") }

func (w *world) session(rules ...opencode.Rule) string {
	w.t.Helper()
	s, err := w.client.CreateSession(w.t.Context(), opencode.NewSession{Title: "test", Permission: rules})
	if err != nil {
		w.t.Fatal(err)
	}
	return s.ID
}

func (w *world) patient() context.Context {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	w.t.Cleanup(cancel)
	return ctx
}

// ask is a prompt that runs beside the test.
type ask struct {
	done    chan struct{}
	message opencode.Message
	err     error
}

func (w *world) ask(session, text string, change ...func(*opencode.PromptParams)) *ask {
	a := &ask{done: make(chan struct{})}
	p := opencode.PromptParams{Text: text, Model: fake}
	for _, c := range change {
		c(&p)
	}
	ctx := w.t.Context()
	go func() {
		defer close(a.done)
		a.message, a.err = w.client.Prompt(ctx, session, p)
	}()
	return a
}

func (w *world) answer(a *ask) (opencode.Message, error) {
	w.t.Helper()
	select {
	case <-a.done:
		return a.message, a.err
	case <-time.After(patience):
		w.t.Fatal("the prompt does not end")
		return opencode.Message{}, nil
	}
}

func (w *world) events() *opencode.Events {
	w.t.Helper()
	e, err := w.client.Events(w.t.Context(), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(e.Close)
	return e
}

// until collects events up to the first one for which last is true, which is the last one returned.
func until(t *testing.T, e *opencode.Events, last func(opencode.Event) bool) []opencode.Event {
	t.Helper()
	deadline := time.After(patience)
	var seen []opencode.Event
	for {
		select {
		case event, ok := <-e.C():
			if !ok {
				t.Fatalf("the events have ended: %v", e.Err())
			}
			seen = append(seen, event)
			if last(event) {
				return seen
			}
		case <-deadline:
			var types []string
			for _, event := range seen {
				types = append(types, event.Type)
			}
			t.Fatalf("the awaited event did not come, only %v", types)
		}
	}
}

func idleOf(session string) func(opencode.Event) bool {
	return func(e opencode.Event) bool {
		_, ok := e.Body.(opencode.SessionIdle)
		return ok && e.SessionID == session
	}
}

// poll waits until ok returns true.
func poll(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited too long for %s", what)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// alive reports whether a process exists and is more than a zombie.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, os.ErrNotExist) {
		return false
	}
	return err != nil || !strings.Contains(string(stat[strings.LastIndexByte(string(stat), ')'):]), ") Z")
}

// shell is a command for the model's bash tool that says its process id and sleeps.
func (w *world) shell(name string) (command string, pid func() int) {
	path := filepath.Join(w.params.Dir, name)
	return "echo $$ > '" + path + ".new' && mv '" + path + ".new' '" + path + "' && sleep 300; true", func() int {
		data, err := os.ReadFile(path)
		if err != nil {
			return 0
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(data)))
		if err != nil {
			w.t.Fatal(err)
		}
		return n
	}
}

// tools is a small MCP server with a tool that echoes and one that waits for its cancellation.
type tools struct {
	url       string
	server    *mcp.Server
	calls     atomic.Int32
	waiting   chan struct{}
	cancelled chan struct{}
}

type echoInput struct {
	Text string `json:"text"`
}

func newTools(t *testing.T, token string) *tools {
	t.Helper()
	ts := &tools{waiting: make(chan struct{}, 10), cancelled: make(chan struct{}, 10)}
	ts.server = mcp.NewServer(&mcp.Implementation{Name: "space", Version: "1"}, nil)
	mcp.AddTool(ts.server, &mcp.Tool{Name: "echo", Description: "says it again"},
		func(_ context.Context, _ *mcp.CallToolRequest, in echoInput) (*mcp.CallToolResult, any, error) {
			ts.calls.Add(1)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "echo: " + in.Text}}}, nil, nil
		})
	mcp.AddTool(ts.server, &mcp.Tool{Name: "wait", Description: "waits"},
		func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			ts.waiting <- struct{}{}
			<-ctx.Done()
			ts.cancelled <- struct{}{}
			return nil, nil, ctx.Err()
		})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return ts.server }, nil)
	guarded := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(rw, r)
	}))
	t.Cleanup(func() {
		for s := range ts.server.Sessions() {
			_ = s.Close()
		}
		guarded.CloseClientConnections()
		guarded.Close()
	})
	ts.url = guarded.URL + "/mcp"
	return ts
}

func (w *world) connect(ts *tools, token string) {
	w.t.Helper()
	status, err := w.client.AddMCP(w.t.Context(), "space", opencode.MCPRemote{
		URL: ts.url, Headers: map[string]string{"Authorization": "Bearer " + token}, Timeout: 20 * time.Second,
	})
	if err != nil || status.State != opencode.MCPConnected {
		w.t.Fatalf("AddMCP() = %+v, %v, want connected", status, err)
	}
}

// onlySpace lets the model see the tools of the MCP server and no others.
func onlySpace(p *opencode.PromptParams) {
	p.Tools = []opencode.ToolSwitch{{Name: "*", On: false}, {Name: "space_*", On: true}}
}
