package bridge

import "context"

// gate is a lock whose waiters keep to their contexts.
type gate chan struct{}

func newGate() gate { return make(gate, 1) }

// enter takes the gate, or returns the cause of the context.
func (g gate) enter(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case g <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (g gate) leave() { <-g }
