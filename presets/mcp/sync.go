package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"agentd/presets"
)

// DefaultOwner is the owner of the tools that a [Sync] keeps.
const DefaultOwner = "agent-tools"

// listTimeout bounds one sync, so that neither a change nor a stop waits for approvals that do not answer.
const listTimeout = 5 * time.Second

// ListFunc returns the tools that should be there now. It may ask the approvals, and so block; it keeps to its context.
type ListFunc func(ctx context.Context) ([]Tool, error)

// ChangeSource tells of changes that matter to a list of tools. A [presets.Manager] is one.
type ChangeSource interface {
	// OnChange adds a listener and returns the function that removes it.
	OnChange(listener func(presets.Change)) (remove func())
}

// SyncParams say what is kept equal to what.
type SyncParams struct {
	// Registry is what clients see. Required.
	Registry *Registry
	// List says what they should see. Required.
	List ListFunc
	// Owner is the owner of the tools in the registry. Empty means [DefaultOwner].
	Owner string
	// Changes is a source of changes, each of which causes a sync on the goroutine that made the change. Nil means that somebody calls
	// [Sync.Sync]: an actor does so, because a change may be made where nothing may block.
	Changes ChangeSource
	// Touches says whether a change matters. Nil means that each does.
	Touches func(presets.Change) bool
	// Logger is told of syncs that fail. Nil discards.
	Logger *slog.Logger
}

// Sync keeps the tools of a registry equal to a list (AgentMcpSync): usually to a [presets.Surface] as one caller sees it, so that nothing
// is shown that is not active and approved. It starts no goroutines. It is safe for use by several goroutines.
type Sync struct {
	params SyncParams    // set at construction
	turn   chan struct{} // holds one while a start, sync or stop runs

	mu      sync.Mutex // guards what Status tells
	share   *Share     // nil unless started
	remove  func()     // ends the subscription; nil if there is none
	syncs   int
	lastErr error
}

// SyncStatus is the state of a [Sync] at one moment.
type SyncStatus struct {
	Started bool
	Owner   string
	// Tools are the names of the tools that are kept, sorted.
	Tools []string
	// Syncs is how many syncs changed something.
	Syncs int
	// Err is why the last sync failed, or nil. The tools are then those of the last one that did not.
	Err error
}

// NewSync returns a sync that is not started. The error names what is missing.
func NewSync(params SyncParams) (*Sync, error) {
	if params.Registry == nil {
		return nil, fmt.Errorf("tool sync: %w: Registry is missing", ErrInvalid)
	}
	if params.List == nil {
		return nil, fmt.Errorf("tool sync: %w: List is missing", ErrInvalid)
	}
	if params.Owner == "" {
		params.Owner = DefaultOwner
	}
	if params.Touches == nil {
		params.Touches = func(presets.Change) bool { return true }
	}
	if params.Logger == nil {
		params.Logger = slog.New(slog.DiscardHandler)
	}
	return &Sync{params: params, turn: make(chan struct{}, 1)}, nil
}

// Start claims the owner's name, subscribes to changes and syncs for the first time. Errors: [ErrStarted], [ErrOwned], and those of
// [Sync.Sync]; then nothing is left behind.
func (s *Sync) Start(ctx context.Context) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	if s.started() {
		return fmt.Errorf("starting tool sync of %q: %w", s.params.Owner, ErrStarted)
	}
	share, err := s.params.Registry.Claim(s.params.Owner)
	if err != nil {
		return fmt.Errorf("starting tool sync: %w", err)
	}
	if err := s.run(ctx, share); err != nil {
		share.Release()
		return fmt.Errorf("starting tool sync: %w", err)
	}
	s.mu.Lock()
	s.share = share
	s.mu.Unlock()
	if s.params.Changes == nil {
		return nil
	}
	remove := s.params.Changes.OnChange(s.onChange)
	s.mu.Lock()
	s.remove = remove
	s.mu.Unlock()
	// Once more, for what changed before the subscription. Whatever comes after it is told.
	if err := s.run(ctx, share); err != nil {
		s.drop()
		return fmt.Errorf("starting tool sync: %w", err)
	}
	return nil
}

// Sync lists once and makes the registry equal to it. Call it after a decision or a revocation, or for each change if there is no
// source of changes. Syncs happen one after another, so the last one has seen the last state. It takes no longer than the context, and
// each sync no longer than 5 s. Errors: [ErrNotStarted], [ErrCollision], [ErrInvalid],
// and those of the list; then nothing has changed.
func (s *Sync) Sync(ctx context.Context) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	s.mu.Lock()
	share := s.share
	s.mu.Unlock()
	if share == nil {
		return fmt.Errorf("syncing tools of %q: %w", s.params.Owner, ErrNotStarted)
	}
	return s.run(ctx, share)
}

// Stop ends the subscription and removes the owner's tools, and no others. It waits for a sync that runs. It may be called more than once.
func (s *Sync) Stop() {
	s.turn <- struct{}{}
	defer s.leave()
	s.drop()
}

// Status returns the present state.
func (s *Sync) Status() SyncStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := SyncStatus{Started: s.share != nil, Owner: s.params.Owner, Syncs: s.syncs, Err: s.lastErr}
	if s.share != nil {
		status.Tools = s.share.Names()
	}
	return status
}

func (s *Sync) enter(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("syncing tools of %q: %w", s.params.Owner, context.Cause(ctx))
	}
}

func (s *Sync) leave() { <-s.turn }

func (s *Sync) started() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.share != nil
}

// run makes one sync. The caller has the turn.
func (s *Sync) run(ctx context.Context, share *Share) error {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	tools, err := s.params.List(ctx)
	var difference Difference
	if err == nil {
		difference, err = share.Replace(tools)
	}
	if err != nil {
		err = fmt.Errorf("syncing tools of %q: %w", s.params.Owner, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastErr = err
	if !difference.Empty() {
		s.syncs++
	}
	return err
}

// drop gives everything back. The caller has the turn.
func (s *Sync) drop() {
	s.mu.Lock()
	share, remove := s.share, s.remove
	s.share, s.remove = nil, nil
	s.mu.Unlock()
	if remove != nil {
		remove()
	}
	if share != nil {
		share.Release()
	}
}

// onChange is the listener. An error is kept for Status: the goroutine of the change can do nothing about it.
func (s *Sync) onChange(change presets.Change) {
	if !s.params.Touches(change) {
		return
	}
	if err := s.Sync(context.Background()); err != nil && s.started() {
		s.params.Logger.Warn("Tools could not be kept up to date.", slog.String("owner", s.params.Owner), slog.String("error", err.Error()))
	}
}
