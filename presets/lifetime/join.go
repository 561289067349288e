package lifetime

import "context"

// Join returns a context that ends, with its cause, when one of the two does, and the function that gives its resources back, which ends
// it with [context.Canceled] if nothing else has. The caller calls that once or more. It may be called from any goroutine.
func Join(ctx, other context.Context) (joined context.Context, release func()) {
	joined, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(other, func() { cancel(context.Cause(other)) })
	return joined, func() {
		stop()
		cancel(context.Canceled)
	}
}
