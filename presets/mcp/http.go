package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentd/messages"
	"agentd/presets"
)

// HTTPServer shows the tools of sessions to clients on this machine, over HTTP. Each session has an endpoint of its own, on a path that
// cannot be guessed, because clients do not say for which session of ours they call. Endpoints come and go while it runs. It is safe for use by several goroutines.
type HTTPServer struct {
	surface *presets.Surface // set at construction
	options HTTPOptions      // set at construction
	guard   httpGuard        // set at construction
	unused  newConns

	mu        sync.Mutex
	state     serverState
	listener  net.Listener  // nil unless running
	http      *http.Server  // nil unless running
	served    chan struct{} // closed when the goroutine that serves has ended; nil unless it was started
	endpoints map[messages.SessionID]*Endpoint
	mounts    map[string]*mount // by the last part of the path
}

type serverState int

const (
	stateNew serverState = iota
	stateRunning
	stateStopped
)

// NewHTTPServer returns a server that does not listen yet. The error names what is missing or wrong; a host beyond this machine that is
// not allowed is [ErrNotLoopback].
func NewHTTPServer(surface *presets.Surface, opts *HTTPOptions) (*HTTPServer, error) {
	if surface == nil {
		return nil, fmt.Errorf("tool server over HTTP: %w: the surface is missing", ErrInvalid)
	}
	options := opts.withDefaults()
	if err := options.validate(); err != nil {
		return nil, fmt.Errorf("tool server over HTTP: %w", err)
	}
	return &HTTPServer{
		surface: surface, options: options, guard: newHTTPGuard(options),
		endpoints: make(map[messages.SessionID]*Endpoint), mounts: make(map[string]*mount),
	}, nil
}

// Start listens and serves. It returns when clients can connect. Errors: [ErrStarted], [ErrStopping] after Stop, [ErrNotLoopback], and those of listening; then
// nothing is left behind, and it may be tried again.
func (s *HTTPServer) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state {
	case stateRunning:
		return fmt.Errorf("starting tool server over HTTP: %w", ErrStarted)
	case stateStopped:
		return fmt.Errorf("starting tool server over HTTP: %w: it cannot be started again", ErrStopping)
	case stateNew:
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.options.Addr)
	if err != nil {
		return fmt.Errorf("starting tool server over HTTP: listening on %q: %w", s.options.Addr, err)
	}
	// A name may lead elsewhere than it says.
	if host := hostOf(listener.Addr().String()); !s.options.AllowRemote && !isLoopbackHost(host) {
		return errors.Join(fmt.Errorf("starting tool server over HTTP: %w: host %q", ErrNotLoopback, host), listener.Close())
	}
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		// No WriteTimeout: it would cut streams and long calls. A client that does not read costs one connection.
		ErrorLog:  slog.NewLogLogger(s.options.Logger.Handler(), slog.LevelDebug),
		ConnState: s.unused.note,
	}
	s.listener, s.http, s.served, s.state = listener, server, make(chan struct{}), stateRunning
	go func() {
		defer close(s.served)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.options.Logger.Error("Serving tools over HTTP ended.", slog.String("error", err.Error()))
		}
	}()
	return nil
}

// ServeHTTP implements [http.Handler], with all checks. [HTTPServer.Start] serves it; a host that listens itself may too.
func (s *HTTPServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Header.Del(headerLink)
	if !s.guard.admit(w, r) {
		return
	}
	path := r.URL.Path
	if path+"/" == pathSSE || path+"/" == pathStreamable { // The root.
		path += "/"
	}
	name, sse := strings.CutPrefix(path, pathSSE)
	if !sse {
		name = strings.TrimPrefix(path, pathStreamable)
	}
	s.mu.Lock()
	m, known := s.mounts[name]
	s.mu.Unlock()
	w = newPatientWriter(w)
	switch {
	case !known:
		http.NotFound(w, r)
	case m.life.Err() != nil:
		http.Error(w, "this endpoint is closed", http.StatusServiceUnavailable)
	case sse:
		m.serveSSE(w, r)
	default:
		m.serveStreamable(w, r)
	}
}

// Token returns what clients prove themselves with, as "Authorization: Bearer <token>".
func (s *HTTPServer) Token() string { return s.options.Token }

