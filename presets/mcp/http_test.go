package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agentd/messages"
	"agentd/presets"
)

func TestHTTPEveryTransport(t *testing.T) {
	t.Parallel()
	for _, kind := range transportKinds() {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, presets.Hidden)
			endpoint := openEndpoint(t, w, startServer(t, w, nil))
			client := connect(t, endpoint, kind, nil)
			defer client.close()
			if diff := cmp.Diff([]string{presets.RequestToolName, "space_echo", "space_hold", "space_panics"}, client.names()); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			result, err := client.call(t.Context(), "space_echo", map[string]any{"b": 1, "a": "x"})
			if err != nil || result.IsError || text(result) != `{"a":"x","b":1}` {
				t.Errorf("echo = %s, %v", text(result), err)
			}
			if got := fields(t, result)["a"]; got != "x" {
				t.Errorf("structured content = %v, want the same object", result.StructuredContent)
			}
			if diff := cmp.Diff([]string{"started", "finished"}, w.recorded()); diff != "" {
				t.Errorf("recorded (-want +got):\n%s", diff)
			}
			result, err = client.call(t.Context(), "space_panics", nil)
			if err != nil || !result.IsError || strings.Contains(text(result), "secret") {
				t.Errorf("panicking tool = %s, %v, want an error result without the panic's words", text(result), err)
			}
			if _, err := client.call(t.Context(), "space_no_such", nil); err == nil || !strings.Contains(err.Error(), "unknown tool") {
				t.Errorf("unknown tool = %v, want an error of the protocol", err)
			}
			if _, err := client.session.ListPrompts(t.Context(), nil); err == nil {
				t.Error("prompts on a server of tools were listed, want method not found")
			}
			if !strings.HasPrefix(kind.version, "2026") {
				if err := client.session.Ping(t.Context(), nil); err != nil {
					t.Errorf("Ping() = %v", err)
				}
			}
		})
	}
}

func TestHTTPListFollowsChanges(t *testing.T) {
	t.Parallel()
	for _, kind := range transportKinds() {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, presets.Hidden)
			server := startServer(t, w, nil)
			defer w.manager.OnChange(func(change presets.Change) {
				if err := server.Sync(context.Background(), change); err != nil {
					t.Errorf("Sync() = %v", err)
				}
			})()
			client := connect(t, openEndpoint(t, w, server), kind, nil)
			defer client.close()
			before := len(client.names())
			if kind.version == "2026-07-28" { // The client subscribes by itself, in its own time.
				eventually(t, "the client subscribes", func() bool {
					if err := w.manager.SetOverride(t.Context(), "", "plain", presets.OverrideOff); err != nil {
						t.Fatal(err)
					}
					select {
					case <-client.changed:
						return true
					case <-time.After(50 * time.Millisecond):
						return w.manager.SetOverride(t.Context(), "", "plain", presets.OverrideAuto) != nil
					}
				})
			} else {
				if err := w.manager.SetOverride(t.Context(), "", "plain", presets.OverrideOff); err != nil {
					t.Fatal(err)
				}
				select {
				case <-client.changed:
				case <-time.After(patience):
					t.Fatal("no notification of the change")
				}
			}
			if got := client.names(); len(got) != before-3 {
				t.Errorf("tools after the change = %v, want 3 fewer than %d", got, before)
			}
		})
	}
}

