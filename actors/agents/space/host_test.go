//go:build e2e || online

package space_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentd/actors"
	"agentd/actors/agents/space"
	"agentd/messages"
	"agentd/persistence/jsonfile"
	"agentd/presets"
	"agentd/presets/mcp"
	"agentd/presets/prompt"
	"agentd/providers/opencode"
	"agentd/providers/opencode/bridge"
)

// setting is what a host is made of.
type setting struct {
	// root is a fresh folder, below which everything is kept.
	root   string
	model  opencode.Model
	bridge bridge.Options
	// policy is that of the approvals; nil asks for what is risky.
	policy presets.Policy
	// turnTimeout bounds a turn.
	turnTimeout time.Duration
	// before is called when the presets are there and the runtime is not.
	before func(*host)
	// options change the agent's.
	options func(*space.Options)
}

// host is a program with a runtime, a bridge and the space agent, as a real one is put together.
type host struct {
	t       testing.TB
	setting setting
	manager *presets.Manager
	rt      *actors.Runtime
	br      *bridge.Bridge
	unsync  func()

	mu  sync.Mutex
	log []toolRun
}

// toolRun is one run of a tool of the test.
type toolRun struct {
	name, arguments string
	session         messages.SessionID
}

// newHost starts a host that is stopped at the end of the test; then no process of it may be left.
func newHost(tb testing.TB, s setting) *host {
	tb.Helper()
	h := &host{t: tb, setting: s}
	h.start()
	tb.Cleanup(func() {
		h.stop()
		for _, line := range leftovers(s.root) {
			tb.Errorf("a process is left: %s", line)
		}
	})
	return h
}

// start starts everything on the host's folder, which may hold what an earlier start has left.
func (h *host) start() {
	h.t.Helper()
	var err error
	if h.manager, err = presets.NewManager(nil); err != nil {
		h.t.Fatal(err)
	}
	if h.setting.before != nil {
		h.setting.before(h)
	}
	store, err := jsonfile.Open(filepath.Join(h.setting.root, "data"), nil)
	if err != nil {
		h.t.Fatal(err)
	}
	agents := &actors.Agents{}
	workspace := filepath.Join(h.setting.root, "workspace")
	if err := os.MkdirAll(workspace, 0o700); err != nil {
		h.t.Fatal(err)
	}
	h.rt, err = actors.Start(actors.Deps{Store: store, Agents: agents, Presets: h.manager}, &actors.Options{
		CancelGrace: 30 * time.Second, // A loaded machine is no fault of the hook.
		Policy:      h.setting.policy, WorkspaceRoot: workspace, ArtifactRoot: filepath.Join(h.setting.root, "artifacts"),
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.bridge(agents)
}

func (h *host) bridge(agents *actors.Agents) {
	h.t.Helper()
	var err error
	options := h.setting.bridge
	h.br, err = bridge.New(h.rt.Tools(), bridge.Params{Home: filepath.Join(h.setting.root, "agent-opencode")}, &options)
	if err != nil {
		h.t.Fatal(err)
	}
	if err := h.br.Start(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	h.unsync = h.rt.SyncTools(h.br)
	var enrichers prompt.Enrichers
	err = enrichers.Register("world", func(context.Context, prompt.Subject) (string, error) { return "active world available", nil })
	if err != nil {
		h.t.Fatal(err)
	}
	opts := space.Options{Model: h.setting.model, Prompts: &enrichers}
	if h.setting.options != nil {
		h.setting.options(&opts)
	}
	if err := space.Register(agents, h.br, opts); err != nil {
		h.t.Fatal(err)
	}
}

// stop ends what start has started, in the order of a host. It may be called more than once.
func (h *host) stop() {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	h.unsync()
	if err := errors.Join(h.rt.Stop(ctx), h.br.Stop(ctx)); err != nil {
		h.t.Errorf("stopping: %v", err)
	}
}

// tool registers a preset with one tool, which notes its runs and answers what run makes of its arguments.
func (h *host) tool(preset, name string, risk messages.Risk, schema string, run func(ctx context.Context, arguments json.RawMessage) (string, error)) {
	h.t.Helper()
	err := errors.Join(
		h.manager.RegisterAdapter(presets.Adapter{
			ID: preset + ".tool", Name: name, Description: "The tool " + name + " of a test.", InputSchema: json.RawMessage(schema), Risk: risk,
			Make: func(env presets.Env) (presets.RunFunc, error) {
				return func(ctx context.Context, arguments json.RawMessage) (presets.Result, error) {
					h.mu.Lock()
					h.log = append(h.log, toolRun{name, string(arguments), env.SessionID})
					h.mu.Unlock()
					text, err := run(ctx, arguments)
					return presets.Text(text), err
				}, nil
			},
		}),
		h.manager.RegisterPreset(presets.Preset{
			Name: preset, Risk: risk, ToolIDs: []string{preset + ".tool"}, Contexts: []presets.Pattern{{}}, Prompt: "Use " + name + " when you are asked to.",
		}),
	)
	if err != nil {
		h.t.Fatal(err)
	}
}

// runs are the runs of the test's tools so far.
func (h *host) runs() []toolRun {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.log)
}

// runsOf are those of one session.
func (h *host) runsOf(id messages.SessionID) []toolRun {
	return slices.DeleteFunc(h.runs(), func(r toolRun) bool { return r.session != id })
}

// in makes a part of the test the one that fails, and returns the function that ends that.
func (h *host) in(tb testing.TB) func() {
	before := h.t
	h.t = tb
	return func() { h.t = before }
}

func (h *host) override(session messages.SessionID, preset string, value presets.Override) {
	h.t.Helper()
	if err := h.manager.SetOverride(h.t.Context(), session, preset, value); err != nil {
		h.t.Fatal(err)
	}
}

func (h *host) session(id messages.SessionID) messages.SessionID {
	h.t.Helper()
	head, err := h.rt.CreateSession(h.t.Context(), space.ID, actors.CreateOptions{ID: id})
	if err != nil {
		h.t.Fatal(err)
	}
	return head.ID
}

func (h *host) run(id messages.SessionID, input string) *actors.TurnHandle {
	h.t.Helper()
	handle, err := h.rt.RunTurn(h.t.Context(), id, input, actors.RunOptions{})
	if err != nil {
		h.t.Fatal(err)
	}
	return handle
}

func (h *host) wait(handle *actors.TurnHandle) messages.Turn {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), h.setting.turnTimeout)
	defer cancel()
	turn, err := handle.Wait(ctx)
	if err != nil {
		h.t.Fatalf("the turn has not ended within %s: %v\n%s", h.setting.turnTimeout, err, describe(h.items(handle.SessionID())))
	}
	return turn
}

