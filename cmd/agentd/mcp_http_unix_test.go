//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentd/messages"
)

// httpProcess is a real "agentd mcp --http" process.
type httpProcess struct {
	t       *testing.T
	command *exec.Cmd
	url     string
	token   string // empty if it asks for none
	said    *saying
	over    chan error
}

// saying is what a process writes to standard error.
type saying struct {
	mu    sync.Mutex
	text  bytes.Buffer
	ready chan string // the first line
}

func (s *saying) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// read keeps everything until the end of the stream.
func (s *saying) read(stream io.Reader) {
	defer close(s.ready)
	lines := bufio.NewScanner(stream)
	for first := true; lines.Scan(); {
		s.mu.Lock()
		s.text.WriteString(lines.Text() + "\n")
		s.mu.Unlock()
		if first && strings.Contains(lines.Text(), "serving the tools") {
			first = false
			s.ready <- lines.Text()
		}
	}
}

func startHTTP(t *testing.T, data string, env []string, args ...string) *httpProcess {
	t.Helper()
	p := &httpProcess{t: t, said: &saying{ready: make(chan string, 1)}, over: make(chan error, 1)}
	p.command = exec.Command(os.Args[0], append([]string{"--data-dir", data, "--workspace", t.TempDir(), "mcp", "--http", "127.0.0.1:0"}, args...)...)
	p.command.Args[0] = "agentd" // The test binary is agentd when it is called so.
	p.command.Env = append(append(os.Environ(), "USER=ann"), env...)
	stderr, err := p.command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.said.read(stderr)
	}()
	go func() {
		<-read
		p.over <- p.command.Wait()
	}()
	t.Cleanup(func() { _ = p.command.Process.Kill() })
	select {
	case line := <-p.said.ready:
		p.url = regexp.MustCompile(`http://[^ ]+`).FindString(line)
		if _, path, found := strings.Cut(line, "bearer token in "); found {
			path = strings.TrimSuffix(path, ")")
			if text, err := os.ReadFile(path); err == nil {
				p.token = strings.TrimSpace(string(text))
			}
		}
	case <-time.After(awaitTime):
	}
	if p.url == "" {
		t.Fatalf("it said no URL, but\n%s", p.said)
	}
	return p
}

// RoundTrip implements [http.RoundTripper]: it sends the token.
func (p *httpProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	if p.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+p.token)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// connect returns a real client, and a way to call with it.
func (p *httpProcess) connect(version string, opts *sdk.ClientOptions) *mcpProcess {
	p.t.Helper()
	var transport sdk.Transport = &sdk.StreamableClientTransport{Endpoint: p.url, HTTPClient: &http.Client{Transport: p}, MaxRetries: -1}
	if version == "2024-11-05" {
		transport = &sdk.SSEClientTransport{Endpoint: strings.Replace(p.url, "/mcp", "/sse", 1), HTTPClient: &http.Client{Transport: p}}
	}
	client, err := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, opts).Connect(p.t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		p.t.Fatalf("connecting: %v\n%s", err, p.said)
	}
	return &mcpProcess{t: p.t, client: client, stderr: &bytes.Buffer{}}
}

// end tells the process to end, and returns the exit code.
func (p *httpProcess) end(sig os.Signal) int {
	p.t.Helper()
	p.signal(sig)
	return p.wait()
}

func (p *httpProcess) signal(sig os.Signal) {
	p.t.Helper()
	if err := p.command.Process.Signal(sig); err != nil {
		p.t.Fatal(err)
	}
}

func (p *httpProcess) wait() int {
	p.t.Helper()
	return awaitExit(p.t, p.command, p.over, p.said)
}

// transports are versions of MCP that come by different ways: SSE, the streamable transport with sessions, and that without.
func transports() []string { return []string{"2024-11-05", "2025-11-25", "2026-07-28"} }

