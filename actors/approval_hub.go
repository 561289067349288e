package actors

import (
	"context"
	"io"
	"slices"
	"sync"
)

// approvalHub tells watchers that requests were opened or resolved. A watcher that falls behind loses nothing that
// matters: it is told that something changed, and reads what is pending.
type approvalHub struct {
	mu       sync.Mutex
	watchers []*ApprovalWatch
	closed   bool
}

// ApprovalWatch tells what happens to requests for approvals, in order. One goroutine reads.
type ApprovalWatch struct {
	hub    *approvalHub
	mu     sync.Mutex
	events []ApprovalEvent
	ended  bool
	notify chan struct{}
}

// maxApprovalBacklog is how many events a watch holds; beyond it the oldest is dropped.
const maxApprovalBacklog = 1024

// Next returns the next event. It blocks until there is one, the context ends (its cause), or the watch is over ([io.EOF]).
func (w *ApprovalWatch) Next(ctx context.Context) (ApprovalEvent, error) {
	for {
		w.mu.Lock()
		if len(w.events) > 0 {
			event := w.events[0]
			w.events = w.events[1:]
			w.mu.Unlock()
			return event, nil
		}
		ended := w.ended
		w.mu.Unlock()
		if ended {
			return ApprovalEvent{}, io.EOF
		}
		select {
		case <-w.notify:
		case <-ctx.Done():
			return ApprovalEvent{}, context.Cause(ctx)
		}
	}
}

// Close ends the watch. It may be called more than once.
func (w *ApprovalWatch) Close() {
	w.hub.remove(w)
	w.finish()
}

func (w *ApprovalWatch) offer(event ApprovalEvent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.events) >= maxApprovalBacklog {
		w.events = w.events[1:]
	}
	w.events = append(w.events, event)
	w.wake()
}

func (w *ApprovalWatch) finish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.wake()
}

func (w *ApprovalWatch) wake() {
	select {
	case w.notify <- struct{}{}:
	default:
	}
}

func (h *approvalHub) add() *ApprovalWatch {
	w := &ApprovalWatch{hub: h, notify: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		w.ended = true
		return w
	}
	h.watchers = append(h.watchers, w)
	return w
}

func (h *approvalHub) remove(w *ApprovalWatch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watchers = slices.DeleteFunc(h.watchers, func(other *ApprovalWatch) bool { return other == w })
}

func (h *approvalHub) publish(event ApprovalEvent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.watchers {
		w.offer(event)
	}
}

func (h *approvalHub) close() {
	h.mu.Lock()
	watchers := h.watchers
	h.watchers, h.closed = nil, true
	h.mu.Unlock()
	for _, w := range watchers {
		w.finish()
	}
}