// A list never shows what an approval no longer covers, even if nobody has called Sync.
func TestHTTPListIsNeverStale(t *testing.T) {
	t.Parallel()
	w := newWorld(t, presets.Hidden)
	client := connect(t, openEndpoint(t, w, startServer(t, w, nil)), transportKinds()[1], nil)
	defer client.close()
	has := func() bool { return strings.Contains(strings.Join(client.names(), " "), "space_run") }
	if has() {
		t.Error("an unapproved risky tool is listed")
	}
	if result, err := client.call(t.Context(), "space_run", nil); err == nil && !result.IsError {
		t.Error("an unapproved risky tool was called")
	}
	w.approvals.setPolicy(messages.RiskShell, presets.RuleAuto)
	if !has() {
		t.Error("the tool that the policy approves is not listed")
	}
	// It is there without a list, too.
	w.approvals.setPolicy(messages.RiskShell, presets.RuleAsk)
	if has() {
		t.Error("the tool is listed after the policy was taken back")
	}
	w.approvals.setPolicy(messages.RiskShell, presets.RuleAuto)
	if result, err := client.call(t.Context(), "space_run", nil); err != nil || result.IsError {
		t.Errorf("a tool that has just become approved = %s, %v", text(result), err)
	}
	// When nobody can say what is approved, what is normal stays.
	w.approvals.setFailure(errTest)
	if diff := cmp.Diff([]string{presets.RequestToolName, "space_echo", "space_hold", "space_panics"}, client.names()); diff != "" {
		t.Errorf("tools while approvals fail (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"space_run {}"}, w.runs()); diff != "" {
		t.Errorf("what ran (-want +got):\n%s", diff)
	}
}

// Sessions never see each other's tools, and an endpoint's tools are its session's.
func TestHTTPEndpointsAreApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, presets.Gated)
	server := startServer(t, w, nil)
	first := openEndpoint(t, w, server)
	second, err := server.Open(t.Context(), presets.Caller{SessionID: "agt-ses-2"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.manager.SetOverride(t.Context(), "agt-ses-2", "plain", presets.OverrideOff); err != nil {
		t.Fatal(err)
	}
	if first.URL() == second.URL() || len(first.name) < 20 {
		t.Errorf("URLs %q and %q, want two that cannot be guessed", first.URL(), second.URL())
	}
	one, two := connect(t, first, transportKinds()[1], nil), connect(t, second, transportKinds()[0], nil)
	defer one.close()
	defer two.close()
	if diff := cmp.Diff([]string{presets.RequestToolName, "space_echo", "space_hold", "space_panics", "space_run"}, one.names()); diff != "" {
		t.Errorf("tools of the first (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{presets.RequestToolName, "space_run"}, two.names()); diff != "" {
		t.Errorf("tools of the second (-want +got):\n%s", diff)
	}
	if _, err := server.Open(t.Context(), presets.Caller{SessionID: testSession}); !errors.Is(err, ErrExists) {
		t.Errorf("second Open() = %v, want ErrExists", err)
	}
	status := server.Status()
	if !status.Started || len(status.Endpoints) != 2 || status.Endpoints[0].SessionID != testSession || status.Endpoints[0].Clients != 1 {
		t.Errorf("Status() = %+v", status)
	}
	if err := second.Close(t.Context()); err != nil {
		t.Errorf("Close() = %v", err)
	}
	if _, err := server.Endpoint("agt-ses-2"); !errors.Is(err, ErrUnknownEndpoint) {
		t.Errorf("Endpoint() after Close = %v, want ErrUnknownEndpoint", err)
	}
	if got, err := server.Endpoint(testSession); err != nil || got != first {
		t.Errorf("Endpoint() = %v, %v", got, err)
	}
	if _, err := two.call(t.Context(), "space_run", nil); err == nil {
		t.Error("a call on a closed endpoint was answered")
	}
	if _, err := one.call(t.Context(), "space_echo", nil); err != nil {
		t.Errorf("a call on the other endpoint = %v", err)
	}
	again, err := server.Open(t.Context(), presets.Caller{SessionID: "agt-ses-2"})
	if err != nil || again.URL() == second.URL() {
		t.Errorf("Open() once more = %v, %v, want another URL", again.URL(), err)
	}
}

func TestHTTPServerLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t, presets.Gated)
	server, err := NewHTTPServer(w.surface, nil)
	if err != nil {
		t.Fatal(err)
	}
	endpoint := openEndpoint(t, w, server)
	if endpoint.URL() != "" || endpoint.SSEURL() != "" || server.Status().URL != "" {
		t.Errorf("before Start the URL is %q, want none", endpoint.URL())
	}
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := server.Start(t.Context()); !errors.Is(err, ErrStarted) {
		t.Errorf("second Start() = %v, want ErrStarted", err)
	}
	status := server.Status()
	if status.Host != "127.0.0.1" || status.Port == 0 || !strings.HasPrefix(endpoint.URL(), status.URL+"/mcp/") {
		t.Errorf("Status() = %+v, URL %q", status, endpoint.URL())
	}
	taken, err := NewHTTPServer(w.surface, &HTTPOptions{Addr: strings.TrimPrefix(status.URL, "http://")})
	if err != nil {
		t.Fatal(err)
	}
	if err := taken.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "listening on") {
		t.Errorf("Start() on a taken port = %v, want an error", err)
	}
	if taken.Status().Started {
		t.Error("after a failed Start it is started")
	}
	clients := make([]*testClient, 0, 4)
	for _, kind := range transportKinds() { // Each holds a stream open.
		clients = append(clients, connect(t, endpoint, kind, nil))
	}
	started := time.Now()
	for range 2 {
		if err := server.Stop(t.Context()); err != nil {
			t.Errorf("Stop() = %v, want nil", err)
		}
	}
	if took := time.Since(started); took > DefaultStopTimeout {
		t.Errorf("Stop() took %s", took)
	}
	if err := taken.Start(t.Context()); err != nil {
		t.Errorf("Start() on the freed port = %v, want nil", err)
	}
	if err := taken.Stop(t.Context()); err != nil {
		t.Errorf("Stop() = %v", err)
	}
	if err := server.Start(t.Context()); !errors.Is(err, ErrStopping) {
		t.Errorf("Start() after Stop = %v, want ErrStopping", err)
	}
	if _, err := server.Open(t.Context(), presets.Caller{SessionID: "agt-ses-9"}); !errors.Is(err, ErrStopping) {
		t.Errorf("Open() after Stop = %v, want ErrStopping", err)
	}
	for _, client := range clients {
		client.close()
	}
}