func TestMCPOverHTTPInAllEras(t *testing.T) {
	t.Parallel()
	for _, version := range transports() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			p := startHTTP(t, data, nil, "-vv")
			one, two := p.connect(version, nil), p.connect(version, nil)
			if names := one.tools(); !slices.Contains(names, "space_drawing_insert_shape") || slices.Contains(names, "space_shell_run") {
				t.Errorf("the client sees %q, want the drawing and no shell", names)
			}
			for _, client := range []*mcpProcess{one, two} {
				if result, text := client.call("space_drawing_insert_shape", map[string]any{"shape": "circle", "color": "#ff0000"}); result.IsError {
					t.Errorf("the drawing failed: %s", text)
				}
			}
			if got := storedSessions(t, data); len(got) != 1 || !slices.Contains(story(got[0]), "result space_drawing_insert_shape") {
				t.Errorf("while clients are connected %d sessions are stored", len(got))
			}
			_ = two.client.Close()
			if code := p.end(syscall.SIGTERM); code != exitOK {
				t.Errorf("it exited with %d\n%s", code, p.said)
			}
			_ = one.client.Close()
			doc := storedSessions(t, data)[0]
			want := []string{
				"message user", "call space_drawing_insert_shape completed", "result space_drawing_insert_shape",
				"call space_drawing_insert_shape completed", "result space_drawing_insert_shape",
			}
			if got := story(doc); !slices.Equal(got, want) {
				t.Errorf("the session holds %q, want %q", got, want)
			}
			if doc.Head.AgentID != mcpAgent || doc.Head.Turn == nil || doc.Head.Turn.Status != messages.TurnCompleted || doc.Head.Turn.Result != "2 calls" {
				t.Errorf("the session is %+v, its turn %+v", doc.Head, doc.Head.Turn)
			}
			if strings.Contains(p.said.String(), p.token) {
				t.Errorf("standard error holds the token")
			}

			// Clients are configured once: the next start has the same token and goes on in the same session.
			again := startHTTP(t, data, nil)
			if again.token != p.token || len(again.token) < 16 || !strings.HasSuffix(again.url, "/mcp") {
				t.Errorf("the second start has token %q after %q, and the URL %s", again.token, p.token, again.url)
			}
			if code := again.end(syscall.SIGINT); code != exitOK {
				t.Errorf("it exited with %d\n%s", code, again.said)
			}
			if docs := storedSessions(t, data); len(docs) != 1 || docs[0].Head.TurnCount != 2 {
				t.Errorf("%d sessions are stored, want one with two turns", len(docs))
			}
		})
	}
}

func TestMCPOverHTTPWhoMayTalk(t *testing.T) {
	t.Parallel()
	const token = "a-token-of-the-person-0123456789"
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, start := range []struct {
		name string
		args []string
		env  []string
	}{
		{"made token", nil, nil},
		{"token file", []string{"--token-file", file}, []string{envMCPToken + "=another-token-0123456789"}},
		{"token variable", nil, []string{envMCPToken + "=" + token}},
		{"anonymous", []string{"--anonymous"}, []string{envMCPToken + "=" + token}},
		{"another name", []string{"--allow-host", "tools.example.com"}, nil},
	} {
		t.Run(start.name, func(t *testing.T) {
			t.Parallel()
			p := startHTTP(t, filepath.Join(t.TempDir(), "data"), start.env, append(start.args, "-vv")...)
			anonymous := start.name == "anonymous"
			switch start.name {
			case "token file", "token variable":
				p.token = token
			case "anonymous":
				p.token = ""
			}
			server, _, _ := strings.Cut(p.url, "/mcp")
			unauthorized := http.StatusUnauthorized
			if anonymous {
				unauthorized = http.StatusOK
			}
			otherName := http.StatusForbidden
			if start.name == "another name" {
				otherName = http.StatusOK
			}
			for _, c := range []struct {
				name, url, token, host, origin string
				want                           int
			}{
				{"a good client", p.url, p.token, "", "", http.StatusOK},
				{"no token", p.url, "", "", "", unauthorized},
				{"a wrong token", p.url, "wrong-token-0123456789", "", "", unauthorized},
				{"the token that does not count", p.url, "another-token-0123456789", "", "", unauthorized},
				{"a foreign host", p.url, p.token, "evil.example.com", "", http.StatusForbidden},
				{"another name", p.url, p.token, "tools.example.com:8080", "", otherName},
				{"a web page", p.url, p.token, "", "https://evil.example.com", http.StatusForbidden},
				{"a guessed path", server + "/mcp/guess", p.token, "", "", http.StatusNotFound},
			} {
				if got, body := p.hello(c.url, c.token, c.host, c.origin); got != c.want {
					t.Errorf("%s: status %d, want %d: %s", c.name, got, c.want, body)
				}
			}
			if anonymous {
				if got, _ := p.hello(server+"/mcp", "", "", ""); got != http.StatusNotFound {
					t.Errorf("without a token the known path answers %d, want 404", got)
				}
			}
			if code := p.end(syscall.SIGTERM); code != exitOK {
				t.Errorf("it exited with %d\n%s", code, p.said)
			}
			if p.token != "" && strings.Contains(p.said.String(), p.token) {
				t.Error("standard error holds the token")
			}
		})
	}
}

