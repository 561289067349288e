package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentd/messages"
	"agentd/presets"
)

const testSession = messages.SessionID("agt-ses-1")

// world is a surface with a few tools, for tests.
type world struct {
	tb        testing.TB
	manager   *presets.Manager
	approvals *deskApprovals
	surface   *presets.Surface

	mu    sync.Mutex
	ran   []string // tools that ran, with their arguments
	steps []presets.Step
	hold  chan struct{} // "hold" ends when it is closed
	begun chan struct{} // told when "hold" begins
}

// newWorld has the presets "plain" (echo, hold, panics) and "shell" (run, of the risk shell); both are active.
func newWorld(tb testing.TB, exposure presets.Exposure) *world {
	tb.Helper()
	w := &world{tb: tb, approvals: newDesk(), hold: make(chan struct{}), begun: make(chan struct{}, 100)}
	var err error
	if w.manager, err = presets.NewManager(nil); err != nil {
		tb.Fatal(err)
	}
	w.adapter("plain.echo", "space_echo", "", func(_ context.Context, args string) (presets.Result, error) { return presets.Text(args), nil })
	w.adapter("plain.hold", "space_hold", "", func(ctx context.Context, _ string) (presets.Result, error) {
		w.begun <- struct{}{}
		select {
		case <-ctx.Done():
			return presets.Result{}, context.Cause(ctx)
		case <-w.hold:
			return presets.Text("held"), nil
		}
	})
	w.adapter("plain.panics", "space_panics", "", func(context.Context, string) (presets.Result, error) { panic("a secret") })
	w.adapter("shell.run", "space_run", messages.RiskShell, func(_ context.Context, args string) (presets.Result, error) { return presets.Text("ran " + args), nil })
	w.preset("plain", messages.RiskNormal, "plain.echo", "plain.hold", "plain.panics")
	w.preset("shell", messages.RiskShell, "shell.run")
	if w.surface, err = presets.NewSurface(w.manager, w.approvals, &presets.SurfaceOptions{Exposure: exposure, RequestWait: -1}); err != nil {
		tb.Fatal(err)
	}
	return w
}

func (w *world) adapter(id, name string, risk messages.Risk, run func(ctx context.Context, args string) (presets.Result, error)) {
	w.tb.Helper()
	err := w.manager.RegisterAdapter(presets.Adapter{
		ID: id, Name: name, Description: "The tool " + id + ".", InputSchema: json.RawMessage(`{"type":"object"}`), Risk: risk,
		Make: func(presets.Env) (presets.RunFunc, error) {
			return func(ctx context.Context, args json.RawMessage) (presets.Result, error) {
				w.mu.Lock()
				w.ran = append(w.ran, name+" "+string(args))
				w.mu.Unlock()
				return run(ctx, string(args))
			}, nil
		},
	})
	if err != nil {
		w.tb.Fatal(err)
	}
}

func (w *world) preset(name string, risk messages.Risk, tools ...string) {
	w.tb.Helper()
	preset := presets.Preset{Name: name, Risk: risk, ToolIDs: tools, Contexts: []presets.Pattern{{}}, Prompt: "Use " + name + "."}
	if err := w.manager.RegisterPreset(preset); err != nil {
		w.tb.Fatal(err)
	}
}

// runs returns which tools ran, with their arguments.
func (w *world) runs() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.ran...)
}

// Record implements [presets.Recorder].
func (w *world) Record(_ context.Context, step presets.Step) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps = append(w.steps, step)
	return nil
}

// recorded returns the kinds of the steps so far, and what each decision was.
func (w *world) recorded() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, step := range w.steps {
		word := string(step.Kind)
		if step.Decision != nil {
			word += " " + string(step.Decision.Outcome)
		}
		out = append(out, word)
	}
	return out
}

func (w *world) turn() Turn {
	return Turn{Caller: presets.Caller{SessionID: testSession, TurnID: "turn-1", AgentID: "space"}, Recorder: w}
}

// answer waits for the next question to the person, and answers it.
func (w *world) answer(verb presets.Verb) {
	w.tb.Helper()
	request := w.question()
	if err := w.approvals.Decide(w.tb.Context(), request.ID, presets.Answer{Verb: verb, Who: "ann"}); err != nil {
		w.tb.Error(err) // It may run beside the test.
	}
}

func (w *world) question() presets.Request {
	w.tb.Helper()
	select {
	case request := <-w.approvals.asked:
		return request
	case <-time.After(patience):
		w.tb.Error("nobody was asked") // It may run beside the test.
	}
	return presets.Request{}
}