// complete runs a turn that has to complete, and returns its result.
func (h *host) complete(id messages.SessionID, input string) string {
	h.t.Helper()
	turn := h.wait(h.run(id, input))
	if turn.Status != messages.TurnCompleted {
		h.t.Fatalf("the turn %s: %s\n%s", turn.Status, turn.Error, describe(h.items(id)))
	}
	return turn.Result
}

func (h *host) items(id messages.SessionID) []*messages.Item {
	h.t.Helper()
	view, err := h.rt.Session(context.WithoutCancel(h.t.Context()), id)
	if err != nil {
		h.t.Fatal(err)
	}
	return view.Items
}

// opencodeSession is the id that is stored in the session's data.
func (h *host) opencodeSession(id messages.SessionID) string {
	h.t.Helper()
	view, err := h.rt.Session(h.t.Context(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	var stored string
	if err := json.Unmarshal(view.Head.Data[space.DataKey], &stored); err != nil {
		h.t.Fatalf("the session's data is %v: %v", view.Head.Data, err)
	}
	return stored
}

// listed are the names that a client of MCP lists for a session.
func (h *host) listed(id messages.SessionID) []string {
	h.t.Helper()
	server, err := mcp.NewHTTPServer(h.rt.Tools(), &mcp.HTTPOptions{Anonymous: true})
	if err != nil {
		h.t.Fatal(err)
	}
	if err := server.Start(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(context.Background()); err != nil {
			h.t.Error(err)
		}
	}()
	endpoint, err := server.Open(h.t.Context(), presets.Caller{SessionID: id, AgentID: space.ID})
	if err != nil {
		h.t.Fatal(err)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections() // One that was opened and never used holds up the end of a server.
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(h.t.Context(),
		&sdk.StreamableClientTransport{Endpoint: endpoint.URL(), HTTPClient: &http.Client{Transport: transport}}, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	list, err := client.ListTools(h.t.Context(), nil)
	if err != nil {
		h.t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// of returns the items of some kinds that the last turn made.
func of(items []*messages.Item, kinds ...messages.ItemType) []*messages.Item {
	return slices.DeleteFunc(slices.Clone(items), func(item *messages.Item) bool { return !slices.Contains(kinds, item.Type) })
}

// describe writes items a line each, for the text of a failure.
func describe(items []*messages.Item) string {
	var lines []string
	for _, item := range items {
		lines = append(lines, fmt.Sprintf("  %s %s %s %s %q %q %q %q", item.ID, item.Type, item.Role, item.Status, item.Name+item.EventType,
			item.Arguments, item.Content+item.Output+item.Error, item.Data))
	}
	return strings.Join(lines, "\n")
}

// eventually waits until a condition gives no error.
func eventually(tb testing.TB, what string, condition func() error) {
	tb.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		err := condition()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("waited too long for %s: %v", what, err)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// alive reports whether a process exists and is more than a zombie.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, os.ErrNotExist) {
		_, noProc := os.Stat("/proc/self/stat")
		return noProc != nil
	}
	return err != nil || !strings.Contains(string(stat[strings.LastIndexByte(string(stat), ')'):]), ") Z")
}

// leftovers are the processes whose environment or arguments name a folder of the test. Only Linux tells.
func leftovers(root string) []string {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	var left []string
	for _, dir := range dirs {
		environ, _ := os.ReadFile(filepath.Join(dir, "environ"))
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		if strings.Contains(string(environ)+string(line), root) && filepath.Base(dir) != fmt.Sprint(os.Getpid()) {
			left = append(left, filepath.Base(dir)+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return left
}
