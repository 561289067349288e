package actors

import (
	"sync"
	"testing"
	"testing/synctest"
)

// burst runs so many jobs at one time, and returns when their goroutines wait for the next.
func burst(w *workers, jobs int) {
	var running sync.WaitGroup
	running.Add(jobs)
	for range jobs {
		w.start(&job{what: "a job", do: runFunc(func() {
			running.Done()
			running.Wait()
		})})
	}
	synctest.Wait()
}

// As many goroutines stay as were needed lately, so that a burst does not cost for ever what it needed once.
func TestWorkersStayWhileTheyAreNeeded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var w workers
		defer w.close()
		for _, step := range []struct{ jobs, idle int }{
			{100, 100},
			{60, 60},
			{60, 60},
			{0, minIdleWorkers},
			{maxIdleWorkers + 50, maxIdleWorkers},
		} {
			burst(&w, step.jobs)
			w.trim()
			synctest.Wait()
			if got := len(w.idle); got != step.idle {
				t.Fatalf("after %d jobs and a trim %d goroutines stay, want %d", step.jobs, got, step.idle)
			}
			if got := w.count(); got != 0 {
				t.Fatalf("%d jobs are still counted", got)
			}
		}
	})
}
