package process

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// start starts a script and waits until it says that it is ready.
func start(tb testing.TB, params Params, opts *Options) *Process {
	tb.Helper()
	ready := make(chan struct{})
	var once sync.Once
	params.Stdout = NewLines(0, func(l Line) {
		if string(l.Text) == "ready" {
			once.Do(func() { close(ready) })
		}
	})
	stderr := NewCapture(4 << 10)
	params.Stderr = stderr
	p, err := Start(params, opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _, _ = p.Kill(context.Background()) })
	select {
	case <-ready:
	case <-p.Done():
		if p.exit.Code != 3 { // The leaver's: it is ready and gone at once.
			tb.Fatalf("child ended before it was ready: %s, stderr %q", p.exit, stderr)
		}
	case <-time.After(30 * time.Second):
		tb.Fatalf("child is not ready, stderr %q", stderr)
	}
	return p
}

func TestRun(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		script     string
		wantCode   int
		wantOutput string
	}{
		{name: "success", script: "long-line", wantCode: 0, wantOutput: strings.Repeat("x", 100000) + "\n"},
		{name: "unknown script", script: "none", wantCode: 99, wantOutput: "no such script: none\n"},
		{name: "empty stdin", script: "cat", wantCode: 0, wantOutput: "ready\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out := NewCapture(1 << 20)
			params := child(tt.script, nil)
			params.Stdout, params.Stderr = out, out
			exit, err := Run(t.Context(), params, nil)
			if err != nil {
				t.Fatalf("Run(%s) = %v", tt.script, err)
			}
			if exit.Code != tt.wantCode || exit.Stopped || exit.Success() != (tt.wantCode == 0) {
				t.Errorf("Run(%s) = %#v, want code %d, not stopped", tt.script, exit, tt.wantCode)
			}
			if got := out.String(); got != tt.wantOutput {
				t.Errorf("output = %.60q (%d bytes), want %.60q", got, len(got), tt.wantOutput)
			}
		})
	}
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		params Params
		opts   *Options
		want   error
		text   string
	}{
		{name: "no path", want: ErrInvalid, text: "Path"},
		{name: "nul in path", params: Params{Path: "a\x00b"}, want: ErrInvalid, text: "Path"},
		{name: "nul in dir", params: Params{Path: "a", Dir: "\x00"}, want: ErrInvalid, text: "Dir"},
		{name: "bad env", params: Params{Path: "a", Env: []string{"=x"}}, want: ErrInvalid, text: "Env"},
		{name: "negative grace", params: Params{Path: "a"}, opts: &Options{TermGrace: -1}, want: ErrInvalid, text: "TermGrace"},
		{name: "not there", params: Params{Path: "/nonexistent/program"}, want: os.ErrNotExist, text: "/nonexistent/program"},
		{name: "dir not there", params: Params{Path: os.Args[0], Dir: "/nonexistent"}, want: os.ErrNotExist, text: "starting"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Start(tt.params, tt.opts)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("Start() = %v, want %v naming %s", err, tt.want, tt.text)
			}
		})
	}
}

func TestEnvironmentIsExactlyWhatWasGiven(t *testing.T) {
	t.Parallel()
	out := NewCapture(1 << 16)
	printer := "/usr/bin/env"
	if _, err := os.Stat(printer); err != nil {
		t.Skip("no /usr/bin/env on this system")
	}
	if _, err := Run(t.Context(), Params{Path: printer, Env: []string{"A=1", "A=2"}, Stdout: out}, nil); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || lines[0] != "A=2" || !strings.HasPrefix(lines[1], MarkerEnv+"=") {
		t.Errorf("environment = %q, want A=2 and the marker", lines)
	}
}

func TestStdin(t *testing.T) {
	t.Parallel()
	out := NewCapture(1 << 16)
	params := child("cat", nil)
	params.OpenStdin, params.Stdout = true, out
	p, err := Start(params, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(p.Stdin(), "hello"); err != nil {
		t.Fatal(err)
	}
	if err := p.Stdin().Close(); err != nil {
		t.Fatal(err)
	}
	if exit, err := p.Wait(t.Context()); err != nil || !exit.Success() {
		t.Fatalf("Wait() = %#v, %v", exit, err)
	}
	if got, want := out.String(), "ready\nhello"; got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
	closed, err := Start(child("cat", nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := closed.Stdin().Write([]byte("x")); !errors.Is(err, ErrNoStdin) {
		t.Errorf("Write without a pipe = %v, want ErrNoStdin", err)
	}
	if _, err := closed.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}

type failingWriter struct{ after int }

var errFull = errors.New("sink is full")

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.after--; w.after < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestFailingWriterDoesNotBlockTheChild(t *testing.T) {
	t.Parallel()
	params := child("long-line", nil)
	params.Stdout = &failingWriter{}
	exit, err := Run(t.Context(), params, nil)
	if err != nil || !exit.Success() {
		t.Fatalf("Run() = %#v, %v, want success", exit, err)
	}
	if !errors.Is(exit.OutputErr, errFull) {
		t.Errorf("OutputErr = %v, want %v", exit.OutputErr, errFull)
	}
}

func TestIncomparableWriters(t *testing.T) {
	t.Parallel()
	type sliceWriter struct {
		bytes.Buffer
		_ []int
	}
	if sameWriter(incomparable{}, incomparable{}) {
		t.Error("sameWriter() of incomparable writers = true, want false")
	}
	w := &sliceWriter{}
	if !sameWriter(w, w) {
		t.Error("sameWriter(w, w) = false, want true")
	}
}

type incomparable struct{ _ []int }

func (incomparable) Write(p []byte) (int, error) { return len(p), nil }

func TestWaitAndRunEndWithTheirContext(t *testing.T) {
	t.Parallel()
	cause := errors.New("the person went home")
	p := start(t, child("polite", nil), nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := p.Wait(ctx); !errors.Is(err, cause) {
		t.Errorf("Wait() = %v, want %v", err, cause)
	}
	if _, ended := p.Exit(); ended {
		t.Error("Wait with an ended context stopped the process")
	}
	if _, err := p.Stop(ctx); !errors.Is(err, cause) {
		t.Errorf("Stop() = %v, want %v", err, cause)
	}
	if exit, err := p.Wait(t.Context()); err != nil || !exit.Stopped {
		t.Errorf("after Stop with an ended context: Wait() = %#v, %v, want it stopped all the same", exit, err)
	}

	te := newTether(t)
	runCtx, runCancel := context.WithCancelCause(t.Context())
	got := make(chan error, 1)
	go func() {
		_, err := Run(runCtx, child("stubborn", te), nil)
		got <- err
	}()
	conns := te.await(t, sizes["stubborn"])
	runCancel(cause)
	if err := <-got; !errors.Is(err, cause) {
		t.Errorf("Run() = %v, want %v", err, cause)
	}
	if n := orphans(conns); n != 0 {
		t.Errorf("%d orphans after Run was cancelled", n)
	}
	if _, err := Run(runCtx, child("polite", nil), nil); !errors.Is(err, cause) {
		t.Errorf("Run() with an ended context = %v, want %v", err, cause)
	}
}
