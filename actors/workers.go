package actors

import (
	"context"
	"sync"
)

// maxIdleWorkers is how many goroutines stay for the next job. Their stacks have grown already, which is
// why they stay.
const maxIdleWorkers = 64

// workers are the goroutines that a runtime owns: agents, cancel hooks, callbacks, saves of grants. The zero value is ready. It may
// be waited for while new ones still start, which a sync.WaitGroup may not.
type workers struct {
	mu      sync.Mutex
	running int
	// idle are the goroutines that wait for a job, the latest last.
	idle   []chan func()
	closed bool
	// quiet is closed when nothing runs; nil when nobody waits.
	quiet chan struct{}
}

// start runs f on a goroutine of its own, at once.
func (w *workers) start(f func()) {
	w.mu.Lock()
	w.running++
	if last := len(w.idle) - 1; last >= 0 {
		worker := w.idle[last]
		w.idle = w.idle[:last]
		w.mu.Unlock()
		worker <- f // It has room for the one.
		return
	}
	w.mu.Unlock()
	go w.work(f)
}

// work does jobs until there are enough others who wait for one.
func (w *workers) work(f func()) {
	jobs := make(chan func(), 1)
	for f != nil {
		func() {
			defer w.finish()
			f()
		}()
		f = nil
		if w.rest(jobs) {
			f = <-jobs
		}
	}
}

func (w *workers) finish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--
	if w.running == 0 && w.quiet != nil {
		close(w.quiet)
		w.quiet = nil
	}
}

// rest puts a goroutine among those that wait, if there is room.
func (w *workers) rest(jobs chan func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || len(w.idle) >= maxIdleWorkers {
		return false
	}
	w.idle = append(w.idle, jobs)
	return true
}

// wait blocks until nothing runs or the context ends, and returns how many still run.
func (w *workers) wait(ctx context.Context) int {
	w.mu.Lock()
	if w.running == 0 {
		w.mu.Unlock()
		return 0
	}
	if w.quiet == nil {
		w.quiet = make(chan struct{})
	}
	quiet := w.quiet
	w.mu.Unlock()
	select {
	case <-quiet:
		return 0
	case <-ctx.Done():
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.running
	}
}

// close lets the goroutines that wait end. One that still runs ends after its job.
func (w *workers) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, jobs := range w.idle {
		close(jobs)
	}
	w.idle = nil
}

// count returns how many run.
func (w *workers) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.running
}