// A start that fails leaves no turn behind, and says what to do.
func TestMCPOverHTTPCannotStart(t *testing.T) {
	t.Parallel()
	taken := startHTTP(t, filepath.Join(t.TempDir(), "data"), nil)
	defer taken.end(syscall.SIGTERM)
	addr := strings.TrimSuffix(strings.TrimPrefix(taken.url, "http://"), "/mcp")
	data := filepath.Join(t.TempDir(), "data")
	bad := filepath.Join(t.TempDir(), "data")
	if err := os.MkdirAll(filepath.Join(bad, "agent-mcp"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bad, "agent-mcp", "token"), []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ data, addr, want string }{
		{data, addr, "address already in use; with --http 127.0.0.1:0 there is a free port"},
		{bad, "127.0.0.1:0", "remove the file to have a new one made"},
	} {
		cmd := exec.Command(os.Args[0], "--data-dir", c.data, "mcp", "--http", c.addr)
		cmd.Args[0] = "agentd"
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(string(out), c.want) || strings.Contains(string(out), "secret") {
			t.Errorf("it exited with %d: %s, want %d and %q", code, out, exitFailed, c.want)
		}
		if docs := storedSessions(t, c.data); len(docs) != 0 {
			t.Errorf("%d sessions are stored, want none", len(docs))
		}
	}
}

// hello sends the first request of a client by hand.
func (p *httpProcess) hello(url, token, host, origin string) (status int, body string) {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, url, strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`))
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range map[string]string{"Authorization": "Bearer " + token, "Origin": origin} {
		if value != "" && value != "Bearer " {
			request.Header.Set(name, value)
		}
	}
	if host != "" {
		request.Host = host
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func TestMCPOverHTTPApprovals(t *testing.T) {
	t.Parallel()
	shell := map[string]any{"command": "echo it-ran"}
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			p := startHTTP(t, data, nil, "--exposure", "gated")
			defer p.end(syscall.SIGTERM)
			dumb := p.connect(version, nil)
			if result, text := dumb.call("space_shell_run", shell); !result.IsError || !strings.Contains(text, "approval_required") {
				t.Errorf("a client that cannot ask got %s, want approval_required", text)
			}
			for decision, want := range map[string]string{"approve once": "it-ran", "deny": `"status":"denied"`} {
				client := p.connect(version, &sdk.ClientOptions{
					ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
						return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": decision}}, nil
					},
				})
				if result, text := client.call("space_shell_run", shell); result.IsError != (decision == "deny") || !strings.Contains(text, want) {
					t.Errorf("after %q the command = %s, want %q in it", decision, text, want)
				}
				_ = client.client.Close()
			}
			_ = dumb.client.Close()
		})
	}
}

// TestMCPOverHTTPIsToldToEnd ends the process while calls run: one that is about to end is answered, one that is not is interrupted.
func TestMCPOverHTTPIsToldToEnd(t *testing.T) {
	t.Parallel()
	for _, version := range transports() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			data, pid, leave := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "pid"), filepath.Join(t.TempDir(), "leave")
			p := startHTTP(t, data, nil, "--yes-risk", "shell")
			one, two := p.connect(version, nil), p.connect(version, nil)
			answers := make(chan string, 1)
			go func() {
				command := "until [ -e " + leave + " ]; do sleep 0.05; done; echo it-ended"
				result, err := one.client.CallTool(t.Context(), &sdk.CallToolParams{Name: "space_shell_run", Arguments: map[string]any{"command": command}})
				if err != nil {
					answers <- err.Error()
					return
				}
				answers <- fmt.Sprint(result.Content[0].(*sdk.TextContent).Text)
			}()
			go func() {
				_, _ = two.client.CallTool(context.Background(), &sdk.CallToolParams{
					Name: "space_shell_run", Arguments: map[string]any{"command": "echo $$ > " + pid + "; sleep 100"},
				})
			}()
			shell := 0
			for deadline := time.Now().Add(awaitTime); shell == 0; <-time.After(10 * time.Millisecond) {
				text, _ := os.ReadFile(pid)
				shell, _ = strconv.Atoi(strings.TrimSpace(string(text)))
				if docs := storedSessions(t, data); len(docs) == 0 || times(story(docs[0]), "call space_shell_run running") != 2 {
					shell = 0
				}
				if time.Now().After(deadline) {
					t.Fatal("the commands do not run")
				}
			}
			p.signal(syscall.SIGTERM)
			if err := os.WriteFile(leave, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if code := p.wait(); code != exitOK {
				t.Errorf("it exited with %d\n%s", code, p.said)
			}
			if got := <-answers; !strings.Contains(got, "it-ended") {
				t.Errorf("the call that could end was answered %q", got)
			}
			if err := syscall.Kill(shell, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("the command lives on: kill(%d, 0) = %v", shell, err)
			}
			doc := storedSessions(t, data)[0]
			if got := story(doc); times(got, "result space_shell_run") != 2 || times(got, "call space_shell_run completed") != 1 || doc.Head.Turn.Status != messages.TurnCompleted {
				t.Errorf("the turn is %+v and the session holds %q, want one call completed and both with a result", doc.Head.Turn, got)
			}
		})
	}
}

func times(list []string, word string) int {
	n := 0
	for _, s := range list {
		if s == word {
			n++
		}
	}
	return n
}
