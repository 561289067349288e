package process

import (
	"context"
	"errors"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"
)

func TestStopRungs(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("signals are unix's")
	}
	// Graces are long where the test wants the child to go by itself, and short where it must be killed.
	tests := []struct {
		name       string
		script     string
		stdin      bool
		opts       Options
		wantCode   int
		wantSignal string
		wantKilled int
	}{
		{name: "polite", script: "polite", opts: Options{TermGrace: time.Minute}, wantCode: -1, wantSignal: "terminated"},
		{name: "slow", script: "slow", opts: Options{TermGrace: time.Minute}, wantCode: 5},
		{name: "second term", script: "two-behind", opts: Options{TermGrace: time.Minute, TermEvery: 20 * time.Millisecond}, wantCode: 5},
		{name: "stdin", script: "stdin-end", stdin: true, opts: Options{StdinGrace: time.Minute}, wantCode: 7},
		{name: "kill", script: "stubborn", opts: Options{TermGrace: time.Millisecond}, wantCode: -1, wantSignal: "killed", wantKilled: 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			te := newTether(t)
			params := child(tt.script, te)
			params.OpenStdin = tt.stdin
			p := start(t, params, &tt.opts)
			te.await(t, sizes[tt.script])
			exit, err := p.Stop(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if exit.Code != tt.wantCode || exit.Signal != tt.wantSignal || !exit.Stopped || exit.Killed < tt.wantKilled {
				t.Errorf("Stop() = %#v, want code %d, signal %q, killed at least %d", exit, tt.wantCode, tt.wantSignal, tt.wantKilled)
			}
			if again, err := p.Stop(t.Context()); err != nil || again.Code != exit.Code {
				t.Errorf("second Stop() = %#v, %v, want the same", again, err)
			}
			if err := p.Interrupt(); err != nil {
				t.Errorf("Interrupt() after the end = %v, want nil", err)
			}
		})
	}
}

func TestStopLeavesNothing(t *testing.T) {
	t.Parallel()
	names := []string{"stubborn", "daemon", "bare", "all", "bomb"}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			te := newTether(t)
			p := start(t, child(name, te), nil)
			conns := te.await(t, sizes[name])
			exit, err := p.Stop(t.Context())
			if err != nil {
				t.Errorf("Stop() = %#v, %v", exit, err)
			}
			if n := orphans(conns); n != 0 {
				t.Errorf("%d of %d processes live on", n, len(conns))
			}
		})
	}
}

// A child that ends by itself takes what it has started with it, though nobody called Stop.
func TestNaturalEndSweeps(t *testing.T) {
	t.Parallel()
	te := newTether(t)
	p := start(t, child("leaver", te), nil)
	exit, err := p.Wait(t.Context())
	if err != nil || exit.Code != 3 || exit.Stopped {
		t.Errorf("Wait() = %#v, %v, want code 3, not stopped", exit, err)
	}
	// Not all of them need have come up before they were killed; those that did must be gone.
	var conns []net.Conn
	for {
		select {
		case conn := <-te.arrived:
			conns = append(conns, conn)
			continue
		case <-time.After(50 * time.Millisecond):
		}
		break
	}
	if n := orphans(conns); n != 0 {
		t.Errorf("%d of %d processes live on", n, len(conns))
	}
}

// What nothing can find holds the output open; the end is told all the same.
func TestEscapedProcessDoesNotHoldTheEnd(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a job cannot be escaped from")
	}
	te := newTether(t)
	params := child("escape", te)
	params.Stdout = NewCapture(100)
	p, err := Start(params, &Options{DrainWait: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	escaped := te.await(t, 1)[0]
	defer escaped.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if exit, err := p.Wait(ctx); err != nil || !exit.Success() || exit.OutputErr != nil {
		t.Errorf("Wait() = %#v, %v, want success", exit, err)
	}
}

func TestKillCutsAStopShort(t *testing.T) {
	t.Parallel()
	p := start(t, child("stubborn", nil), &Options{StdinGrace: time.Hour, TermGrace: time.Hour})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if exit, err := p.Stop(t.Context()); err != nil || !exit.Stopped {
				t.Errorf("Stop() = %#v, %v", exit, err)
			}
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if exit, err := p.Kill(ctx); err != nil || exit.Killed == 0 {
		t.Errorf("Kill() = %#v, %v, want processes killed", exit, err)
	}
	group.Wait()
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("signals are unix's")
	}
	p := start(t, child("polite", nil), nil)
	if err := p.Interrupt(); err != nil {
		t.Fatal(err)
	}
	if exit, err := p.Wait(t.Context()); err != nil || exit.Signal != "interrupt" {
		t.Errorf("Wait() = %#v, %v, want the signal interrupt", exit, err)
	}
}

// TestStubbornTrials is the promise of no orphans, many times over, with starts and stops at once.
func TestStubbornTrials(t *testing.T) {
	t.Parallel()
	n := *trials
	if testing.Short() {
		n = min(n, 5)
	}
	left := 0
	for i := range n {
		name := []string{"all", "stubborn"}[i%2]
		te := newTether(t)
		p := start(t, child(name, te), &Options{TermGrace: 10 * time.Millisecond})
		conns := te.await(t, sizes[name])
		if _, err := p.Stop(t.Context()); err != nil {
			t.Errorf("trial %d: %v", i, err)
		}
		left += orphans(conns)
	}
	if left != 0 {
		t.Errorf("%d orphans in %d trials, want 0", left, n)
	}
}

func TestSurvivorsAreNamed(t *testing.T) {
	t.Parallel()
	exit := Exit{Survivors: []int{41, 42}}
	if err := exit.err(); !errors.Is(err, ErrSurvivors) {
		t.Errorf("err() = %v, want ErrSurvivors", err)
	}
}

// BenchmarkStopStubbornChild reports the time from Stop to an empty tree, default options, for a tree that ignores
// everything, double-forks and leaves its session, and how many of its processes lived on.
func BenchmarkStopStubbornChild(b *testing.B) {
	left, slowest, total := 0, time.Duration(0), time.Duration(0)
	for b.Loop() {
		te := newTether(b)
		p := start(b, child("all", te), nil)
		conns := te.await(b, sizes["all"])
		begun := time.Now()
		if _, err := p.Stop(b.Context()); err != nil {
			b.Error(err)
		}
		took := time.Since(begun)
		total += took
		slowest = max(slowest, took)
		left += orphans(conns)
	}
	b.ReportMetric(float64(total.Milliseconds())/float64(b.N), "ms-to-empty")
	b.ReportMetric(float64(slowest.Milliseconds()), "ms-slowest")
	b.ReportMetric(float64(left), "orphans")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkRun is what starting, waiting and sweeping cost for a child that does nothing.
func BenchmarkRun(b *testing.B) {
	for b.Loop() {
		if exit, err := Run(b.Context(), Params{Path: "/bin/true"}, nil); err != nil || !exit.Success() {
			b.Fatal(exit, err)
		}
	}
}
