package opencode

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
)

// Stop ends the server and everything that it has started. First politely, within [ServerOptions].StopTimeout: the turns that
// are running are aborted, which kills their shell commands and cancels their MCP calls, and the instances are closed. Then
// SIGTERM, again, SIGKILL, until nothing is left. It blocks until then or until ctx ends; a ctx that ends skips to SIGKILL and
// does not wait for it. Stopping twice is fine. Errors: the cause of ctx, [process.ErrSurvivors].
func (s *Server) Stop(ctx context.Context) error {
	s.setStopping()
	s.bow(ctx)
	_, err := s.proc.Stop(ctx)
	if err != nil && ctx.Err() != nil {
		// With a context that has ended, the kill does not wait.
		_, err = s.proc.Kill(ctx)
	}
	if err != nil {
		return fmt.Errorf("stopping OpenCode: %w", err)
	}
	<-s.watched
	s.client.Close()
	s.opts.Logger.InfoContext(ctx, "OpenCode is stopped", slog.Int("pid", s.proc.PID()))
	return nil
}

func (s *Server) setStopping() {
	s.stopMu.Lock()
	defer s.stopMu.Unlock()
	s.stopping = true
}

// bow does the polite part. Whatever it cannot do, the signals do.
func (s *Server) bow(ctx context.Context) {
	if s.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.StopTimeout)
	defer cancel()
	var group sync.WaitGroup
	for _, dir := range s.client.link.visited() {
		group.Go(func() {
			if err := s.client.In(dir).abortAll(ctx); err != nil {
				s.opts.Logger.DebugContext(ctx, "aborting turns before the stop went wrong", slog.String("error", err.Error()))
			}
		})
	}
	group.Wait()
	if _, err := s.client.do(ctx, call{op: "closing OpenCode's instances", method: "POST", path: "/global/dispose"}); err != nil {
		s.opts.Logger.DebugContext(ctx, "closing instances before the stop went wrong", slog.String("error", err.Error()))
	}
}

// abortAll aborts the turns of one directory.
func (c *Client) abortAll(ctx context.Context) error {
	statuses, err := c.Statuses(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for id := range statuses {
		errs = append(errs, c.Abort(ctx, id))
	}
	return errors.Join(errs...)
}

func (l *link) visited() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.dirs))
}
