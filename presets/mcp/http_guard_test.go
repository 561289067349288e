package mcp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentd/presets"
)

// rawRequest is one HTTP request that no good client sends.
type rawRequest struct {
	method  string
	path    string // "" is the endpoint's
	sse     bool
	host    string
	headers map[string]string
	body    string
	keep    bool // keeps the headers of a good client
}

// hello is the request of a good client.
func hello(change func(*rawRequest)) rawRequest {
	r := rawRequest{method: http.MethodPost, body: legacyHello, keep: true, headers: map[string]string{}}
	if change != nil {
		change(&r)
	}
	return r
}

func (r rawRequest) send(tb testing.TB, endpoint *Endpoint) (status int, header http.Header, body string) {
	tb.Helper()
	url := endpoint.URL()
	if r.sse {
		url = endpoint.SSEURL()
	}
	if r.path != "" {
		url = endpoint.server.Status().URL + r.path
	}
	ctx, cancel := context.WithCancel(tb.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, r.method, url, strings.NewReader(r.body))
	if err != nil {
		tb.Fatal(err)
	}
	if r.keep {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		for name, value := range endpoint.Headers() {
			req.Header.Set(name, value)
		}
	}
	for name, value := range r.headers {
		if value == "" {
			req.Header.Del(name)
			continue
		}
		req.Header.Set(name, value)
	}
	if r.host != "" {
		req.Host = r.host
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer resp.Body.Close()
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") && r.method == http.MethodGet {
		line, _ := bufio.NewReader(resp.Body).ReadString('\n') // A stream has no end.
		return resp.StatusCode, resp.Header, line
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(text)
}

func TestHTTPWhoMayTalk(t *testing.T) {
	t.Parallel()
	w := newWorld(t, presets.Hidden)
	server := startServer(t, w, &HTTPOptions{AllowedOrigins: []string{"https://console.example.com"}, AllowedHosts: []string{"tools.example.com"}})
	endpoint := openEndpoint(t, w, server)
	port := server.Status().Port
	header := func(name, value string) func(*rawRequest) {
		return func(r *rawRequest) { r.headers[name] = value }
	}
	origin := func(origin string) func(*rawRequest) { return header("Origin", origin) }
	host := func(host string) func(*rawRequest) { return func(r *rawRequest) { r.host = host } }
	tests := []struct {
		name   string
		change func(*rawRequest)
		want   int
	}{
		{"a good client", nil, 200},
		{"no token", header("Authorization", ""), 401},
		{"a wrong token", header("Authorization", "Bearer "+strings.Repeat("x", 26)), 401},
		{"an empty token", header("Authorization", "Bearer "), 401},
		{"a token that is longer", header("Authorization", "Bearer "+server.Token()+"x"), 401},
		{"another scheme", header("Authorization", "Basic "+server.Token()), 401},
		{"the scheme in other letters", header("Authorization", "bearer "+server.Token()), 200},
		{"a foreign host", host("evil.example.com"), 403},
		{"a foreign host with our port", host(fmt.Sprintf("evil.example.com:%d", port)), 403},
		{"a host that begins like ours", host("127.0.0.1.example.com"), 403},
		{"a host that begins with localhost", host("localhost.example.com"), 403},
		{"localhost", host(fmt.Sprintf("localhost:%d", port)), 200},
		{"IPv6 loopback", host(fmt.Sprintf("[::1]:%d", port)), 200},
		{"an address of the network", host("192.0.2.7:80"), 403},
		{"an allowed host", host("tools.example.com"), 200},
		{"an allowed host in other letters", host("TOOLS.example.com:8080"), 200},
		{"our own origin", origin(fmt.Sprintf("http://127.0.0.1:%d", port)), 200},
		{"another port of this machine", origin("http://127.0.0.1:1"), 403},
		{"a foreign origin", origin("https://evil.example.com"), 403},
		{"no origin to speak of", origin("null"), 403},
		{"an origin that is no URL", origin("http://["), 403},
		{"our origin by another scheme", origin(fmt.Sprintf("https://127.0.0.1:%d", port)), 403},
		{"an allowed origin", origin("https://console.example.com"), 200},
		{"a page that hides its origin", header("Sec-Fetch-Site", "cross-site"), 403},
		{"a page of this machine that hides its origin", header("Sec-Fetch-Site", "same-site"), 403},
		{"a person's browser", header("Sec-Fetch-Site", "none"), 200},
		{"an unknown path", func(r *rawRequest) { r.path = "/mcp/guess" }, 404},
		{"no path", func(r *rawRequest) { r.path = "/" }, 404},
		{"the path without its end", func(r *rawRequest) { r.path = "/mcp/" }, 404},
		{"an unknown path without token", func(r *rawRequest) { r.path = "/mcp/guess"; r.headers["Authorization"] = "" }, 401},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for _, sse := range []bool{false, true} { // A GET of the older transport makes a session, so it is checked alike.
				request := hello(tc.change)
				if sse {
					request.method, request.body, request.sse = http.MethodGet, "", true
					request.path = strings.Replace(request.path, "/mcp/", "/sse/", 1)
				}
				status, header, body := request.send(t, endpoint)
				if status != tc.want {
					t.Errorf("over SSE %t: status %d, want %d (%s)", sse, status, tc.want, body)
				}
				if status == 401 && header.Get("WWW-Authenticate") != "Bearer" {
					t.Errorf("over SSE %t: WWW-Authenticate is %q, want Bearer", sse, header.Get("WWW-Authenticate"))
				}
				if strings.Contains(body, server.Token()) {
					t.Errorf("over SSE %t: the answer holds the token", sse)
				}
			}
		})
	}
}

func TestHTTPBadRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, presets.Hidden)
	server := startServer(t, w, &HTTPOptions{MaxBodyBytes: 10_000})
	endpoint := openEndpoint(t, w, server)
	body := func(body string) func(*rawRequest) { return func(r *rawRequest) { r.body = body } }
	tests := []struct {
		name   string
		change func(*rawRequest)
		status int
		code   int // of the protocol; 0 if there is none
	}{
		{"malformed", body("{"), 400, -32700},
		{"empty", body(""), 400, -32700},
		{"not UTF-8", body("\"\xff\""), 400, -32700},
		{"a batch", body("[" + legacyHello + "]"), 400, -32600},
		{"no message", body("{}"), 400, -32600},
		{"id null", body(request("null", "ping", "")), 400, -32600},
		{"id fraction", body(request("1.5", "ping", "")), 400, -32600},
		{"too long", body(`"` + strings.Repeat("x", 10_000) + `"`), 413, -32600},
		{"initialize of the wrong shape", body(request("1", "initialize", `"protocolVersion":5`)), 400, -32602},
		{"tool name of the wrong kind", func(r *rawRequest) {
			r.headers[headerVersion], r.headers["Mcp-Method"] = "2026-07-28", "tools/call"
			r.body = request("1", "tools/call", `"name":5,`+modernMeta)
		}, 400, -32602},
		{"no session", body(request("1", "tools/list", "")), 400, -32001},
		{"no session, a notification", body(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), 400, -32001},
		{"unknown session", func(r *rawRequest) { r.headers[headerSession] = "guess"; r.body = request("1", "ping", "") }, 404, -32001},
		{"unknown session, GET", func(r *rawRequest) { r.method, r.body = http.MethodGet, ""; r.headers[headerSession] = "guess" }, 404, -32001},
		{"unknown session, DELETE", func(r *rawRequest) { r.method, r.body = http.MethodDelete, ""; r.headers[headerSession] = "guess" }, 404, -32001},
		{"wrong content type", func(r *rawRequest) { r.headers["Content-Type"] = "text/plain" }, 415, 0},
		{"wrong accept", func(r *rawRequest) { r.headers["Accept"] = "text/html" }, 400, 0},
		{"another method", func(r *rawRequest) { r.method = http.MethodPut }, 405, 0},
		{"GET without session", func(r *rawRequest) { r.method, r.body = http.MethodGet, "" }, 400, 0},
		{"an unknown version", func(r *rawRequest) { r.headers[headerVersion] = "1999-01-01" }, 400, 0},
		{"a version of the future", func(r *rawRequest) {
			r.headers[headerVersion] = "2099-01-01"
			r.headers["Mcp-Method"] = "tools/list"
			r.body = request("1", "tools/list", strings.ReplaceAll(modernMeta, "2026-07-28", "2099-01-01"))
		}, 400, -32022},
		{"modern without metadata", func(r *rawRequest) {
			r.headers[headerVersion] = "2026-07-28"
			r.headers["Mcp-Method"] = "tools/list"
			r.body = request("1", "tools/list", "")
		}, 400, -32602},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			request := hello(tc.change)
			status, _, body := request.send(t, endpoint)
			if status != tc.status {
				t.Errorf("status = %d, want %d (%.200s)", status, tc.status, body)
			}
			if want := fmt.Sprintf(`"code":%d`, tc.code); tc.code != 0 && !strings.Contains(body, want) {
				t.Errorf("body = %.300s, want %s", body, want)
			}
			for _, leak := range []string{"mcp.", "Go struct"} {
				if strings.Contains(body, leak) {
					t.Errorf("body = %.300s holds %q", body, leak)
				}
			}
		})
	}
	t.Cleanup(func() {
		if got := endpoint.Status().Clients; got != 0 {
			t.Errorf("%d sessions are left of refused requests", got)
		}
	})
}

func TestHTTPSessionsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, presets.Hidden)
	endpoint := openEndpoint(t, w, startServer(t, w, &HTTPOptions{MaxSessions: 3}))
	var sessions []string
	for range 3 {
		status, header, body := hello(nil).send(t, endpoint)
		if status != 200 {
			t.Fatalf("initialize = %d %s", status, body)
		}
		sessions = append(sessions, header.Get(headerSession))
	}
	if status, header, _ := hello(nil).send(t, endpoint); status != 503 || header.Get("Retry-After") == "" {
		t.Errorf("one session too many = %d, want 503 with Retry-After", status)
	}
	if status, _, _ := hello(func(r *rawRequest) { r.method, r.body = http.MethodDelete, ""; r.headers[headerSession] = sessions[0] }).send(t, endpoint); status != 204 {
		t.Errorf("DELETE = %d, want 204", status)
	}
	if status, _, body := hello(nil).send(t, endpoint); status != 200 {
		t.Errorf("initialize after DELETE = %d %s, want 200", status, body)
	}
	if status, _, _ := hello(func(r *rawRequest) { r.headers[headerSession] = sessions[0]; r.body = request("1", "ping", "") }).send(t, endpoint); status != 404 {
		t.Errorf("a request of a session that has ended = %d, want 404", status)
	}
	// Streams of the older transport have their own places.
	streams := make([]*testClient, 3)
	for i := range streams {
		streams[i] = connect(t, endpoint, transportKinds()[3], nil)
		defer streams[i].close()
	}
	if status, _, _ := (rawRequest{method: http.MethodGet, sse: true, keep: true}).send(t, endpoint); status != 503 {
		t.Errorf("one stream too many = %d, want 503", status)
	}
}

// A session that nobody uses ends; one whose client stands and listens does not.
func TestHTTPSessionTimeout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, presets.Hidden)
	endpoint := openEndpoint(t, w, startServer(t, w, &HTTPOptions{SessionTimeout: 2 * time.Second}))
	listening := connect(t, endpoint, transportKinds()[1], nil)
	defer listening.close()
	if status, _, _ := hello(nil).send(t, endpoint); status != 200 {
		t.Fatalf("initialize = %d", status)
	}
	eventually(t, "the abandoned session ends", func() bool { return endpoint.Status().Clients == 1 })
	if _, err := listening.call(t.Context(), "space_echo", nil); err != nil {
		t.Errorf("the client that listens got %v", err)
	}
}

func TestSessionTable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		expired := make(chan string, 10)
		table := newSessionTable(time.Minute, 2, func(id string) { expired <- id })
		table.add("a")
		table.add("a") // Once more changes nothing.
		<-time.After(2 * time.Minute)
		synctest.Wait()
		table.end("a")
		<-time.After(50 * time.Second)
		if !table.begin("a") {
			t.Error("begin(a) = false, want true")
		}
		<-time.After(5 * time.Minute)
		table.end("a")
		table.add("b")
		if !table.full() || table.len() != 2 {
			t.Errorf("full() = %t with %d, want true with 2", table.full(), table.len())
		}
		<-time.After(59 * time.Second)
		synctest.Wait()
		if len(expired) != 0 {
			t.Errorf("expired %v before the time", <-expired)
		}
		<-time.After(2 * time.Second)
		synctest.Wait()
		if len(expired) != 1 || <-expired != "a" {
			t.Error("want exactly the unused session to expire")
		}
		if table.begin("a") {
			t.Error("begin of an expired session = true")
		}
		table.end("a")
		table.remove("b")
		table.remove("b")
		table.add("c")
		table.clear()
		if table.len() != 0 {
			t.Errorf("%d sessions after clear", table.len())
		}
	})
}

