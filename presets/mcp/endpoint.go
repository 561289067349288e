package mcp

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"agentd/messages"
	"agentd/presets"
)

// Endpoint is where the clients of one session find its tools.
type Endpoint struct {
	server  *HTTPServer        // set at construction
	session messages.SessionID // set at construction
	name    string             // the last part of the path: a secret, or rootName; set at construction
	tools   *ToolServer        // set at construction
	mount   *mount             // set at construction
}

// EndpointStatus is the state of an [Endpoint] at one moment.
type EndpointStatus struct {
	SessionID messages.SessionID
	// Clients is how many clients have a session.
	Clients int
	Tools   SyncStatus
}

// Open adds the endpoint of a session and lists its tools for the first time. The caller's turn id is empty by habit: turns are bound with
// [Endpoint.Bind]. The server need not be started yet. Errors: [ErrInvalid], [ErrExists], [ErrStopping], and those of [ToolServer.Start]; then nothing is left
// behind.
func (s *HTTPServer) Open(ctx context.Context, caller presets.Caller) (*Endpoint, error) {
	return s.open(ctx, caller, rand.Text())
}

// OpenRoot is [HTTPServer.Open] on the paths /mcp and /sse themselves, which stay the same from one run to the next: for a host that shows one
// session to clients that are configured once. Everybody knows these paths, so it is for servers that ask for the token; with
// [HTTPOptions.Anonymous] it is [ErrInvalid]. A second root is [ErrExists].
func (s *HTTPServer) OpenRoot(ctx context.Context, caller presets.Caller) (*Endpoint, error) {
	if s.options.Anonymous {
		return nil, fmt.Errorf("opening endpoint of session %q: %w: a known path needs the token, and Anonymous waives it", caller.SessionID, ErrInvalid)
	}
	return s.open(ctx, caller, rootName)
}

func (s *HTTPServer) open(ctx context.Context, caller presets.Caller, name string) (*Endpoint, error) {
	if err := caller.SessionID.Validate(); err != nil {
		return nil, fmt.Errorf("opening endpoint: %w: %w", ErrInvalid, err)
	}
	tools, err := NewToolServer(s.surface, caller, &s.options.Tools)
	if err != nil {
		return nil, fmt.Errorf("opening endpoint of session %q: %w", caller.SessionID, err)
	}
	m, err := newMount(tools.server, tools.guardOptions(GuardOptions{}), nil, s.options)
	if err != nil {
		return nil, fmt.Errorf("opening endpoint of session %q: %w", caller.SessionID, err)
	}
	endpoint := &Endpoint{server: s, session: caller.SessionID, name: name, tools: tools, mount: m}
	if err := tools.Start(ctx); err != nil {
		return nil, fmt.Errorf("opening endpoint of session %q: %w", caller.SessionID, err)
	}
	if err := s.add(endpoint); err != nil {
		tools.Stop()
		return nil, fmt.Errorf("opening endpoint of session %q: %w", caller.SessionID, err)
	}
	return endpoint, nil
}

func (s *HTTPServer) add(endpoint *Endpoint) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, open := s.endpoints[endpoint.session]; open {
		return ErrExists
	}
	if err := s.place(endpoint.name, endpoint.mount); err != nil {
		return err
	}
	s.endpoints[endpoint.session] = endpoint
	return nil
}

// Endpoint returns the endpoint of a session. Error: [ErrUnknownEndpoint].
func (s *HTTPServer) Endpoint(session messages.SessionID) (*Endpoint, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	endpoint, open := s.endpoints[session]
	if !open {
		return nil, fmt.Errorf("session %q: %w", session, ErrUnknownEndpoint)
	}
	return endpoint, nil
}

// Close removes the endpoint: its path is gone, calls end with [ErrStopping], and its clients' sessions are closed. It takes no longer
// than the context and [HTTPOptions.StopTimeout]; the error then says that a handler goes on. It may be called more than once.
func (e *Endpoint) Close(ctx context.Context) error {
	e.server.mu.Lock()
	if e.server.endpoints[e.session] == e {
		delete(e.server.endpoints, e.session)
		delete(e.server.mounts, e.name)
	}
	e.server.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, e.server.options.StopTimeout)
	defer cancel()
	err := e.mount.close(ctx, ErrStopping)
	e.tools.Stop()
	if err != nil {
		return fmt.Errorf("closing endpoint of session %q: %w", e.session, err)
	}
	return nil
}

// SessionID returns the session whose endpoint it is.
func (e *Endpoint) SessionID() messages.SessionID { return e.session }

// URL returns where the streamable transport is, in both lifecycles. It is empty unless the server listens.
func (e *Endpoint) URL() string { return e.url(pathStreamable) }

// SSEURL returns where the older transport is. It is empty unless the server listens.
func (e *Endpoint) SSEURL() string { return e.url(pathSSE) }

func (e *Endpoint) url(path string) string {
	e.server.mu.Lock()
	defer e.server.mu.Unlock()
	addr, ok := e.server.address()
	if !ok {
		return ""
	}
	return schemeHTTP + addr.String() + strings.TrimSuffix(path+e.name, "/")
}

// Headers returns what a client has to send with each request, for its configuration. It is secret.
func (e *Endpoint) Headers() map[string]string {
	return map[string]string{headerAuthorize: "Bearer " + e.server.options.Token}
}

// Bind lets the calls of a turn in. See [ToolServer.Bind].
func (e *Endpoint) Bind(turn Turn) (*Binding, error) { return e.tools.Bind(turn) }

// Sync makes what clients see equal to what is active and approved. See [Sync.Sync].
func (e *Endpoint) Sync(ctx context.Context) error { return e.tools.Sync(ctx) }

// Tools returns the endpoint's tool server.
func (e *Endpoint) Tools() *ToolServer { return e.tools }

// Status returns the present state.
func (e *Endpoint) Status() EndpointStatus {
	return EndpointStatus{SessionID: e.session, Clients: e.mount.clients(), Tools: e.tools.SyncStatus()}
}
