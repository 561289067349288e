package testkit

import (
	"context"
	"sync"

	"agentd/actors"
)

// Gate is a place where a script, a hook or a tool waits until the test lets it go on. It is safe for concurrent use.
type Gate struct {
	reached, open         chan struct{}
	reachedOnce, openOnce sync.Once
}

// NewGate returns a gate that is shut.
func NewGate() *Gate {
	return &Gate{reached: make(chan struct{}), open: make(chan struct{})}
}

// Reached is closed when somebody has come to the gate for the first time.
func (g *Gate) Reached() <-chan struct{} { return g.reached }

// Open lets everybody through from now on. It may be called more than once.
func (g *Gate) Open() { g.openOnce.Do(func() { close(g.open) }) }

// Pass waits until the gate is open, whatever happens meanwhile.
func (g *Gate) Pass() {
	g.reachedOnce.Do(func() { close(g.reached) })
	<-g.open
}

// Wait is the step that waits at the gate, and ends with the context of the turn.
func (g *Gate) Wait() Step {
	return func(ctx context.Context, _ *actors.TurnContext) error {
		g.reachedOnce.Do(func() { close(g.reached) })
		select {
		case <-g.open:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Hang is the step of an agent that ignores that its turn is cancelled: it waits until the gate is open.
func (g *Gate) Hang() Step {
	return func(context.Context, *actors.TurnContext) error {
		g.Pass()
		return nil
	}
}