// A client that ends its session ends its calls too, and does not wait for them.
func TestHTTPDeleteEndsCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t, presets.Gated)
	endpoint := openEndpoint(t, w, startServer(t, w, nil))
	client := connect(t, endpoint, transportKinds()[1], nil)
	defer client.close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = client.call(context.Background(), "space_run", nil)
	}()
	request := w.question()
	id := client.session.ID()
	if status, _, _ := hello(func(r *rawRequest) { r.method, r.body = http.MethodDelete, ""; r.headers[headerSession] = id }).send(t, endpoint); status != 204 {
		t.Errorf("DELETE = %d, want 204", status)
	}
	<-done
	w.withdrawn(request)
	if got := w.runs(); len(got) != 0 {
		t.Errorf("it ran: %v", got)
	}
}

// The header by which calls are tied to requests is ours: what a client sends in it is thrown away.
func TestHTTPLinkHeaderCannotBeForged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, presets.Gated)
	endpoint := openEndpoint(t, w, startServer(t, w, nil))
	victim := connect(t, endpoint, transportKinds()[1], nil)
	defer victim.close()
	done := make(chan error, 1)
	go func() {
		_, err := victim.call(t.Context(), "space_hold", nil)
		done <- err
	}()
	<-w.begun
	for number := range 50 {
		hello(func(r *rawRequest) {
			r.headers[headerLink] = fmt.Sprint(number)
			r.headers[headerVersion] = "2026-07-28"
			r.headers["Mcp-Method"] = "tools/list"
			r.body = request("1", "tools/list", modernMeta)
		}).send(t, endpoint)
	}
	close(w.hold)
	if err := <-done; err != nil {
		t.Errorf("the other client's call = %v, want nil", err)
	}
}

// An initialize that asks for the newer lifecycle gets the newest version that initialize has.
func TestHTTPInitializeAsksForANewerVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, presets.Hidden)
	endpoint := openEndpoint(t, w, startServer(t, w, nil))
	status, _, body := hello(func(r *rawRequest) { r.body = strings.ReplaceAll(legacyHello, "2025-11-25", "2026-07-28") }).send(t, endpoint)
	if status != 200 || !strings.Contains(body, `"protocolVersion":"2025-11-25"`) {
		t.Errorf("initialize = %d %.300s, want version 2025-11-25", status, body)
	}
}

// A connection that breaks ends the call that it carries, in both lifecycles: a dead client sends no notification.
func TestHTTPBrokenConnectionEndsTheCall(t *testing.T) {
	t.Parallel()
	for _, modern := range []bool{false, true} {
		t.Run(fmt.Sprintf("modern %t", modern), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, presets.Gated)
			endpoint := openEndpoint(t, w, startServer(t, w, nil))
			meta, headers := "", map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
			if modern {
				meta = "," + modernMeta
				headers[headerVersion], headers["Mcp-Method"], headers["Mcp-Name"] = "2026-07-28", "tools/call", "space_run"
			} else {
				_, header, _ := hello(nil).send(t, endpoint)
				headers[headerSession] = header.Get(headerSession)
			}
			ctx, breakOff := context.WithCancel(t.Context())
			defer breakOff()
			body := request("1", "tools/call", `"name":"space_run","arguments":{}`+meta)
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint.URL(), strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range headers {
				req.Header.Set(name, value)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				if resp, err := (&http.Client{Transport: newWire(endpoint)}).Do(req); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
			}()
			request := w.question()
			breakOff()
			<-done
			w.withdrawn(request)
			if got := w.runs(); len(got) != 0 {
				t.Errorf("it ran: %v", got)
			}
		})
	}
}
