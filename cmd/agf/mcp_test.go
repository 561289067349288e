package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// patience bounds the waits of tests for what another process does.
const patience = 60 * time.Second

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// server is an "agf mcp" process and a client that writes raw lines to it.
type server struct {
	tb     testing.TB
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan string
	errs   bytes.Buffer
	modern bool
	n      int
}

func (p *place) serve(args ...string) *server {
	p.tb.Helper()
	s := &server{tb: p.tb, cmd: p.command(p.tb.Context(), args...), lines: make(chan string, 100)}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		p.tb.Fatal(err)
	}
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		p.tb.Fatal(err)
	}
	s.cmd.Stderr = &s.errs
	if err := s.cmd.Start(); err != nil {
		p.tb.Fatal(err)
	}
	go func() {
		defer close(s.lines)
		scanner := bufio.NewScanner(out)
		scanner.Buffer(nil, 16<<20)
		for scanner.Scan() {
			s.lines <- scanner.Text()
		}
	}()
	return s
}

func (s *server) send(line string) {
	s.tb.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.tb.Fatalf("writing to the server: %v; it said %q", err, s.errs.String())
	}
}

// next returns the next line, decoded.
func (s *server) next() map[string]any {
	s.tb.Helper()
	select {
	case line, open := <-s.lines:
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); !open || err != nil {
			s.tb.Fatalf("the server wrote %q, open: %t: %v", line, open, err)
		}
		return v
	case <-time.After(patience):
		s.tb.Fatal("no answer from the server")
	}
	return nil
}

func (s *server) request(method, params string) map[string]any {
	s.tb.Helper()
	s.n++
	if s.modern {
		params = strings.TrimPrefix(params+","+meta, ",")
	}
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, s.n, method, params))
	return s.next()
}

// greet introduces a client: by initialize with that version, or with none in the newer lifecycle.
func (s *server) greet(version string) {
	s.tb.Helper()
	if s.modern = version == ""; s.modern {
		s.request("server/discover", "")
		return
	}
	s.request("initialize", fmt.Sprintf(`"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"1"}`, version))
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// call calls a tool and returns the text of its answer.
func (s *server) call(tool, arguments string) string {
	s.tb.Helper()
	r := s.request("tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments))
	result, _ := r["result"].(map[string]any)
	content, _ := result["content"].([]any)
	if len(content) != 1 {
		s.tb.Fatalf("%s %s is answered %v", tool, arguments, r)
	}
	item, _ := content[0].(map[string]any)
	text, _ := item["text"].(string)
	return text
}

// end closes the input and expects an exit code.
func (s *server) end(want int) {
	s.tb.Helper()
	_ = s.in.Close()
	s.exits(want)
}

func (s *server) exits(want int) {
	s.tb.Helper()
	for range s.lines { // To the end of the output; the process has gone then, or the test's context ends it.
		continue
	}
	_ = s.cmd.Wait()
	if got := s.cmd.ProcessState.ExitCode(); got != want {
		s.tb.Errorf("agf mcp exited with %d, want %d; it said %q", got, want, s.errs.String())
	}
	if (want == 0) != (s.errs.Len() == 0) || s.errs.Len() > 4096 {
		s.tb.Errorf("agf mcp exited with %d and said %.500q", want, s.errs.String())
	}
}

// TestMCPProcess lets a real process answer in each era what the command answers.
func TestMCPProcess(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, version := range []string{"2024-11-05", "2025-06-18", "2025-11-25", ""} {
		t.Run("version "+version, func(t *testing.T) {
			t.Parallel()
			s := p.serve("mcp")
			s.greet(version)
			for _, test := range []struct {
				args            []string
				tool, arguments string
			}{
				{[]string{"search", "zyxwq", "--include-summaries"}, "agf_search_sessions", `{"query":"zyxwq","include_summaries":true}`},
				{[]string{"search", "--limit", "0"}, "agf_search_sessions", `{"limit":0}`},
				{[]string{"show", parserID, "--agent", "claude"}, "agf_get_session", `{"agent":"claude","session_id":"` + parserID + `"}`},
				{[]string{"show", twinID, "--agent", "claude"}, "agf_get_session", `{"agent":"claude","session_id":"` + twinID + `"}`},
				{[]string{"resume-plan", buttonID, "--agent", "codex"}, "agf_resume_plan", `{"agent":"codex","session_id":"` + buttonID + `"}`},
				{[]string{"capabilities"}, "agf_capabilities", `{}`},
			} {
				want, _, _ := p.run(test.args...)
				got := strings.ReplaceAll(s.call(test.tool, test.arguments), p.dir, "@WORK@")
				if diff := cmp.Diff(decode(t, want), decode(t, got)); diff != "" {
					t.Errorf("%s %s (-want +got):\n%s", test.tool, test.arguments, diff)
				}
			}
			s.end(0)
		})
	}
}

func decode(tb testing.TB, text string) any {
	tb.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		tb.Fatalf("%.300q: %v", text, err)
	}
	return v
}

func TestMCPScope(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.serve("mcp", "--agent", "claude-code", "--project", "site")
	s.greet("")
	if got := s.call("agf_search_sessions", `{"agent":null,"project":null}`); strings.Count(got, `"session_id"`) != 1 || !strings.Contains(got, twinID) {
		t.Errorf("a search within the scope answers %s, want one twin alone", got)
	}
	if got := s.call("agf_get_session", `{"agent":"claude","session_id":"`+twinID+`"}`); !strings.Contains(got, `/site"`) {
		t.Errorf("a lookup within the scope answers %s, want the twin of the site", got)
	}
	if got := s.call("agf_search_sessions", `{"agent":"codex"}`); !strings.Contains(got, "out_of_scope") {
		t.Errorf("a search beyond the scope answers %s, want out_of_scope", got)
	}
	s.end(0)
	s = p.serve("mcp", "--agent", "nobody")
	s.exits(1)
	if !strings.Contains(s.errs.String(), "invalid_agent") {
		t.Errorf("a server of nobody says %q, want invalid_agent", s.errs.String())
	}
}

// TestMCPEnds has the ways in which a server ends.
func TestMCPEnds(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, test := range []struct {
		name string
		do   func(s *server)
		code int
		says string
	}{
		{"end of input at once", func(s *server) { _ = s.in.Close() }, 0, ""},
		{"end of input", func(s *server) { s.greet("2025-11-25"); _ = s.in.Close() }, 0, ""},
		{"a line too long", func(s *server) { s.greet(""); s.send(strings.Repeat("x", 65_537)) }, 1, "line too long"},
		{"a first line too long, without an end", func(s *server) { _, _ = io.WriteString(s.in, strings.Repeat("x", 70_000)) }, 1, "line too long"},
		{"a line of the limit", func(s *server) {
			s.greet("")
			s.send(strings.Repeat(" ", 65_536))
			s.call("agf_capabilities", "{}")
			_ = s.in.Close()
		}, 0, ""},
		{"nonsense and no handshake", func(s *server) { s.send("nonsense") }, 1, "no handshake"},
		{"no handshake", func(*server) {}, 1, "no handshake"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			own := *p
			own.tb = t
			s := own.serve("mcp")
			test.do(s)
			s.exits(test.code)
			if !strings.Contains(s.errs.String(), test.says) {
				t.Errorf("agf mcp says %q, want %q", s.errs.String(), test.says)
			}
		})
	}
}

func TestMCPSignals(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no such signals")
	}
	p := newPlace(t)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		s := p.serve("mcp")
		s.greet("")
		if err := s.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		s.exits(0)
	}
}