// Stop ends everything: calls end with [ErrStopping], sessions are closed, and the port is free. It takes no longer than the context
// and [HTTPOptions.StopTimeout]; the error then says what was cut. It may be called more than once.
func (s *HTTPServer) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.StopTimeout)
	defer cancel()
	s.mu.Lock()
	s.state = stateStopped
	server, served := s.http, s.served
	endpoints, mounts := slices.Collect(maps.Values(s.endpoints)), slices.Collect(maps.Values(s.mounts))
	clear(s.endpoints)
	clear(s.mounts)
	s.mu.Unlock()

	err := closeMounts(ctx, mounts)
	for _, endpoint := range endpoints {
		endpoint.tools.Stop()
	}
	if server != nil {
		// Streams are closed by now; what is left are requests whose handlers do not end, or that do not arrive.
		s.unused.close()
		if cut := server.Shutdown(ctx); cut != nil {
			err = errors.Join(err, fmt.Errorf("cutting off connections with requests that do not end: %w", cut), server.Close())
		}
		<-served
	}
	if err != nil {
		return fmt.Errorf("stopping tool server over HTTP: %w", err)
	}
	return nil
}

// closeMounts closes them all at once.
func closeMounts(ctx context.Context, mounts []*mount) error {
	errs := make([]error, len(mounts))
	var waiting sync.WaitGroup
	for i, m := range mounts {
		waiting.Go(func() { errs[i] = m.close(ctx, ErrStopping) })
	}
	waiting.Wait()
	return errors.Join(errs...)
}

// Sync makes what clients see equal to what is active and approved, in the endpoints that the change touches and that have clients. The others
// do it when one asks. After a decision or a revocation call it with a change that touches those whom it concerns, or with a global one. Errors of several endpoints are joined; each is the error of one endpoint only.
func (s *HTTPServer) Sync(ctx context.Context, change presets.Change) error {
	s.mu.Lock()
	endpoints := slices.Collect(maps.Values(s.endpoints))
	s.mu.Unlock()
	var errs []error
	for _, endpoint := range endpoints {
		if !change.Touches(endpoint.session) || endpoint.mount.clients() == 0 {
			continue
		}
		if err := endpoint.Sync(ctx); !errors.Is(err, ErrNotStarted) { // It is being closed.
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// HTTPStatus is the state of an [HTTPServer] at one moment.
type HTTPStatus struct {
	Started bool
	// Host and Port are where it listens, URL is both. They are empty unless it is started.
	Host string
	Port int
	URL  string
	// Endpoints are sorted by session.
	Endpoints []EndpointStatus
}

// Status returns the present state.
func (s *HTTPServer) Status() HTTPStatus {
	s.mu.Lock()
	status := HTTPStatus{Started: s.state == stateRunning}
	if addr, ok := s.address(); ok {
		status.Host, status.Port, status.URL = addr.IP.String(), addr.Port, schemeHTTP+addr.String()
	}
	endpoints := slices.Collect(maps.Values(s.endpoints))
	s.mu.Unlock()
	for _, endpoint := range endpoints {
		status.Endpoints = append(status.Endpoints, endpoint.Status())
	}
	slices.SortFunc(status.Endpoints, func(a, b EndpointStatus) int { return strings.Compare(string(a.SessionID), string(b.SessionID)) })
	return status
}

// address returns where the server listens. The caller holds mu.
func (s *HTTPServer) address() (*net.TCPAddr, bool) {
	if s.state != stateRunning {
		return nil, false
	}
	addr, ok := s.listener.Addr().(*net.TCPAddr)
	return addr, ok
}

// Mount shows an MCP server of the host's own, on /mcp/{name} and /sse/{name}, behind the same checks. The guard's zero value is for a server
// that has tools only. The event store lets clients come back for what they missed; nil means that they cannot. It returns the path of
// the streamable transport. Errors: [ErrInvalid], [ErrExists], [ErrStopping].
func (s *HTTPServer) Mount(name string, server *sdk.Server, guard GuardOptions, events sdk.EventStore) (path string, err error) {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !nameRune(r) }) {
		return "", fmt.Errorf("mounting %.140q: %w: its name must be letters, digits, '_', '-' and '.'", name, ErrInvalid)
	}
	m, err := newMount(server, guard, events, s.options)
	if err != nil {
		return "", fmt.Errorf("mounting %q: %w", name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.place(name, m); err != nil {
		return "", fmt.Errorf("mounting %q: %w", name, err)
	}
	return pathStreamable + name, nil
}

// place puts a mount on its path. The caller holds mu.
func (s *HTTPServer) place(name string, m *mount) error {
	if s.state == stateStopped {
		return ErrStopping
	}
	if _, taken := s.mounts[name]; taken {
		return ErrExists
	}
	s.mounts[name] = m
	return nil
}
