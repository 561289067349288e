package actors

import (
	"context"
	"fmt"
	"sync"

	"agentd/messages"
)

// TurnHandle is the public face of one turn: what [Runtime.RunTurn] returns. It is safe for concurrent use and
// stays valid after the turn, the session's actor and the runtime have ended.
type TurnHandle struct {
	session messages.SessionID
	id      messages.TurnID
	runtime *Runtime
	// done is closed when the turn has ended, before the callbacks run.
	done chan struct{}

	mu sync.Mutex
	// turn is the present record. It is replaced and never changed, since the session has it, too.
	turn      *messages.Turn
	err       error
	callbacks []func(*TurnHandle)
}

func newTurnHandle(rt *Runtime, session messages.SessionID, turn *messages.Turn) *TurnHandle {
	return &TurnHandle{session: session, id: turn.ID, runtime: rt, turn: turn, done: make(chan struct{})}
}

// ID is the id of the turn.
func (h *TurnHandle) ID() messages.TurnID { return h.id }

// SessionID is the id of its session.
func (h *TurnHandle) SessionID() messages.SessionID { return h.session }

// Turn returns the present record of the turn. Its status is cancelling from the moment that a cancel was taken up.
func (h *TurnHandle) Turn() messages.Turn {
	h.mu.Lock()
	defer h.mu.Unlock()
	return *h.turn
}

// Status is the state of the turn.
func (h *TurnHandle) Status() messages.TurnStatus { return h.Turn().Status }

// Result is the agent's summary, once the turn has completed.
func (h *TurnHandle) Result() string { return h.Turn().Result }

// Err says why the turn did not complete, or nil. It is a [*TurnError].
func (h *TurnHandle) Err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.turn.Status.Terminal() || h.turn.Status == messages.TurnCompleted && h.err == nil {
		return nil
	}
	return &TurnError{Turn: *h.turn, Err: h.err}
}

// Running reports whether the turn has not ended.
func (h *TurnHandle) Running() bool {
	select {
	case <-h.done:
		return false
	default:
		return true
	}
}

// Done is closed when the turn has ended: its terminal record is durable and the session is idle.
func (h *TurnHandle) Done() <-chan struct{} { return h.done }

// Wait blocks until the turn has ended, and returns its record. The error is nil however it ended; it is the cause of
// the context, with the turn still going on, or the fault that kept the ending from being stored.
func (h *TurnHandle) Wait(ctx context.Context) (messages.Turn, error) {
	select {
	case <-h.done:
		h.mu.Lock()
		defer h.mu.Unlock()
		return *h.turn, h.err
	default:
	}
	select {
	case <-h.done:
		h.mu.Lock()
		defer h.mu.Unlock()
		return *h.turn, h.err
	case <-ctx.Done():
		return h.Turn(), fmt.Errorf("waiting for turn %q: %w", h.id, context.Cause(ctx))
	}
}

// Cancel stops the turn and returns when it has ended, or the context has. Cancelling what has ended does
// nothing and is no error.
func (h *TurnHandle) Cancel(ctx context.Context) error {
	return h.runtime.cancel(ctx, h.session, h.id, "")
}

// OnComplete registers a callback for a turn that completes. It runs after the session is idle and may start the next
// turn. It is called at once if the turn has completed already.
func (h *TurnHandle) OnComplete(f func(turn messages.Turn)) {
	h.onEnd(func(h *TurnHandle) {
		if turn := h.Turn(); turn.Status == messages.TurnCompleted {
			f(turn)
		}
	})
}

// OnError registers a callback for a turn that fails, is cancelled or is interrupted. Otherwise it is like [TurnHandle.OnComplete].
func (h *TurnHandle) OnError(f func(turn messages.Turn, err error)) {
	h.onEnd(func(h *TurnHandle) {
		if err := h.Err(); err != nil {
			f(h.Turn(), err)
		}
	})
}

// onEnd registers a callback, or calls it if the turn has ended.
func (h *TurnHandle) onEnd(f func(*TurnHandle)) {
	h.mu.Lock()
	if !h.turn.Status.Terminal() {
		h.callbacks = append(h.callbacks, f)
		h.mu.Unlock()
		return
	}
	h.mu.Unlock()
	h.runtime.isolate("turn callback", func() { f(h) })
}

// cancelling marks the turn as being stopped.
func (h *TurnHandle) cancelling() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.turn.Status.Terminal() {
		turn := *h.turn
		turn.Status = messages.TurnCancelling
		h.turn = &turn
	}
}

// settle ends the handle, once, and runs the callbacks on a goroutine of the runtime. It does not block.
func (h *TurnHandle) settle(turn *messages.Turn, err error) {
	h.mu.Lock()
	if h.turn.Status.Terminal() {
		h.mu.Unlock()
		return
	}
	h.turn, h.err = turn, err
	callbacks := h.callbacks
	h.callbacks = nil
	h.mu.Unlock()
	close(h.done)
	if len(callbacks) == 0 {
		return
	}
	h.runtime.spawn("a callback", h.session, func() {
		for _, f := range callbacks {
			h.runtime.isolate("turn callback", func() { f(h) })
		}
	})
}

// TurnError says how a turn ended that did not complete.
type TurnError struct {
	Turn messages.Turn
	// Err is the fault that kept the ending from being stored, if any.
	Err error
}

// Error implements error.
func (e *TurnError) Error() string {
	text := fmt.Sprintf("turn %q %s: %s", e.Turn.ID, e.Turn.Status, e.Turn.Error)
	if e.Err != nil {
		text += " (" + e.Err.Error() + ")"
	}
	return text
}

// Unwrap gives the storage fault.
func (e *TurnError) Unwrap() error { return e.Err }
