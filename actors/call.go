package actors

import (
	"context"
	"fmt"
	"sync/atomic"

	"agentd/messages"
)

// call is one request to an actor and the place where its answer comes: the only way in which this package waits for
// an actor. The answer is put at most once, and putting never blocks.
type call[T any] struct {
	// answered is closed when value and err are the answer.
	answered chan struct{}
	value    T
	err      error
	// taken says that somebody answers, or has.
	taken atomic.Bool
	// left says that nobody waits any more.
	left atomic.Bool
}

func newCall[T any]() *call[T] { return &call[T]{answered: make(chan struct{})} }

// put answers the call. A second answer is dropped.
func (c *call[T]) put(value T, err error) {
	if c.taken.CompareAndSwap(false, true) {
		c.value, c.err = value, err
		close(c.answered)
	}
}

// fail answers the call with an error.
func (c *call[T]) fail(err error) {
	var zero T
	c.put(zero, err)
}

// settle answers a call that stands as the ticket of a session.
func (c *call[T]) settle(value any, err error) {
	typed, ok := value.(T)
	if !ok && value != nil && err == nil {
		err = fmt.Errorf("the session answered with a %T", value)
	}
	c.put(typed, err)
}

// ticket is what a session's tickets can do.
type ticket interface{ settle(value any, err error) }

// wait returns the answer, or the context's cause, or ErrClosing when the actor has gone without
// an answer. An answer that is there wins over both.
func (c *call[T]) wait(ctx context.Context, gone <-chan struct{}) (T, error) {
	select {
	case <-c.answered:
		return c.value, c.err
	default:
	}
	select {
	case <-c.answered:
		return c.value, c.err
	case <-ctx.Done():
		return c.leave(context.Cause(ctx))
	case <-gone:
		return c.leave(ErrClosing)
	}
}

// leave gives up waiting. An answer that came meanwhile still counts.
func (c *call[T]) leave(err error) (T, error) {
	c.left.Store(true)
	select {
	case <-c.answered:
		return c.value, c.err
	default:
		var zero T
		return zero, err
	}
}

// itemCall is the ticket of an item.
type itemCall = call[messages.Item]

// plainCall is the ticket of what has no value.
type plainCall = call[struct{}]
