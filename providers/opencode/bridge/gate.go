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

// join returns a context that ends, with its cause, when one of the two does, and the function that gives its resources back.
func join(ctx, other context.Context) (context.Context, func()) {
	joined, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(other, func() { cancel(context.Cause(other)) })
	return joined, func() {
		stop()
		cancel(context.Canceled)
	}
}
