package bridge

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"agentd/messages"
	"agentd/presets"
	"agentd/presets/mcp"
	"agentd/providers/opencode"
)

// Bridge connects OpenCode with our tools. It is safe for use by several goroutines.
type Bridge struct {
	surface *presets.Surface // set at construction
	options Options          // set at construction
	paths   layout           // set at construction
	life    context.Context  //nolint:containedctx // The bridge's own life; it ends with Stop.
	end     context.CancelCauseFunc
	process gate // held by who starts, tries or stops OpenCode

	mu     sync.Mutex
	state  state
	http   *mcp.HTTPServer  // nil unless running
	server *opencode.Server // the last one that was started, dead or alive; nil before
	links  map[messages.SessionID]*entry
}

type state int

const (
	stateNew state = iota
	stateRunning
	stateStopped
)

// New returns a bridge that is not started. The error names what is missing or wrong.
func New(surface *presets.Surface, params Params, opts *Options) (*Bridge, error) {
	if surface == nil {
		return nil, fmt.Errorf("%w: the surface is missing", ErrInvalid)
	}
	options := opts.withDefaults()
	if err := errors.Join(params.validate(), options.validate()); err != nil {
		return nil, err
	}
	if _, err := mcp.NewHTTPServer(surface, &options.HTTP); err != nil {
		return nil, fmt.Errorf("OpenCode bridge: %w", err)
	}
	life, end := context.WithCancelCause(context.Background())
	return &Bridge{
		surface: surface, options: options, paths: layout{home: params.Home}, life: life, end: end, process: newGate(),
		links: make(map[messages.SessionID]*entry),
	}, nil
}

// Start listens on loopback and writes OpenCode's configuration. It starts no process. Errors: [ErrStarted], [ErrStopped], and those of
// listening and writing; then nothing is left behind, and it may be tried again.
func (b *Bridge) Start(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch b.state {
	case stateRunning:
		return ErrStarted
	case stateStopped:
		return ErrStopped
	case stateNew:
	}
	server, err := mcp.NewHTTPServer(b.surface, &b.options.HTTP)
	if err != nil {
		return fmt.Errorf("starting the OpenCode bridge: %w", err)
	}
	if err := server.Start(ctx); err != nil {
		return fmt.Errorf("starting the OpenCode bridge: %w", err)
	}
	if err := b.prepare(); err != nil {
		return fmt.Errorf("starting the OpenCode bridge: %w", errors.Join(err, server.Stop(context.WithoutCancel(ctx))))
	}
	b.http, b.state = server, stateRunning
	return nil
}

// prepare makes the folders and writes the configuration, or leaves everything as it was.
func (b *Bridge) prepare() error {
	forgetWork, err := made(b.paths.workRoot())
	if err != nil {
		return err
	}
	forgetConfig, err := made(filepath.Dir(b.paths.configPath()))
	if err == nil {
		err = writeConfig(b.paths.configPath(), b.options)
	}
	if err != nil {
		forgetConfig()
		forgetWork()
	}
	return err
}

// Stop ends OpenCode if it runs, closes the endpoints and stops the tool server. It blocks until nothing is left, as long as its
// context allows; the error then says what was left. It may be called more than once, also before Start.
func (b *Bridge) Stop(ctx context.Context) error {
	b.mu.Lock()
	b.state = stateStopped
	tools := b.http
	b.http = nil
	b.mu.Unlock()
	b.end(ErrStopped) // Opens that are under way give up, a start of OpenCode with them.

	errs := []error{b.stopServer(ctx)}
	if tools != nil {
		errs = append(errs, tools.Stop(ctx))
	}
	b.mu.Lock()
	clear(b.links)
	b.mu.Unlock()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("stopping the OpenCode bridge: %w", err)
	}
	return nil
}

// Sync makes what OpenCode sees equal to what is active and approved, for the sessions that the change touches. After a decision or a
// revocation call it too. It blocks as long as the approvals take to answer: see [mcp.HTTPServer.Sync]. On a bridge that does not run it
// does nothing.
func (b *Bridge) Sync(ctx context.Context, change presets.Change) error {
	tools, err := b.tools()
	if err != nil {
		return nil //nolint:nilerr // Nobody sees tools that could be out of date.
	}
	return tools.Sync(ctx, change)
}

// tools returns the running tool server.
func (b *Bridge) tools() (*mcp.HTTPServer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch b.state {
	case stateNew:
		return nil, ErrNotStarted
	case stateStopped:
		return nil, ErrStopped
	case stateRunning:
	}
	return b.http, nil
}