// A connection on which nothing was asked yet does not hold up the stop: clients open some to have them at hand.
func TestHTTPStopWithUnusedConnections(t *testing.T) {
	t.Parallel()
	w := newWorld(t, presets.Hidden)
	server, err := NewHTTPServer(w.surface, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(server.Status().URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	if err := server.Stop(t.Context()); err != nil {
		t.Errorf("Stop() = %v, want nil", err)
	}
}

// On the root the URL stays the same from one server to the next, and the token is what protects it.
func TestHTTPRoot(t *testing.T) {
	t.Parallel()
	w := newWorld(t, presets.Gated)
	server := startServer(t, w, nil)
	root, err := server.OpenRoot(t.Context(), presets.Caller{SessionID: testSession, AgentID: "space"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := root.Bind(w.turn()); err != nil {
		t.Fatal(err)
	}
	if url := server.Status().URL; root.URL() != url+"/mcp" || root.SSEURL() != url+"/sse" {
		t.Errorf("the root is at %q and %q", root.URL(), root.SSEURL())
	}
	if _, err := server.OpenRoot(t.Context(), presets.Caller{SessionID: "agt-ses-2"}); !errors.Is(err, ErrExists) {
		t.Errorf("second OpenRoot() = %v, want ErrExists", err)
	}
	other, err := server.Open(t.Context(), presets.Caller{SessionID: "agt-ses-2"})
	if err != nil || !strings.HasPrefix(other.URL(), root.URL()+"/") {
		t.Errorf("Open() beside the root = %q, %v", other.URL(), err)
	}
	for _, kind := range transportKinds() {
		client := connect(t, root, kind, nil)
		if result, err := client.call(t.Context(), "space_echo", nil); err != nil || result.IsError {
			t.Errorf("%s: a call on the root = %s, %v", kind.name, text(result), err)
		}
		client.close()
	}
	for path, want := range map[string]int{"/mcp": 200, "/mcp/": 200, "/": 404, "/mcp/guess": 404, "/mcp//": 404} {
		if status, _, body := hello(func(r *rawRequest) { r.path = path }).send(t, root); status != want {
			t.Errorf("%q answers %d, want %d: %s", path, status, want, body)
		}
	}
	if status, _, _ := hello(func(r *rawRequest) { r.headers["Authorization"] = "" }).send(t, root); status != http.StatusUnauthorized {
		t.Errorf("the root without a token answers %d, want 401", status)
	}
	if err := root.Close(t.Context()); err != nil {
		t.Errorf("Close() = %v", err)
	}
	if status, _, _ := hello(func(r *rawRequest) { r.path = "/mcp" }).send(t, other); status != http.StatusNotFound {
		t.Errorf("the closed root answers %d, want 404", status)
	}
	anonymous := startServer(t, w, &HTTPOptions{Anonymous: true})
	if _, err := anonymous.OpenRoot(t.Context(), presets.Caller{SessionID: testSession}); !errors.Is(err, ErrInvalid) {
		t.Errorf("OpenRoot() without a token = %v, want ErrInvalid", err)
	}
}

// A handler that ignores its context does not hold up the stop.
func TestHTTPStopCannotHang(t *testing.T) {
	t.Parallel()
	for _, kind := range transportKinds() {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, presets.Gated)
			release := make(chan struct{})
			begun := make(chan struct{})
			w.adapter("plain.stubborn", "space_stubborn", "", func(context.Context, string) (presets.Result, error) {
				close(begun)
				<-release
				return presets.Text("late"), nil
			})
			w.preset("stubborn", messages.RiskNormal, "plain.stubborn")
			server, err := NewHTTPServer(w.surface, &HTTPOptions{StopTimeout: 50 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			if err := server.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			client := connect(t, openEndpoint(t, w, server), kind, nil)
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = client.call(t.Context(), "space_stubborn", nil)
			}()
			<-begun
			if err := server.Stop(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Stop() = %v, want that it was cut", err)
			}
			close(release)
			<-done
			client.close()
		})
	}
}

func TestHTTPLoopbackOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, presets.Gated)
	for addr, host := range map[string]string{
		"0.0.0.0:0": "0.0.0.0", ":0": `""`, "[::]:0": "::", "192.0.2.1:80": "192.0.2.1", "example.com:80": "example.com", "localhost.example.com:1": "localhost.example.com",
	} {
		if _, err := NewHTTPServer(w.surface, &HTTPOptions{Addr: addr}); !errors.Is(err, ErrNotLoopback) || !strings.Contains(err.Error(), host) {
			t.Errorf("NewHTTPServer(%s) = %v, want ErrNotLoopback that names %s", addr, err, host)
		}
	}
	for _, addr := range []string{"127.0.0.1:0", "127.0.0.2:0", "localhost:0", "LOCALHOST:0", "[::1]:0"} {
		if _, err := NewHTTPServer(w.surface, &HTTPOptions{Addr: addr}); err != nil {
			t.Errorf("NewHTTPServer(%s) = %v, want nil", addr, err)
		}
	}
	if _, err := NewHTTPServer(w.surface, &HTTPOptions{Addr: "0.0.0.0:0", AllowRemote: true, AllowedHosts: []string{"tools.example.com"}}); err != nil {
		t.Errorf("NewHTTPServer() with AllowRemote = %v, want nil", err)
	}
}

