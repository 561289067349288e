package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentd/presets/lifetime"
)

// codeNoSession answers a request that names no session, or one that is not there. It is of the range that JSON-RPC leaves to servers.
const codeNoSession = -32001

// mount serves one MCP server over HTTP: the streamable transport for both lifecycles, and the older one.
type mount struct {
	server  *sdk.Server             // set at construction
	options HTTPOptions             // set at construction
	life    context.Context         //nolint:containedctx // It ends when the mount is closed.
	kill    context.CancelCauseFunc // set at construction
	links   *links                  // set at construction
	// resumable says that clients of the older lifecycle can come back for what they missed. Set at construction.
	resumable bool

	sessions *sessionTable // those of the streamable transport

	stateful  http.Handler // initialize and sessions
	stateless http.Handler // each request for itself
	sse       http.Handler // the older transport

	streamMu sync.Mutex
	streams  int // open streams of the older transport
}

func newMount(server *sdk.Server, guard GuardOptions, events sdk.EventStore, options HTTPOptions) (*mount, error) {
	m := &mount{server: server, options: options, links: newLinks(), resumable: events != nil}
	m.life, m.kill = context.WithCancelCause(context.Background())
	m.sessions = newSessionTable(options.SessionTimeout, options.MaxSessions, m.expire)
	server.AddReceivingMiddleware(m.tie)
	if err := Guard(server, guard); err != nil {
		return nil, err
	}
	get := func(*http.Request) *sdk.Server { return server }
	m.stateful = sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{
		MaxRequestBodyBytes: options.MaxBodyBytes, EventStore: events,
		DisableLocalhostProtection: true, // The guard of the whole server has looked already, and knows more names.
	})
	m.stateless = sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{
		Stateless: true, MaxRequestBodyBytes: options.MaxBodyBytes, PropagateRequestCancellation: true, DisableLocalhostProtection: true,
	})
	m.sse = sdk.NewSSEHandler(get, &sdk.SSEOptions{MaxRequestBodyBytes: options.MaxBodyBytes, DisableLocalhostProtection: true})
	return m, nil
}

// serveStreamable serves both lifecycles on one URL: the header says which.
func (m *mount) serveStreamable(w http.ResponseWriter, r *http.Request) {
	modern := r.Header.Get(headerVersion) >= firstModern
	message, ok := m.readBody(w, r)
	if !ok {
		return
	}
	session := r.Header.Get(headerSession)
	if modern {
		session = ""
	}
	defer m.links.begin(r, session, m.resumable && !modern).end()
	switch {
	case modern:
		m.stateless.ServeHTTP(w, r)
	case session == "":
		m.serveHello(w, r, message)
	default:
		m.serveSession(w, r, session)
	}
}

// serveHello serves a request without a session, which is to be an initialize.
func (m *mount) serveHello(w http.ResponseWriter, r *http.Request, message envelope) {
	if r.Method == http.MethodPost && message.method != "" && message.method != methodInitialize {
		refuse(w, http.StatusBadRequest, &refusal{id: message.id, code: codeNoSession, message: `no session: send "initialize" first, then name the session in ` + headerSession})
		return
	}
	if r.Method == http.MethodPost && m.sessions.full() {
		w.Header().Set("Retry-After", "60")
		refuse(w, http.StatusServiceUnavailable, &refusal{id: message.id, code: codeTooMany, message: "this endpoint has too many sessions: end one with DELETE, or wait for one to time out"})
		return
	}
	made := ""
	m.stateful.ServeHTTP(&sessionWriter{ResponseWriter: w, learn: func(id string) {
		made = id
		m.sessions.add(id)
	}}, r)
	if made == "" {
		return
	}
	if m.find(made) == nil { // Its initialize was refused.
		m.sessions.remove(made)
		return
	}
	m.sessions.end(made)
}

// serveSession serves a request of a session.
func (m *mount) serveSession(w http.ResponseWriter, r *http.Request, session string) {
	if !m.sessions.begin(session) {
		refuse(w, http.StatusNotFound, &refusal{code: codeNoSession, message: "no such session: send \"initialize\" again"})
		return
	}
	defer m.sessions.end(session)
	if r.Method == http.MethodDelete {
		// The engine waits for the session's calls; they have no reason to go on.
		m.sessions.remove(session)
		m.links.drop(session, ErrCallerGone)
	}
	m.stateful.ServeHTTP(w, r)
}

