package bridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"agentd/providers/opencode"
)

// alive returns a running OpenCode that answers. It starts one if there is none, or if the last one has died or does not answer.
func (b *Bridge) alive(ctx context.Context) (*opencode.Server, error) {
	if err := b.process.enter(ctx); err != nil {
		return nil, err
	}
	defer b.process.leave()
	if last := b.last(); last != nil {
		err := b.try(ctx, last)
		if err == nil {
			return last, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		b.options.Logger.WarnContext(ctx, "OpenCode is replaced.", slog.Int("pid", last.PID()), slog.String("error", err.Error()))
		if err := last.Stop(ctx); err != nil {
			return nil, fmt.Errorf("replacing OpenCode: %w", err)
		}
	}
	return b.start(ctx)
}

// try returns nil if the server runs and answers.
func (b *Bridge) try(ctx context.Context, server *opencode.Server) error {
	if err := server.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, b.options.HealthTimeout, ErrUnresponsive)
	defer cancel()
	_, err := server.Client().Health(ctx)
	return err
}

// start starts OpenCode. The caller holds the gate.
func (b *Bridge) start(ctx context.Context) (*opencode.Server, error) {
	options := b.options.Server
	var err error
	if options.Env, err = b.serverEnv(); err != nil {
		return nil, err
	}
	server, err := opencode.StartServer(ctx, opencode.ServerParams{
		Path: b.options.Executable, Dir: b.paths.workRoot(), ConfigHome: b.paths.configRoot(),
	}, &options)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.server = server
	return server, nil
}

func (b *Bridge) last() *opencode.Server {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.server
}

// stopServer ends OpenCode. A start that is under way has been told to give up, so the gate opens soon.
func (b *Bridge) stopServer(ctx context.Context) error {
	if err := b.process.enter(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	defer b.process.leave()
	server := b.last()
	if server == nil {
		return nil
	}
	if err := server.Stop(ctx); err != nil && !errors.Is(err, opencode.ErrServerExited) {
		return err
	}
	return nil
}
