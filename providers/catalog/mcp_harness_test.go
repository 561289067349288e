package catalog_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"

	"agentd/providers/catalog"
)

// patience bounds the waits of tests for something that should come at once.
const patience = 30 * time.Second

// meta is what every request of the newer lifecycle carries.
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// eras are the ways in which clients speak. The version is that of initialize; empty is the newer lifecycle.
func eras() map[string]string {
	return map[string]string{"2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25", "2026-07-28": ""}
}

// client is a client of one ServeMCP that writes raw lines.
type client struct {
	tb      testing.TB
	version string
	in      *io.PipeWriter
	lines   chan string
	result  chan error
	n       int
}

// serve starts a server and introduces a client of that era.
func serve(tb testing.TB, cat *catalog.Catalog, opts *catalog.MCPOptions, version string) *client {
	tb.Helper()
	inReader, inWriter := io.Pipe()
	outReader, outWriter := io.Pipe()
	ctx, cancel := context.WithCancel(tb.Context())
	c := &client{tb: tb, version: version, in: inWriter, lines: make(chan string, 100), result: make(chan error, 1)}
	go func() {
		c.result <- cat.ServeMCP(ctx, inReader, outWriter, opts)
		_ = outWriter.Close()
	}()
	scanned := make(chan struct{})
	go func() {
		defer close(scanned)
		defer close(c.lines)
		scanner := bufio.NewScanner(outReader)
		scanner.Buffer(nil, 16<<20)
		for scanner.Scan() {
			c.lines <- scanner.Text()
		}
	}()
	tb.Cleanup(func() {
		cancel()
		_ = inWriter.Close()
		<-scanned
	})
	if version == "" {
		c.request("server/discover", "")
		return c
	}
	c.request("initialize", fmt.Sprintf(`"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"1"}`, version))
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (c *client) send(line string) {
	c.tb.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.tb.Fatalf("writing to the server: %v", err)
	}
}

// ask sends a request and returns its id.
func (c *client) ask(method, params string) int {
	c.tb.Helper()
	c.n++
	if c.version == "" {
		if params != "" {
			params += ","
		}
		params += meta
	}
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, c.n, method, params))
	return c.n
}

// reply is one answer.
type reply struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// await returns the next answer, which must be that of this id.
func (c *client) await(id int) reply {
	c.tb.Helper()
	select {
	case line, open := <-c.lines:
		var r reply
		if err := json.Unmarshal([]byte(line), &r); !open || err != nil {
			c.tb.Fatalf("the server wrote %.300q, open: %t: %v", line, open, err)
		}
		if r.ID != id {
			c.tb.Fatalf("the answer is %.300s, want that of %d", line, id)
		}
		return r
	case <-time.After(patience):
		c.tb.Fatal("no answer from the server")
	}
	return reply{}
}

func (c *client) request(method, params string) reply {
	c.tb.Helper()
	return c.await(c.ask(method, params))
}

func callParams(tool, arguments string) string {
	return fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments)
}

// envelope is an answer of a tool.
type envelope struct {
	SchemaVersion int             `json:"schema_version"`
	Version       string          `json:"agf_version"`
	OK            *bool           `json:"ok"`
	Data          json.RawMessage `json:"data"`
	Error         *catalog.Error  `json:"error"`
}

// call calls a tool; the answer must be a well-formed envelope.
func (c *client) call(tool, arguments string) envelope {
	c.tb.Helper()
	return c.envelope(c.request("tools/call", callParams(tool, arguments)))
}

// envelope checks that the structured content and the one text hold the same envelope, and that isError is spelled out.
func (c *client) envelope(r reply) envelope {
	c.tb.Helper()
	var result struct {
		IsError    *bool           `json:"isError"`
		Structured json.RawMessage `json:"structuredContent"`
		Content    []struct{ Type, Text string }
	}
	if err := json.Unmarshal(r.Result, &result); err != nil {
		c.tb.Fatalf("result %.300s: %v", r.Result, err)
	}
	var e envelope
	if err := json.Unmarshal(result.Structured, &e); err != nil {
		c.tb.Fatalf("structured content of %.300s: %v", r.Result, err)
	}
	switch {
	case e.OK == nil || e.SchemaVersion != 1 || e.Version != "9.9.9":
		c.tb.Fatalf("the envelope is %.300s, want version 1 of 9.9.9", result.Structured)
	case result.IsError == nil || *result.IsError == *e.OK:
		c.tb.Fatalf("isError does not stand beside ok: %.300s", r.Result)
	case *e.OK != (e.Error == nil) || *e.OK != (e.Data != nil):
		c.tb.Fatalf("the envelope is %.300s, want data or an error", result.Structured)
	case len(result.Content) != 1 || result.Content[0].Type != "text":
		c.tb.Fatalf("the content is %v, want one text", result.Content)
	}
	if !sameJSON(c.tb, []byte(result.Content[0].Text), result.Structured) {
		c.tb.Fatalf("the text %.300s is not the structured content %.300s", result.Content[0].Text, result.Structured)
	}
	return e
}

func sameJSON(tb testing.TB, a, b []byte) bool {
	tb.Helper()
	return string(indent(tb, a)) == string(indent(tb, b))
}

// indent returns JSON with sorted keys, a member a line.
func indent(tb testing.TB, data []byte) []byte {
	tb.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		tb.Fatalf("%.300s: %v", data, err)
	}
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		tb.Fatal(err)
	}
	return append(out, '\n')
}
