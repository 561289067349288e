package modelserver

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// record is the memory of a server: its script and what was asked. Everybody who waits is woken by each change.
type record struct {
	keep int // set at construction

	mu       sync.Mutex
	script   script
	requests []Request
	count    int
	closed   bool
	changed  chan struct{} // closed and replaced at each change
	release  chan struct{} // closed and replaced at each Release
}

func newRecord(keep int) *record {
	return &record{keep: keep, changed: make(chan struct{}), release: make(chan struct{})}
}

func (r *record) wake() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// arrive numbers a request, chooses its answer and remembers it.
func (r *record) arrive(req Request, choose func(*Request) Reply) (Request, Reply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	req.Number, req.At, req.Outcome, req.Step = r.count, time.Now(), Pending, -1
	reply := choose(&req)
	r.requests = append(r.requests, req)
	if over := len(r.requests) - r.keep; over > 0 {
		r.requests = slices.Delete(r.requests, 0, over)
	}
	r.wake()
	return req, reply
}

// mark notes how far an answer has come.
func (r *record) mark(number int, outcome Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.requests) - 1; i >= 0; i-- {
		if r.requests[i].Number != number {
			continue
		}
		r.requests[i].Outcome = outcome
		if outcome != Pending && outcome != Hanging {
			r.requests[i].Ended = time.Now()
		}
		r.wake()
		return
	}
}

// hang waits until it is released or ctx ends, and reports whether it was released. The release is taken before the
// hanging is made known, so that whoever sees the one and then does the other always hits.
func (r *record) hang(ctx context.Context, number int) bool {
	r.mu.Lock()
	release, closed := r.release, r.closed
	r.mu.Unlock()
	if closed {
		return false
	}
	r.mark(number, Hanging)
	select {
	case <-release:
		r.mark(number, Pending)
		return true
	case <-ctx.Done():
		return false
	}
}

func (r *record) releaseAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.release)
	r.release = make(chan struct{})
}

func (r *record) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.closed = true
		r.wake()
	}
}

func (r *record) snapshot() ([]Request, chan struct{}, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests), r.changed, r.closed
}

func (r *record) await(ctx context.Context, done func([]Request) bool) error {
	for {
		requests, changed, closed := r.snapshot()
		if done(requests) {
			return nil
		}
		if closed {
			return ErrClosed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("awaiting model requests, %d so far: %w", len(requests), context.Cause(ctx))
		}
	}
}
