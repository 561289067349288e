package actors

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"agentd/messages"
)

// The goroutines that stay for the next job: their stacks have grown already, which is why they stay. As many stay as were needed at one time since the last
// trim, within the one limit; the other is how many stay in any case.
const (
	maxIdleWorkers = 1024
	minIdleWorkers = 16
)

// workers are the goroutines that a runtime owns: agents, cancel hooks, callbacks, saves of grants. The zero value is ready. It may
// be waited for while new ones still start, which a sync.WaitGroup may not.
type workers struct {
	mu sync.Mutex
	// latest is the last one that was started of those that run, and running how many they are.
	latest  *job
	running int
	// idle are the goroutines that wait for a job, the latest last.
	idle []chan *job
	// spare is how many of idle were not needed since the last trim.
	spare  int
	closed bool
	// quiet is closed when nothing runs; nil when nobody waits.
	quiet chan struct{}
}

// job is what a goroutine does once, and what it is called if it does not end.
type job struct {
	what    string
	session messages.SessionID // may be empty
	do      runnable
	// before and after are its neighbours among those that run, the one that was started before it and the one after it.
	before, after *job
}

func (j *job) String() string {
	if j.session == "" {
		return j.what
	}
	return fmt.Sprintf("%s of session %q", j.what, j.session)
}

// start does a job on a goroutine of its own, at once.
func (w *workers) start(j *job) {
	w.mu.Lock()
	w.enlist(j)
	if last := len(w.idle) - 1; last >= 0 {
		worker := w.idle[last]
		w.idle = w.idle[:last]
		w.spare = min(w.spare, last)
		w.mu.Unlock()
		worker <- j // It has room for the one.
		return
	}
	w.mu.Unlock()
	go w.work(j)
}

// work does jobs until there are enough others who wait for one.
func (w *workers) work(j *job) {
	jobs := make(chan *job, 1)
	for j != nil {
		w.do(j)
		j = nil
		if w.rest(jobs) {
			j = <-jobs
		}
	}
}

func (w *workers) do(j *job) {
	defer w.finish(j)
	j.do.run()
}

// enlist and strike keep account of those that run, without any memory but theirs.
func (w *workers) enlist(j *job) {
	j.before, j.after = w.latest, nil
	if w.latest != nil {
		w.latest.after = j
	}
	w.latest = j
	w.running++
}

func (w *workers) strike(j *job) {
	if j.before != nil {
		j.before.after = j.after
	}
	if j.after != nil {
		j.after.before = j.before
	} else {
		w.latest = j.before
	}
	j.before, j.after = nil, nil
	w.running--
}

func (w *workers) finish(j *job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.strike(j)
	if w.running == 0 && w.quiet != nil {
		close(w.quiet)
		w.quiet = nil
	}
}

// rest puts a goroutine among those that wait, if there is room.
func (w *workers) rest(jobs chan *job) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || len(w.idle) >= maxIdleWorkers {
		return false
	}
	w.idle = append(w.idle, jobs)
	return true
}

// trim lets the goroutines end that were not needed since the last trim. It is called now and then.
func (w *workers) trim() {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(w.spare, len(w.idle)-minIdleWorkers)
	for i := range max(n, 0) {
		close(w.idle[i])
	}
	w.idle = slices.Delete(w.idle, 0, max(n, 0))
	w.spare = len(w.idle)
}

// wait blocks until nothing runs or the context ends, and names what still runs.
func (w *workers) wait(ctx context.Context) []string {
	w.mu.Lock()
	if w.running == 0 {
		w.mu.Unlock()
		return nil
	}
	if w.quiet == nil {
		w.quiet = make(chan struct{})
	}
	quiet := w.quiet
	w.mu.Unlock()
	select {
	case <-quiet:
		return nil
	case <-ctx.Done():
		return w.names()
	}
}

// names says what runs.
func (w *workers) names() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := make([]string, 0, w.running)
	for j := w.latest; j != nil; j = j.before {
		names = append(names, j.String())
	}
	slices.Sort(names)
	return names
}

// count returns how many run.
func (w *workers) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.running
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
