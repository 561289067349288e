package modelserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// Server is a running model. Its methods may be called by several goroutines.
type Server struct {
	// Set at construction.
	opts   Options
	url    string
	record *record
	http   *http.Server
	served chan struct{}   // closed when the accept loop has ended
	ctx    context.Context //nolint:containedctx // The life of the server: hanging answers end with it.
	cancel context.CancelFunc
	close  sync.Once
}

// Start starts a server; the caller has to close it. It does not block.
func Start(opts *Options) (*Server, error) {
	o := opts.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	listener, err := listen(o.Addr)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{
		opts: o, url: "http://" + listener.Addr().String(), record: newRecord(o.KeepRequests),
		served: make(chan struct{}), ctx: ctx, cancel: cancel,
	}
	s.record.script.add(o.Script)
	s.http = &http.Server{
		Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(listener) // Always an error; that of closing is the only one that can come.
	}()
	return s, nil
}

func listen(addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("%w: Addr %q: %w", ErrInvalid, addr, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("%w: Addr %q is not loopback: give 127.0.0.1:PORT", ErrInvalid, addr)
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening for model requests: %w", err)
	}
	return listener, nil
}

// New is [Start] for a test: it is closed at the end of the test, and a request without a step fails the test.
func New(tb testing.TB, opts *Options) *Server {
	tb.Helper()
	s, err := Start(opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		s.Close()
		for _, r := range s.Unscripted() {
			tb.Errorf("model request %d had no step: turn step %d, prompt %.80q, last %s %.80q, tools %q",
				r.Number, r.TurnStep(), r.Prompt(), r.Last().Role, r.Last().Text, r.ToolNames())
		}
	})
	return s
}

// URL returns the server's root, such as "http://127.0.0.1:4711". Clients of OpenAI's protocols want [Server.BaseURL]; Anthropic's
// and Gemini's want the root.
func (s *Server) URL() string { return s.url }

// BaseURL returns the root with "/v1".
func (s *Server) BaseURL() string { return s.url + "/v1" }

// Add adds steps to the end of the script.
func (s *Server) Add(steps ...Step) error {
	if err := validateScript(steps); err != nil {
		return err
	}
	s.record.mu.Lock()
	defer s.record.mu.Unlock()
	s.record.script.add(steps)
	return nil
}

// Unused returns how many steps have answered less often than they were to. Steps for [Always] never count.
func (s *Server) Unused() int {
	s.record.mu.Lock()
	defer s.record.mu.Unlock()
	return s.record.script.unused()
}

// Requests returns what was asked so far, side requests included, oldest first.
func (s *Server) Requests() []Request {
	requests, _, _ := s.record.snapshot()
	return requests
}

// Turns returns the requests that belong to conversations, oldest first.
func (s *Server) Turns() []Request {
	return s.filter(func(r Request) bool { return !r.Side })
}

// Unscripted returns the requests that no step was there for.
func (s *Server) Unscripted() []Request {
	return s.filter(func(r Request) bool { return !r.Side && r.Step < 0 && r.Refused == "" })
}

func (s *Server) filter(keep func(Request) bool) []Request {
	var out []Request
	for _, r := range s.Requests() {
		if keep(r) {
			out = append(out, r)
		}
	}
	return out
}

// Await blocks until done returns true for the requests so far; it is asked again at every change of a request. Errors: the
// cause of ctx, [ErrClosed].
func (s *Server) Await(ctx context.Context, done func([]Request) bool) error {
	return s.record.await(ctx, done)
}

// AwaitOutcome blocks until n requests of conversations have that outcome.
func (s *Server) AwaitOutcome(ctx context.Context, outcome Outcome, n int) error {
	return s.Await(ctx, func(requests []Request) bool {
		seen := 0
		for _, r := range requests {
			if !r.Side && r.Outcome == outcome {
				seen++
			}
		}
		return seen >= n
	})
}

// Release lets go on whatever hangs at this moment.
func (s *Server) Release() { s.record.releaseAll() }

// Close ends the server and all answers that are under way. It may be called more than once.
func (s *Server) Close() {
	s.close.Do(func() {
		s.record.close()
		s.cancel()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := s.http.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
			_ = s.http.Close()
		}
		<-s.served
	})
}
