package opencode

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// MCPState is how the server stands with an MCP server.
type MCPState string

// The states. A connected server that goes away later keeps being called connected.
const (
	MCPConnected         MCPState = "connected"
	MCPDisabled          MCPState = "disabled"
	MCPFailed            MCPState = "failed"
	MCPNeedsAuth         MCPState = "needs_auth"
	MCPNeedsRegistration MCPState = "needs_client_registration"
)

// MCPStatus is how the server stands with an MCP server, and why.
type MCPStatus struct {
	State MCPState
	// Error is the reason of a failure.
	Error string
}

// MCPRemote is an MCP server that is reached over HTTP.
type MCPRemote struct {
	// URL speaks streamable HTTP or, as a second try, the older SSE transport.
	URL     string
	Headers map[string]string
	// Timeout bounds each request to it; zero leaves it to OpenCode. Version 1.2 takes no notice of it.
	Timeout time.Duration
}

// MCPServers returns the state of the MCP servers that are known in the client's directory, by name. Older versions (seen in
// 1.2.27) leave out those that [Client.AddMCP] has added.
func (c *Client) MCPServers(ctx context.Context) (map[string]MCPStatus, error) {
	doc, err := c.object(ctx, call{op: "listing MCP servers", method: "GET", path: "/mcp"})
	if err != nil {
		return nil, err
	}
	return decodeMCP(doc), nil
}

// AddMCP adds an MCP server to the client's directory until the server ends, and connects to it. It blocks until the connection
// stands or has failed, which is not an error but a state.
func (c *Client) AddMCP(ctx context.Context, name string, remote MCPRemote) (MCPStatus, error) {
	op := fmt.Sprintf("adding MCP server %q", name)
	if err := checkID(op, name, ErrInvalid); err != nil {
		return MCPStatus{}, err
	}
	if u, err := url.Parse(remote.URL); err != nil || u.Host == "" || !strings.HasPrefix(u.Scheme, "http") {
		return MCPStatus{}, fmt.Errorf("%s: %w: URL must be http://HOST:PORT/PATH", op, ErrInvalid)
	}
	config := map[string]any{"type": "remote", "url": remote.URL, "enabled": true, "oauth": false}
	if len(remote.Headers) > 0 {
		config["headers"] = remote.Headers
	}
	if remote.Timeout > 0 {
		config["timeout"] = remote.Timeout.Milliseconds()
	}
	doc, err := c.object(ctx, call{
		op: op, method: "POST", path: "/mcp", body: map[string]any{"name": name, "config": config},
	})
	if err != nil {
		return MCPStatus{}, err
	}
	status, ok := decodeMCP(doc)[name]
	if !ok {
		return MCPStatus{}, fmt.Errorf("%s: %w: it is not in the answer", op, ErrUnexpectedReply)
	}
	return status, nil
}

// ConnectMCP connects to a known MCP server again; look at [Client.MCPServers] for how it went.
func (c *Client) ConnectMCP(ctx context.Context, name string) error {
	return c.switchMCP(ctx, name, "connect")
}

// DisconnectMCP takes the tools of an MCP server away.
func (c *Client) DisconnectMCP(ctx context.Context, name string) error {
	return c.switchMCP(ctx, name, "disconnect")
}

func (c *Client) switchMCP(ctx context.Context, name, verb string) error {
	op := fmt.Sprintf("%sing MCP server %q", verb, name)
	if err := checkID(op, name, ErrMCPServerNotFound); err != nil {
		return err
	}
	_, err := c.do(ctx, call{
		op: op, method: "POST", path: "/mcp/" + url.PathEscape(name) + "/" + verb, absent: ErrMCPServerNotFound,
	})
	return err
}

func decodeMCP(doc gjson.Result) map[string]MCPStatus {
	out := make(map[string]MCPStatus)
	for name, s := range doc.Map() {
		out[name] = MCPStatus{State: MCPState(s.Get("status").String()), Error: clip(s.Get("error").String())}
	}
	return out
}