// serveSSE serves the older transport: a GET is a session and lives as long as it does, a POST sends something to one.
func (m *mount) serveSSE(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		if _, ok := m.readBody(w, r); ok {
			m.sse.ServeHTTP(w, r)
		}
		return
	}
	if !m.openStream() {
		w.Header().Set("Retry-After", "60")
		http.Error(w, "this endpoint has too many streams", http.StatusServiceUnavailable)
		return
	}
	defer m.closeStream()
	ctx, release := lifetime.Join(r.Context(), m.life)
	defer release()
	m.sse.ServeHTTP(w, r.WithContext(context.WithValue(ctx, streamKey{}, ctx)))
}

func (m *mount) openStream() bool {
	m.streamMu.Lock()
	defer m.streamMu.Unlock()
	if m.streams >= m.options.MaxSessions {
		return false
	}
	m.streams++
	return true
}

func (m *mount) closeStream() {
	m.streamMu.Lock()
	defer m.streamMu.Unlock()
	m.streams--
}

// readBody reads the message of a POST, within bounds, and puts it back. It reports whether the request may go on, and answers it if not. What
// is not JSON in name is left to the engine to refuse.
func (m *mount) readBody(w http.ResponseWriter, r *http.Request) (envelope, bool) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if r.Method != http.MethodPost || err != nil || media != "application/json" {
		return envelope{}, true
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // A host's own listener may have none.
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, m.options.MaxBodyBytes))
	_ = control.SetReadDeadline(time.Time{}) // What is read from now on only says that the client has gone.
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		refuse(w, http.StatusRequestEntityTooLarge, invalidRequest(jsonrpc.ID{}, fmt.Sprintf("a body may have %d bytes", tooLarge.Limit)))
		return envelope{}, false
	case err != nil:
		http.Error(w, "the body could not be read", http.StatusBadRequest)
		return envelope{}, false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	message, no := envelope{}, &refusal{code: jsonrpc.CodeParseError, message: "parse error: the body is empty"}
	if len(bytes.TrimSpace(body)) > 0 {
		message, no = parseEnvelope(body)
	}
	if no == nil && message.isCall() {
		if fault := message.shapeFault(r.Header.Get(headerVersion) >= firstModern); fault != "" {
			no = invalidParams(message.id, fault)
		}
	}
	if no != nil {
		refuse(w, http.StatusBadRequest, no)
		return envelope{}, false
	}
	return message, true
}

// refuse answers a request with an error of the protocol.
func refuse(w http.ResponseWriter, status int, no *refusal) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(no.encode()) // A client that has gone cannot be told.
}

// find returns the engine's session of that id, or nil.
func (m *mount) find(id string) *sdk.ServerSession {
	for session := range m.server.Sessions() {
		if session.ID() == id {
			return session
		}
	}
	return nil
}

// expire ends a session that nobody has used for long. A call whose answer nobody waits for ends with it.
func (m *mount) expire(id string) {
	m.links.drop(id, ErrCallerGone)
	if session := m.find(id); session != nil {
		_ = session.Close() // It says how the connection ended, and there is nothing to do about it.
	}
}

// clients is how many clients have a session.
func (m *mount) clients() int {
	n := 0
	for range m.server.Sessions() {
		n++
	}
	return n
}

// close ends all calls and sessions, and waits for them no longer than the context. The engine's sessions wait for handlers, so each is closed
// on a goroutine of its own; one whose handler ignores its context goes on until that returns.
func (m *mount) close(ctx context.Context, cause error) error {
	m.kill(cause)
	m.links.drop("", cause)
	m.sessions.clear()
	var waiting sync.WaitGroup
	for session := range m.server.Sessions() {
		waiting.Go(func() { _ = session.Close() }) // As above.
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		waiting.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for handlers that do not end: %w", context.Cause(ctx))
	}
}
