package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentd/cmd/agentd/internal/home"
	"agentd/messages"
)

// eras are the versions of MCP that clients speak.
func eras() []string {
	return []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}
}

// mcpProcess is a real "agentd mcp" process with a real client.
type mcpProcess struct {
	t       *testing.T
	data    string
	command *exec.Cmd
	stderr  *bytes.Buffer
	client  *sdk.ClientSession
}

func startMCP(t *testing.T, version, data string, opts *sdk.ClientOptions, args ...string) *mcpProcess {
	t.Helper()
	p := &mcpProcess{t: t, data: data, stderr: &bytes.Buffer{}}
	p.command = exec.Command(os.Args[0], append([]string{"--data-dir", data, "--workspace", t.TempDir(), "mcp"}, args...)...)
	p.command.Args[0] = "agentd" // The test binary is agentd when it is called so.
	p.command.Env = append(os.Environ(), "USER=ann")
	p.command.Stderr = p.stderr
	in, err := p.command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.command.Process.Kill() })
	p.client, err = sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, opts).Connect(
		t.Context(), &sdk.IOTransport{Reader: io.NopCloser(out), Writer: in}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatalf("connecting: %v\n%s", err, p.stderr)
	}
	return p
}

// end closes the connection, as a client's program does at its end, and returns the exit code.
func (p *mcpProcess) end() int {
	p.t.Helper()
	_ = p.client.Close()
	ended := make(chan error, 1)
	go func() { ended <- p.command.Wait() }()
	return awaitExit(p.t, p.command, ended, p.stderr)
}

// awaitExit waits for the end of a process, of which ended tells, and returns its exit code. Said is what it wrote to standard error.
func awaitExit(t *testing.T, command *exec.Cmd, ended <-chan error, said fmt.Stringer) int {
	t.Helper()
	select {
	case err := <-ended:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
	case <-time.After(awaitTime):
		t.Fatalf("the process does not end\n%s", said)
	}
	return command.ProcessState.ExitCode()
}

func (p *mcpProcess) tools() []string {
	p.t.Helper()
	list, err := p.client.ListTools(p.t.Context(), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func (p *mcpProcess) call(name string, arguments map[string]any) (*sdk.CallToolResult, string) {
	p.t.Helper()
	result, err := p.client.CallTool(p.t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", name, err, p.stderr)
	}
	var text strings.Builder
	for _, content := range result.Content {
		if c, ok := content.(*sdk.TextContent); ok {
			text.WriteString(c.Text)
		}
	}
	return result, text.String()
}

// sessions are the stored sessions of a data directory.
func storedSessions(t *testing.T, data string) []*messages.Document {
	t.Helper()
	reader, err := home.Dir(data).Read()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	listing, err := reader.List(t.Context())
	if err != nil || len(listing.Bad) > 0 {
		t.Fatalf("List() = %+v, %v", listing.Bad, err)
	}
	var out []*messages.Document
	for _, head := range listing.Sessions {
		doc, err := reader.Document(t.Context(), head.ID)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, doc)
	}
	return out
}

// story tells a session in short: types of items, tools, and how calls went.
func story(doc *messages.Document) []string {
	var out []string
	for _, item := range doc.Items {
		switch item.Type {
		case messages.ItemToolCall:
			out = append(out, "call "+item.Name+" "+string(item.Status))
		case messages.ItemToolResult:
			out = append(out, "result "+item.Name)
		case messages.ItemEvent:
			out = append(out, item.EventType)
		default:
			out = append(out, string(item.Type)+" "+string(item.Role))
		}
	}
	return out
}

func TestMCPServesASessionInAllEras(t *testing.T) {
	t.Parallel()
	for _, version := range eras() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			p := startMCP(t, version, data, nil)
			names := p.tools()
			if !slices.Contains(names, "space_drawing_insert_shape") || slices.Contains(names, "space_shell_run") {
				t.Errorf("the client sees %q, want the drawing and no shell", names)
			}
			result, text := p.call("space_drawing_insert_shape", map[string]any{"shape": "circle", "color": "#ff0000"})
			if result.IsError {
				t.Errorf("the drawing failed: %s", text)
			}
			// It is durable before the client hears of it.
			if got := storedSessions(t, data); len(got) != 1 || !slices.Contains(story(got[0]), "result space_drawing_insert_shape") {
				t.Errorf("while the client is connected %d sessions are stored, the first one %q", len(got), story(got[0]))
			}
			if code := p.end(); code != exitOK {
				t.Errorf("it exited with %d\n%s", code, p.stderr)
			}
			doc := storedSessions(t, data)[0]
			want := []string{"message user", "call space_drawing_insert_shape completed", "result space_drawing_insert_shape"}
			if got := story(doc); !slices.Equal(got, want) {
				t.Errorf("the session holds %q, want %q", got, want)
			}
			if doc.Head.AgentID != mcpAgent || doc.Head.Status != messages.SessionIdle || doc.Head.Turn == nil || doc.Head.Turn.Status != messages.TurnCompleted || doc.Head.Turn.Result != "1 call" {
				t.Errorf("the session is %+v, its turn %+v", doc.Head, doc.Head.Turn)
			}
			if p.stderr.Len() > 0 {
				t.Errorf("standard error says %s", p.stderr)
			}

			// The next client goes on in the same session, unless it wants a new one.
			p = startMCP(t, version, data, nil)
			p.call("space_drawing_insert_shape", map[string]any{"shape": "circle", "color": "#00ff00"})
			p.end()
			p = startMCP(t, version, data, nil, "--new")
			p.end()
			var turns []int
			for _, doc := range storedSessions(t, data) {
				turns = append(turns, doc.Head.TurnCount)
			}
			if slices.Sort(turns); !slices.Equal(turns, []int{1, 2}) {
				t.Errorf("sessions with %d turns are stored, want one with two turns and a new one", turns)
			}
		})
	}
}

