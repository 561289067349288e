package opencode

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"agentd/presets/process"
)

// Defaults of [ServerOptions].
const (
	// DefaultStartTimeout bounds the start; a busy machine has taken ten seconds.
	DefaultStartTimeout = 60 * time.Second
	// DefaultStopTimeout bounds the polite part of a stop.
	DefaultStopTimeout = 3 * time.Second
)

// How the process is stopped. The signal is repeated because the server swallows the first one while it installs packages.
const (
	termGrace = 2 * time.Second
	termEvery = 700 * time.Millisecond
)

const (
	maxServerLine   = 4 << 10
	maxServerOutput = 8 << 10
	// startTries is how often a start is tried again if its port was taken in the meantime.
	startTries = 3
)

// ServerParams are what a server cannot do without.
type ServerParams struct {
	// Path is the executable: a path, or a name that is looked up in PATH.
	Path string
	// Dir is the server's default directory, an existing one.
	Dir string
	// ConfigHome is where the server looks for opencode/opencode.json; it is made if it is missing. The person's own
	// configuration is never read.
	ConfigHome string
}

// ServerOptions tune a server. The zero value is silent and offline, with the person's own data folder (and so their logins).
type ServerOptions struct {
	// IsolateIn, if not empty, is a folder for everything else that the server keeps: home, data, state, cache and
	// temporary files. Neither logins nor sessions of the person are seen then.
	IsolateIn string
	// Online lets the server fetch the catalogue of models and use its login plugins. Providers of real models need it.
	Online bool
	// AllowNpm lets the server install packages from the registry, for providers that are not built in. It then also
	// installs a plugin package at each start.
	AllowNpm bool
	// Env are more variables as KEY=value, such as a provider's key. The shell commands of the model see them too.
	Env []string
	// StartTimeout bounds the start; zero means [DefaultStartTimeout].
	StartTimeout time.Duration
	// StopTimeout bounds the polite part of a stop: aborting the turns and closing the instances. Zero means
	// [DefaultStopTimeout].
	StopTimeout time.Duration
	// CallTimeout and MaxReplyBytes are those of [ClientOptions].
	CallTimeout   time.Duration
	MaxReplyBytes int64
	// Logger gets lines about start, stop and death; nil logs nothing.
	Logger *slog.Logger
}

func (o *ServerOptions) withDefaults() ServerOptions {
	var out ServerOptions
	if o != nil {
		out = *o
	}
	out.StartTimeout = cmp.Or(out.StartTimeout, DefaultStartTimeout)
	out.StopTimeout = cmp.Or(out.StopTimeout, DefaultStopTimeout)
	if out.Logger == nil {
		out.Logger = slog.New(slog.DiscardHandler)
	}
	return out
}

func (o ServerOptions) validate() error {
	if o.StartTimeout < 0 {
		return fmt.Errorf("%w: StartTimeout is %s: give zero or more", ErrInvalid, o.StartTimeout)
	}
	if o.StopTimeout < 0 {
		return fmt.Errorf("%w: StopTimeout is %s: give zero or more", ErrInvalid, o.StopTimeout)
	}
	for _, entry := range o.Env {
		if strings.HasPrefix(entry, "OPENCODE_SERVER_PASSWORD=") || strings.HasPrefix(entry, "OPENCODE_SERVER_USERNAME=") {
			return fmt.Errorf("%w: Env sets the server's password: it is made for each start", ErrInvalid)
		}
	}
	return nil
}

func (p ServerParams) validate() error {
	switch {
	case p.Path == "":
		return fmt.Errorf("%w: Path is empty: name the opencode executable", ErrInvalid)
	case !filepath.IsAbs(p.Dir):
		return fmt.Errorf("%w: Dir is %q: give an absolute path", ErrInvalid, p.Dir)
	case !filepath.IsAbs(p.ConfigHome):
		return fmt.Errorf("%w: ConfigHome is %q: give an absolute path", ErrInvalid, p.ConfigHome)
	}
	return nil
}

// Server is a running `opencode serve` that belongs to this program. Its methods may be called by several goroutines.
type Server struct {
	// Set at construction.
	opts    ServerOptions
	proc    *process.Process
	client  *Client
	url     string
	version string
	output  *process.Capture
	done    chan struct{} // closed after err is set
	watched chan struct{} // closed when the watching goroutine has ended

	stopMu   sync.Mutex
	stopping bool
	err      error // read after done
}

// StartServer starts a server and blocks until it listens and takes its password, or until ctx or the start's own time
// has ended; then nothing is left running. Errors: [ErrNotInstalled], [ErrNotReady], [ErrServerExited] with what the server
// said, [ErrInvalid].
func StartServer(ctx context.Context, params ServerParams, opts *ServerOptions) (*Server, error) {
	o := opts.withDefaults()
	if err := errors.Join(params.validate(), o.validate()); err != nil {
		return nil, err
	}
	path, err := exec.LookPath(params.Path)
	if err != nil {
		return nil, fmt.Errorf("starting OpenCode: %w: %w", ErrNotInstalled, err)
	}
	// The process begins in a folder of its own, so a path that is relative to ours has to be made absolute.
	if params.Path, err = filepath.Abs(path); err != nil {
		return nil, fmt.Errorf("starting OpenCode: %w", err)
	}
	if err := makeDirs(params, o); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.StartTimeout, fmt.Errorf("%w: waited %s", ErrNotReady, o.StartTimeout))
	defer cancel()
	for try := 1; ; try++ {
		s, err := startOnce(ctx, params, o)
		if errors.Is(err, errPortTaken) && try < startTries {
			continue
		}
		return s, err
	}
}

