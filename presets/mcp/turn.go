package mcp

import (
	"context"
	"fmt"
	"sync"

	"agentd/presets"
	"agentd/presets/lifetime"
)

// Turn says on whose behalf a client's calls are made, and who keeps them.
type Turn struct {
	// Caller is the session, the turn and the agent: presets, approvals and audit are theirs. Its session must be that of the tool server.
	Caller presets.Caller
	// ArtifactDir and WorkspaceRoot go to the tools; see [presets.Env].
	ArtifactDir   string
	WorkspaceRoot string
	// Recorder is told each step of each call, several calls at a time. Nil means that nobody keeps them.
	Recorder presets.Recorder
	// Call makes a call in place of the surface. An agent gives the one of its turn's tools, which has an identity and a recorder for each
	// call; it may set the call's id to that under which its provider knows it. Several calls are made at one time. If the call has a
	// recorder, it has to be told each step after the turn's own: an answer of the client's person comes that way. Nil means
	// [presets.Surface.Call].
	Call func(ctx context.Context, call presets.Call) (presets.Result, error)
}

// Binding is a [Turn] while its calls are let in.
type Binding struct {
	turn   Turn                    // set at construction
	ctx    context.Context         //nolint:containedctx // The life of the turn's calls; it ends with Release.
	cancel context.CancelCauseFunc // set at construction
	done   chan struct{}           // closed when no more calls are let in and the last one has ended

	mu       sync.Mutex
	released bool // no more calls are let in
	calls    int
}

func newBinding(turn Turn) *Binding {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &Binding{turn: turn, ctx: ctx, cancel: cancel, done: make(chan struct{})}
}

// Release lets no more calls in, and ends the contexts of those under way with [ErrNoTurn]: one that waits for a person is not run. It does
// not wait; see [Binding.Done]. It may be called more than once.
func (b *Binding) Release() {
	b.shut()
	b.cancel(ErrNoTurn)
}

// Drain lets no more calls in, and waits for those under way until the context ends. Then it does what [Binding.Release] does.
func (b *Binding) Drain(ctx context.Context) {
	b.shut()
	select {
	case <-b.done:
	case <-ctx.Done():
	}
	b.cancel(ErrNoTurn)
}

func (b *Binding) shut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.released {
		return
	}
	b.released = true
	if b.calls == 0 {
		close(b.done)
	}
}

// Done is closed when the binding is released, or drains, and its last call has ended.
func (b *Binding) Done() <-chan struct{} { return b.done }

// enter lets a call in and returns its context, which ends with the turn, and the function that lets it out.
func (b *Binding) enter(ctx context.Context) (context.Context, func(), bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.released {
		return ctx, nil, false
	}
	b.calls++
	ctx, release := lifetime.Join(ctx, b.ctx)
	return ctx, func() {
		release()
		b.mu.Lock()
		defer b.mu.Unlock()
		b.calls--
		if b.released && b.calls == 0 {
			close(b.done)
		}
	}, true
}

// Bind makes the turn the one whose calls are let in. One that was bound before is released. While none is bound, calls are refused. The
// caller releases it when the turn ends. Error: [ErrInvalid] if the turn is one of another session.
func (t *ToolServer) Bind(turn Turn) (*Binding, error) {
	if turn.Caller.SessionID != t.caller.SessionID {
		return nil, fmt.Errorf("binding turn %q: %w: its session is %q, the tool server's is %q", turn.Caller.TurnID, ErrInvalid,
			turn.Caller.SessionID, t.caller.SessionID)
	}
	if turn.Call != nil && turn.Recorder != nil {
		return nil, fmt.Errorf("binding turn %q: %w: give Call or Recorder, not both", turn.Caller.TurnID, ErrInvalid)
	}
	binding := newBinding(turn)
	if previous := t.bound.Swap(binding); previous != nil {
		previous.Release()
	}
	return binding, nil
}

// present returns on whose behalf tools are listed now.
func (t *ToolServer) present() presets.Caller {
	if binding := t.bound.Load(); binding != nil && binding.ctx.Err() == nil {
		return binding.turn.Caller
	}
	return t.caller
}
