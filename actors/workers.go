package actors

import (
	"context"
	"sync"
)

// workers are the goroutines that a runtime owns: agents, cancel hooks, callbacks, saves of grants. The zero value is ready. It may
// be waited for while new ones still start, which a sync.WaitGroup may not.
type workers struct {
	mu      sync.Mutex
	running int
	// idle is closed when nothing runs; nil when nobody waits.
	idle chan struct{}
}

// start runs f on a goroutine of its own.
func (w *workers) start(f func()) {
	w.mu.Lock()
	w.running++
	w.mu.Unlock()
	go func() {
		defer w.finish()
		f()
	}()
}

func (w *workers) finish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--
	if w.running == 0 && w.idle != nil {
		close(w.idle)
		w.idle = nil
	}
}

// wait blocks until nothing runs or the context ends, and returns how many still run.
func (w *workers) wait(ctx context.Context) int {
	w.mu.Lock()
	if w.running == 0 {
		w.mu.Unlock()
		return 0
	}
	if w.idle == nil {
		w.idle = make(chan struct{})
	}
	idle := w.idle
	w.mu.Unlock()
	select {
	case <-idle:
		return 0
	case <-ctx.Done():
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.running
	}
}