func makeDirs(params ServerParams, o ServerOptions) error {
	dirs := []string{filepath.Join(params.ConfigHome, "opencode")}
	if o.IsolateIn != "" {
		for _, dir := range isolated(o.IsolateIn) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("starting OpenCode: making its folder: %w", err)
		}
	}
	return nil
}

// errPortTaken means that somebody took the port between our choice and the server's start.
var errPortTaken = errors.New("port is taken")

func startOnce(ctx context.Context, params ServerParams, o ServerOptions) (*Server, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, fmt.Errorf("starting OpenCode: %w", err)
	}
	password := rand.Text()
	ready := make(chan string, 1)
	s := &Server{opts: o, output: process.NewCapture(maxServerOutput), done: make(chan struct{}), watched: make(chan struct{})}
	lines := process.NewLines(maxServerLine, func(l process.Line) {
		if url, ok := listening(string(l.Text)); ok {
			select {
			case ready <- url:
			default:
			}
		}
		_, _ = s.output.Write(l.Text)
		_, _ = s.output.Write([]byte{'\n'})
	})
	s.proc, err = process.Start(process.Params{
		Path: params.Path, Args: []string{"serve", "--port", strconv.Itoa(port), "--hostname", "127.0.0.1"},
		Dir: params.Dir, Env: environment(params, o, password), Stdout: lines, Stderr: s.output,
	}, &process.Options{TermGrace: termGrace, TermEvery: termEvery})
	if err != nil {
		return nil, fmt.Errorf("starting OpenCode: %w", err)
	}
	go s.watch()
	if err := s.becomeReady(ctx, ready, password); err != nil {
		s.setStopping()
		_, _ = s.proc.Kill(context.WithoutCancel(ctx))
		<-s.watched
		return nil, err
	}
	o.Logger.InfoContext(ctx, "OpenCode is ready", slog.String("version", s.version), slog.Int("pid", s.proc.PID()))
	return s, nil
}

// listening finds the server's address in the line that says that it is ready.
func listening(line string) (string, bool) {
	_, url, ok := strings.Cut(line, "server listening on ")
	url, _, _ = strings.Cut(strings.TrimSpace(url), " ")
	return url, ok && strings.HasPrefix(url, "http://")
}

func (s *Server) becomeReady(ctx context.Context, ready <-chan string, password string) error {
	select {
	case s.url = <-ready:
	case <-s.proc.Done():
		if said := s.output.String(); strings.Contains(said, "ServeError") || strings.Contains(said, "EADDRINUSE") {
			return fmt.Errorf("starting OpenCode: %w: %w", errPortTaken, s.exited())
		}
		return fmt.Errorf("starting OpenCode: %w", s.exited())
	case <-ctx.Done():
		return fmt.Errorf("starting OpenCode: %w", context.Cause(ctx))
	}
	client, err := NewClient(s.url, &ClientOptions{
		Password: password, CallTimeout: s.opts.CallTimeout, MaxReplyBytes: s.opts.MaxReplyBytes, Logger: s.opts.Logger,
	})
	if err != nil {
		return fmt.Errorf("starting OpenCode: %w", err)
	}
	client.link.dead, client.link.why = s.done, s.Err
	s.client = client
	if s.version, err = client.Health(ctx); err != nil {
		return fmt.Errorf("starting OpenCode: %w", err)
	}
	return nil
}

// freePort asks the system for a port that is free now. The server itself would try 4096 first.
func freePort(ctx context.Context) (int, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("finding a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return 0, fmt.Errorf("finding a free port: %w: %s", ErrUnexpectedReply, l.Addr())
	}
	return addr.Port, nil
}

// exited is the error of a process that has ended.
func (s *Server) exited() error {
	exit, _ := s.proc.Exit()
	err := fmt.Errorf("%w: %s", ErrServerExited, exit)
	if said := strings.TrimSpace(s.output.String()); said != "" {
		err = fmt.Errorf("%w; it said: %s", err, clip(said))
	}
	return err
}

// watch tells everybody when the process has ended.
func (s *Server) watch() {
	defer close(s.watched)
	<-s.proc.Done()
	s.stopMu.Lock()
	stopping := s.stopping
	s.stopMu.Unlock()
	if stopping {
		s.err = fmt.Errorf("%w: it was stopped", ErrServerExited)
	} else {
		s.err = s.exited()
		s.opts.Logger.Warn("OpenCode has died", slog.Int("pid", s.proc.PID()))
	}
	close(s.done)
}

// Client returns the client for the server's default directory. All its clients share one connection.
func (s *Server) Client() *Client { return s.client }

// URL returns the server's address, without the password.
func (s *Server) URL() string { return s.url }

// Version returns the version of the running OpenCode, such as "1.18.33".
func (s *Server) Version() string { return s.version }

// PID returns the server's process id.
func (s *Server) PID() int { return s.proc.PID() }

// Done is closed when the process and everything it had started has ended, whatever the reason.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err returns nil while the server runs, and then an error that wraps [ErrServerExited] and says why: stopped, or how it died and
// what it said last.
func (s *Server) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}