func TestHTTPOptionsNameTheField(t *testing.T) {
	t.Parallel()
	w := newWorld(t, presets.Gated)
	for name, opts := range map[string]*HTTPOptions{
		"Addr": {Addr: "nonsense"}, "Token": {Token: "short"}, "MaxBodyBytes": {MaxBodyBytes: -1}, "SessionTimeout": {SessionTimeout: -1},
		"MaxSessions": {MaxSessions: -1}, "StopTimeout": {StopTimeout: -1}, "Anonymous": {Addr: "0.0.0.0:0", AllowRemote: true, Anonymous: true},
		"AllowedHosts": {Addr: "0.0.0.0:0", AllowRemote: true}, "MaxConcurrent": {Tools: ToolServerOptions{MaxConcurrent: -1}},
	} {
		if _, err := NewHTTPServer(w.surface, opts); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), name) {
			t.Errorf("NewHTTPServer() = %v, want ErrInvalid that names %s", err, name)
		}
	}
	if _, err := NewHTTPServer(nil, nil); !errors.Is(err, ErrInvalid) {
		t.Errorf("NewHTTPServer(nil) = %v, want ErrInvalid", err)
	}
	if _, err := NewToolServer(nil, presets.Caller{}, nil); !errors.Is(err, ErrInvalid) {
		t.Errorf("NewToolServer(nil) = %v, want ErrInvalid", err)
	}
}

// Endpoints are opened, used, synced and closed while the server stops: nothing hangs and nothing is left.
func TestHTTPStorm(t *testing.T) {
	t.Parallel()
	w := newWorld(t, presets.Gated)
	server, err := NewHTTPServer(w.surface, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	const opens = 10
	rounds := make(chan struct{}, 1000)
	var storm sync.WaitGroup
	for worker := range 4 {
		storm.Go(func() {
			for round := range opens {
				rounds <- struct{}{}
				session := messages.SessionID(fmt.Sprintf("agt-ses-%d-%d", worker, round))
				endpoint, err := server.Open(t.Context(), presets.Caller{SessionID: session})
				if errors.Is(err, ErrStopping) {
					return
				}
				if err != nil {
					t.Errorf("Open() = %v", err)
					return
				}
				if _, err := endpoint.Bind(Turn{Caller: presets.Caller{SessionID: session}}); err != nil {
					t.Errorf("Bind() = %v", err)
				}
				// The server may stop at any moment, so none of these need succeed.
				_, _, _ = trySend(t, endpoint)
				_ = server.Sync(t.Context(), presets.Change{Global: true})
				_ = server.Status()
				if err := endpoint.Close(t.Context()); err != nil {
					t.Errorf("Close() = %v", err)
				}
			}
		})
	}
	for range 2 * opens {
		<-rounds
	}
	for range 3 {
		storm.Go(func() {
			if err := server.Stop(t.Context()); err != nil {
				t.Errorf("Stop() = %v", err)
			}
		})
	}
	storm.Wait()
	if got := server.Status(); got.Started || len(got.Endpoints) != 0 {
		t.Errorf("Status() after Stop = %+v", got)
	}
}

// trySend initializes a session, if the server still serves.
func trySend(tb testing.TB, endpoint *Endpoint) (int, string, error) {
	tb.Helper()
	url := endpoint.URL()
	if url == "" {
		return 0, "", ErrStopping
	}
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, url, strings.NewReader(legacyHello))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := (&http.Client{Transport: newWire(endpoint)}).Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}
