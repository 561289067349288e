package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// patience bounds the waits of tests for something that should come at once.
const patience = 20 * time.Second

const (
	legacyHello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	modernMeta  = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	modernHello = `{"jsonrpc":"2.0","id":"hello","method":"server/discover","params":{` + modernMeta + `}}`
)

// testTools are the handlers of the test server, and what they tell the test.
type testTools struct {
	started chan string   // a name for each call that began to wait
	ended   chan error    // the context's error for each that ended
	release chan struct{} // lets "stubborn" go
}

func newTestTools() *testTools {
	return &testTools{started: make(chan string, 100), ended: make(chan error, 100), release: make(chan struct{})}
}

type echoInput struct {
	Text string `json:"text"`
}

func (tt *testTools) server() *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ServerOptions{
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{ListChanged: true}},
	})
	sdk.AddTool(server, &sdk.Tool{Name: "echo"}, func(_ context.Context, _ *sdk.CallToolRequest, in echoInput) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: in.Text}}}, nil, nil
	})
	plain := func(name string, run func(ctx context.Context) (*sdk.CallToolResult, error)) {
		tool := &sdk.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}
		server.AddTool(tool, func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return run(ctx) })
	}
	plain("wait", func(ctx context.Context) (*sdk.CallToolResult, error) {
		tt.started <- "wait"
		select {
		case <-ctx.Done():
		case <-tt.release:
		}
		tt.ended <- ctx.Err()
		return &sdk.CallToolResult{}, nil
	})
	plain("stubborn", func(ctx context.Context) (*sdk.CallToolResult, error) {
		tt.started <- "stubborn"
		<-tt.release
		tt.ended <- ctx.Err()
		return &sdk.CallToolResult{}, nil
	})
	plain("panics", func(context.Context) (*sdk.CallToolResult, error) { panic("a secret of the tool") })
	plain("fails", func(context.Context) (*sdk.CallToolResult, error) { return nil, fmt.Errorf("a *secret.Type failed") })
	return server
}

// stdioRun is one RunStdio under test with a client that writes raw lines.
type stdioRun struct {
	tb     testing.TB
	in     *io.PipeWriter
	lines  chan string // what the server wrote
	result chan error
	cancel context.CancelFunc
}

func runStdio(tb testing.TB, server *sdk.Server, opts *StdioOptions) *stdioRun {
	tb.Helper()
	inReader, inWriter := io.Pipe()
	outReader, outWriter := io.Pipe()
	ctx, cancel := context.WithCancel(tb.Context())
	r := &stdioRun{tb: tb, in: inWriter, lines: make(chan string, 1000), result: make(chan error, 1), cancel: cancel}
	go func() {
		r.result <- RunStdio(ctx, server, inReader, outWriter, opts)
		_ = outWriter.Close()
	}()
	scanned := make(chan struct{})
	go func() {
		defer close(scanned)
		defer close(r.lines)
		for scanner := bufio.NewScanner(outReader); scanner.Scan(); {
			r.lines <- scanner.Text()
		}
	}()
	tb.Cleanup(func() {
		cancel()
		_ = inWriter.Close()
		<-scanned
	})
	return r
}

func (r *stdioRun) send(lines ...string) {
	r.tb.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(r.in, line+"\n"); err != nil {
			r.tb.Fatalf("writing to the server: %v", err)
		}
	}
}

// next returns the server's next line.
func (r *stdioRun) next() reply {
	r.tb.Helper()
	select {
	case line, open := <-r.lines:
		if !open {
			r.tb.Fatal("the server has closed the connection")
		}
		return parseReply(r.tb, line)
	case <-time.After(patience):
		r.tb.Fatal("no answer from the server")
	}
	return reply{}
}

// wait returns what RunStdio returned.
func (r *stdioRun) wait() error {
	r.tb.Helper()
	select {
	case err := <-r.result:
		return err
	case <-time.After(patience):
		r.tb.Fatal("RunStdio did not return")
	}
	return nil
}

// reply is one line of the server.
type reply struct {
	raw    string
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result *struct {
		ProtocolVersion string `json:"protocolVersion"`
		IsError         bool   `json:"isError"`
		Structured      *struct {
			OK    bool `json:"ok"`
			Error struct {
				Code string `json:"code"`
			} `json:"error"`
		} `json:"structuredContent"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"result"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func parseReply(tb testing.TB, line string) reply {
	tb.Helper()
	out := reply{raw: line}
	if err := json.Unmarshal([]byte(line), &out); err != nil {
		tb.Fatalf("the server wrote %.200q: %v", line, err)
	}
	return out
}

// summary is the id and what kind of answer it is, such as `7 ok` or `null -32600`.
func (r reply) summary() string {
	id := string(r.ID)
	switch {
	case r.Method != "":
		return "method " + r.Method
	case r.Error != nil:
		return fmt.Sprintf("%s %d", id, r.Error.Code)
	case r.Result != nil && r.Result.Structured != nil && !r.Result.Structured.OK:
		return id + " " + r.Result.Structured.Error.Code
	case r.Result != nil && r.Result.IsError:
		return id + " isError"
	case r.Result != nil:
		return id + " ok"
	}
	return "nothing: " + r.raw
}

func request(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, id, method, params)
}

func callTool(id, name, arguments string, more ...string) string {
	params := append([]string{fmt.Sprintf(`"name":%q,"arguments":%s`, name, arguments)}, more...)
	return request(id, "tools/call", strings.Join(params, ","))
}
