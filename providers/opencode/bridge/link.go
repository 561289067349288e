package bridge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"agentd/messages"
	"agentd/presets"
	"agentd/presets/lifetime"
	"agentd/presets/mcp"
	"agentd/providers/opencode"
)

// toolPrefix is what OpenCode puts before the names of our tools.
const toolPrefix = ServerName + "_"

// entry is the place of a session's link. Who changes it holds the gate.
type entry struct {
	gate gate
	link *Link
	used time.Time // when it was last opened; guarded by the bridge's mu
	gone bool      // closed and no longer in the map
}

// Link is one session's way to OpenCode, as long as that OpenCode lives: ask for it anew in each turn.
type Link struct {
	server   *opencode.Server
	client   *opencode.Client
	dir      string
	endpoint *mcp.Endpoint
	surface  *presets.Surface
	binding  atomic.Pointer[mcp.Binding] // of the last turn
}

// stands reports whether this OpenCode has a session of MCP with the endpoint. It loses it when it unloads the directory, for example.
func (l *Link) stands(server *opencode.Server) bool {
	return l.server == server && l.endpoint.Status().Clients > 0
}

// Client returns the client of OpenCode in the session's directory. Do not close it.
func (l *Link) Client() *opencode.Client { return l.client }

// Server returns the process that serves the session, and others with it. It belongs to the bridge.
func (l *Link) Server() *opencode.Server { return l.server }

// Dir returns the session's directory.
func (l *Link) Dir() string { return l.dir }

// ToolName returns the name by which OpenCode's model knows one of our tools.
func (l *Link) ToolName(name string) string { return toolPrefix + name }

// LocalName returns our name of a tool of OpenCode's model. It is false for a tool that is not ours.
func (l *Link) LocalName(opencodeTool string) (string, bool) {
	return strings.CutPrefix(opencodeTool, toolPrefix)
}

// Knows reports whether one of our tools has that name, which is ours, whether the model may use it now or not.
func (l *Link) Knows(name string) bool {
	return l.surface.Knows(name) || l.endpoint.Tools().Registry().Has(name)
}

// Bind lets the calls of a turn in; see [mcp.ToolServer.Bind]. The caller releases it at the end of the turn.
func (l *Link) Bind(turn mcp.Turn) (*mcp.Binding, error) {
	binding, err := l.endpoint.Bind(turn)
	if err == nil {
		l.binding.Store(binding)
	}
	return binding, err
}

// bound reports whether a turn is bound, or a call of one has not ended.
func (l *Link) bound() bool {
	binding := l.binding.Load()
	if binding == nil {
		return false
	}
	select {
	case <-binding.Done():
		return false
	default:
		return true
	}
}

// Open returns the session's link: OpenCode runs, has the session's directory, and is connected to the session's tools. Later opens
// reuse what is there. The turn of the caller does not matter. It blocks as told in the package's promises. Errors: [ErrNotStarted],
// [ErrStopped], [ErrInvalid], [ErrNotConnected], the cause of the context, and those of starting OpenCode, see package opencode.
func (b *Bridge) Open(ctx context.Context, caller presets.Caller) (*Link, error) {
	caller.TurnID = ""
	if err := caller.SessionID.Validate(); err != nil {
		return nil, fmt.Errorf("connecting to OpenCode: %w: %w", ErrInvalid, err)
	}
	ctx, release := lifetime.Join(ctx, b.life)
	defer release()
	link, err := b.open(ctx, caller)
	if err != nil {
		return nil, fmt.Errorf("connecting session %q to OpenCode: %w", caller.SessionID, err)
	}
	b.retire(ctx, caller.SessionID)
	return link, nil
}

func (b *Bridge) open(ctx context.Context, caller presets.Caller) (*Link, error) {
	tools, err := b.tools()
	if err != nil {
		return nil, err
	}
	e, err := b.enter(ctx, caller.SessionID)
	if err != nil {
		return nil, err
	}
	defer e.gate.leave()
	server, err := b.alive(ctx)
	if err != nil {
		return nil, err
	}
	if e.link != nil && e.link.stands(server) {
		b.mu.Lock()
		defer b.mu.Unlock()
		e.used = time.Now()
		return e.link, nil
	}
	link, err := b.connect(ctx, tools, server, caller)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if e.link == nil || e.link.server != server || e.link.endpoint != link.endpoint {
		e.link = link
	}
	e.used = time.Now()
	return e.link, nil
}

// connect makes OpenCode know the session's tools in the session's directory.
func (b *Bridge) connect(ctx context.Context, tools *mcp.HTTPServer, server *opencode.Server, caller presets.Caller) (*Link, error) {
	dir := b.paths.work(caller.SessionID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the session's directory: %w", err)
	}
	endpoint, err := tools.Endpoint(caller.SessionID)
	if errors.Is(err, mcp.ErrUnknownEndpoint) {
		endpoint, err = tools.Open(ctx, caller)
	}
	if err != nil {
		return nil, err
	}
	client := server.Client().In(dir)
	status, err := client.AddMCP(ctx, ServerName, opencode.MCPRemote{
		URL: endpoint.URL(), Headers: endpoint.Headers(), Timeout: b.options.ToolTimeout,
	})
	if err != nil {
		return nil, err
	}
	if status.State != opencode.MCPConnected {
		return nil, fmt.Errorf("%w: it says %q: %s", ErrNotConnected, status.State, status.Error)
	}
	return &Link{server: server, client: client, dir: dir, endpoint: endpoint, surface: b.surface}, nil
}

// enter takes the gate of the session's entry, which is made if need be.
func (b *Bridge) enter(ctx context.Context, session messages.SessionID) (*entry, error) {
	for {
		b.mu.Lock()
		e, known := b.links[session]
		if !known {
			e = &entry{gate: newGate()}
			b.links[session] = e
		}
		b.mu.Unlock()
		if err := e.gate.enter(ctx); err != nil {
			return nil, err
		}
		if !e.gone {
			return e, nil
		}
		e.gate.leave()
	}
}

// Close forgets a session's link: OpenCode no longer sees its tools, its endpoint is closed, and its directory is removed if it is empty. The session
// may be opened again. A session without a link is fine. It blocks for a request to OpenCode and the end of the session's calls.
func (b *Bridge) Close(ctx context.Context, session messages.SessionID) error {
	tools, err := b.tools()
	if err != nil {
		return nil // A bridge that does not run has no links.
	}
	b.mu.Lock()
	_, known := b.links[session]
	b.mu.Unlock()
	if !known {
		return nil
	}
	e, err := b.enter(ctx, session)
	if err != nil {
		return fmt.Errorf("closing the link of session %q to OpenCode: %w", session, err)
	}
	defer e.gate.leave()
	if link := e.link; link != nil && link.server.Err() == nil {
		// Closing the endpoint ends the connection in any case; this is the polite way.
		_ = link.client.DisconnectMCP(ctx, ServerName)
	}
	if endpoint, findErr := tools.Endpoint(session); findErr == nil {
		err = endpoint.Close(ctx)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e.gone, e.link = true, nil
	delete(b.links, session)
	_ = os.Remove(b.paths.work(session)) // One that holds something stays.
	return err
}