func TestMCPApprovals(t *testing.T) {
	t.Parallel()
	shell := map[string]any{"command": "echo it-ran"}
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version+" allowed", func(t *testing.T) {
			t.Parallel()
			p := startMCP(t, version, filepath.Join(t.TempDir(), "data"), nil, "--yes-risk", "shell")
			if result, text := p.call("space_shell_run", shell); result.IsError || !strings.Contains(text, "it-ran") {
				t.Errorf("the command = %s", text)
			}
			p.end()
		})
		t.Run(version+" gated, and nobody can be asked", func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			p := startMCP(t, version, data, nil, "--exposure", "gated")
			if names := p.tools(); !slices.Contains(names, "space_shell_run") {
				t.Errorf("the client sees %q, want the shell too", names)
			}
			if result, text := p.call("space_shell_run", shell); !result.IsError || !strings.Contains(text, "approval_required") {
				t.Errorf("the command = %s, want approval_required", text)
			}
			p.end()
			if got := story(storedSessions(t, data)[0]); slices.ContainsFunc(got, func(s string) bool { return s == "call space_shell_run completed" }) {
				t.Errorf("the session holds %q", got)
			}
		})
		for _, decision := range []string{"approve once", "deny"} {
			t.Run(version+" the client's person: "+decision, func(t *testing.T) {
				t.Parallel()
				data := filepath.Join(t.TempDir(), "data")
				p := startMCP(t, version, data, &sdk.ClientOptions{
					ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
						return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": decision}}, nil
					},
				}, "--exposure", "gated")
				approved := decision != "deny"
				if result, text := p.call("space_shell_run", shell); result.IsError == approved || strings.Contains(text, `"status":"denied"`) == approved {
					t.Errorf("the command = %s", text)
				}
				p.end()
				status := "denied"
				if approved {
					status = "completed"
				}
				want := []string{"message user", "call space_shell_run " + status, "approval-requested", "approval-decided", "result space_shell_run"}
				if got := story(storedSessions(t, data)[0]); !slices.Equal(got, want) {
					t.Errorf("the session holds %q, want %q", got, want)
				}
			})
		}
	}
}

func TestMCPRefuses(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	agentd := func(args ...string) (int, string) {
		cmd := exec.Command(os.Args[0], append([]string{"--data-dir", data}, args...)...)
		cmd.Args[0] = "agentd"
		out, _ := cmd.CombinedOutput()
		return cmd.ProcessState.ExitCode(), string(out)
	}
	if code, out := agentd("run", "--json", "say hello"); code != exitOK {
		t.Fatal(out)
	}
	doc := storedSessions(t, data)[0]
	for _, c := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"mcp", "--exposure", "open"}, exitUsage, `--exposure "open"`},
		{[]string{"mcp", "--session", string(doc.Head.ID)}, exitUsage, `belongs to agent "local"`},
		{[]string{"mcp", "--session", "agt-ses-none"}, exitNotFound, "agt-ses-none"},
		{[]string{"mcp", "--session", "x", "--new"}, exitUsage, "session"},
		{[]string{"mcp", "--yes-risk", "nuclear"}, exitUsage, "--yes-risk"},
	} {
		if code, out := agentd(c.args...); code != c.code || !strings.Contains(out, c.text) {
			t.Errorf("agentd %q exited with %d: %s, want %d and %q", c.args, code, out, c.code, c.text)
		}
	}
	p := startMCP(t, "2025-11-25", data, nil)
	if code, out := agentd("mcp"); code != exitInUse {
		t.Errorf("a second one exited with %d: %s", code, out)
	}
	p.end()
}

// TestMCPRawLines speaks without a client library: nothing but answers is on standard output.
func TestMCPRawLines(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], "--data-dir", filepath.Join(t.TempDir(), "data"), "mcp", "-v")
	cmd.Args[0] = "agentd"
	cmd.Stdin = strings.NewReader("nonsense\n" +
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 3 {
		t.Fatalf("it answered %d lines, want three:\n%s", len(lines), out)
	}
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line is no JSON: %s", line)
		}
	}
	if !strings.Contains(lines[0], "-32700") || !strings.Contains(string(out), "space_drawing_insert_shape") {
		t.Errorf("it answered\n%s", out)
	}
}