// withdrawn waits until the request is no longer open, and checks that nobody has decided it.
func (w *world) withdrawn(request presets.Request) {
	w.tb.Helper()
	eventually(w.tb, "the request is withdrawn", func() bool {
		pending, _ := w.approvals.Pending(context.Background())
		return !slices.ContainsFunc(pending, func(p presets.Request) bool { return p.ID == request.ID })
	})
	if steps := w.recorded(); slices.ContainsFunc(steps, func(step string) bool { return strings.HasPrefix(step, "decided") || step == "started" }) {
		w.tb.Errorf("recorded %v, want that nobody has decided and nothing has started", steps)
	}
}

// eventually polls a condition that other goroutines bring about.
func eventually(tb testing.TB, what string, condition func() bool) {
	tb.Helper()
	deadline := time.Now().Add(patience)
	for !condition() {
		if time.Now().After(deadline) {
			tb.Fatalf("it never came about: %s", what)
		}
		<-time.After(time.Millisecond)
	}
}

// transportKind is one way to connect a client.
type transportKind struct {
	name    string
	version string
	sse     bool
}

func transportKinds() []transportKind {
	return []transportKind{
		{"streamable 2026-07-28", "2026-07-28", false},
		{"streamable 2025-11-25", "2025-11-25", false},
		{"streamable 2025-06-18", "2025-06-18", false},
		{"older SSE", "2024-11-05", true},
	}
}

// testClient is the real client of the SDK, connected to an endpoint.
type testClient struct {
	tb      testing.TB
	session *sdk.ClientSession
	wire    *wire // nil over stdio
	changed chan struct{}
}

func connect(tb testing.TB, endpoint *Endpoint, kind transportKind, opts *sdk.ClientOptions) *testClient {
	tb.Helper()
	c := &testClient{tb: tb, wire: newWire(endpoint), changed: make(chan struct{}, 100)}
	var options sdk.ClientOptions
	if opts != nil {
		options = *opts
	}
	options.ToolListChangedHandler = func(context.Context, *sdk.ToolListChangedRequest) {
		select {
		case c.changed <- struct{}{}:
		default:
		}
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "test client", Version: "1"}, &options)
	var transport sdk.Transport = &sdk.StreamableClientTransport{Endpoint: endpoint.URL(), HTTPClient: &http.Client{Transport: c.wire}, MaxRetries: -1}
	if kind.sse {
		transport = &sdk.SSEClientTransport{Endpoint: endpoint.SSEURL(), HTTPClient: &http.Client{Transport: c.wire}}
	}
	session, err := client.Connect(tb.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: kind.version})
	if err != nil {
		tb.Fatalf("connecting over %s: %v", kind.name, err)
	}
	c.session = session
	return c
}

func (c *testClient) close() { _ = c.session.Close() }

func (c *testClient) names() []string {
	c.tb.Helper()
	list, err := c.session.ListTools(c.tb.Context(), nil)
	if err != nil {
		c.tb.Fatalf("listing tools: %v", err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func (c *testClient) call(ctx context.Context, name string, args any) (*sdk.CallToolResult, error) {
	return c.session.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: args})
}

// text is the text of a result.
func text(result *sdk.CallToolResult) string {
	if result == nil || len(result.Content) == 0 {
		return ""
	}
	content, ok := result.Content[0].(*sdk.TextContent)
	if !ok {
		return fmt.Sprintf("%T", result.Content[0])
	}
	return content.Text
}

// fields is the structured content of a result.
func fields(tb testing.TB, result *sdk.CallToolResult) map[string]any {
	tb.Helper()
	out, ok := result.StructuredContent.(map[string]any)
	if !ok {
		tb.Fatalf("structured content is %#v, want an object", result.StructuredContent)
	}
	return out
}

// startServer starts a server, which is stopped at the end of the test.
func startServer(tb testing.TB, w *world, opts *HTTPOptions) *HTTPServer {
	tb.Helper()
	server, err := NewHTTPServer(w.surface, opts)
	if err != nil {
		tb.Fatal(err)
	}
	if err := server.Start(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			tb.Errorf("Stop() = %v, want nil", err)
		}
	})
	return server
}

// openEndpoint opens the endpoint of the test session with a turn bound.
func openEndpoint(tb testing.TB, w *world, server *HTTPServer) *Endpoint {
	tb.Helper()
	endpoint, err := server.Open(tb.Context(), presets.Caller{SessionID: testSession, AgentID: "space"})
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := endpoint.Bind(w.turn()); err != nil {
		tb.Fatal(err)
	}
	return endpoint
}

var errTest = errors.New("a fault of the test")
