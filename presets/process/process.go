package process

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// Process is a running child and the tree below it. Its methods may be called by several goroutines.
type Process struct {
	// Set at construction.
	opts  Options
	cmd   *exec.Cmd
	pipes *pipes
	tree  *tree
	begun time.Time
	pid   int

	stopOnce, killOnce sync.Once
	stop               chan struct{} // closed to climb the ladder
	kill               chan struct{} // closed to skip the polite rungs

	exited chan struct{} // closed when the child has exited, perhaps not yet reaped
	swept  chan struct{} // closed when the child may be reaped
	reaped chan struct{} // closed when it is; also the end of hold
	done   chan struct{} // closed when exit is complete; also the end of supervise

	state *os.ProcessState // written by hold before reaped
	exit  Exit             // written by supervise before done
}

// Start starts a process and returns once it runs; it blocks no longer than the fork. The caller must see to its end: with
// [Process.Stop], or by waiting for [Process.Done].
func Start(params Params, opts *Options) (*Process, error) {
	o := opts.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := params.validate(); err != nil {
		return nil, err
	}
	mark := rand.Text()
	if outer := os.Getenv(MarkerEnv); outer != "" {
		mark = outer + ":" + mark
	}
	cmd := exec.Command(params.Path, params.Args...) //nolint:noctx // The tree is ended by Stop, which a context cannot do.
	cmd.Dir = params.Dir
	cmd.Env = append(append(make([]string, 0, len(params.Env)+1), params.Env...), MarkerEnv+"="+mark)
	p := &Process{
		opts: o, cmd: cmd, tree: newTree(mark), begun: time.Now(),
		stop: make(chan struct{}), kill: make(chan struct{}), exited: make(chan struct{}),
		swept: make(chan struct{}), reaped: make(chan struct{}), done: make(chan struct{}),
	}
	if err := p.start(params); err != nil {
		return nil, fmt.Errorf("starting %q: %w", params.Path, err)
	}
	return p, nil
}

func (p *Process) start(params Params) error {
	var err error
	if p.pipes, err = openPipes(p.cmd, params); err != nil {
		return err
	}
	p.tree.configure(p.cmd)
	started := make(chan error, 1)
	go p.hold(started)
	if err := <-started; err != nil {
		p.pipes.closeAll()
		return err
	}
	p.pid = p.cmd.Process.Pid
	p.pipes.closeChild()
	for _, s := range p.pipes.streams {
		go s.pump()
	}
	go p.supervise()
	return nil
}

// hold forks, waits and reaps on one thread: the kernel's parent-death signal comes when the forking thread ends, not
// the process, so that thread has to stay until the child has gone.
func (p *Process) hold(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.reaped)
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	if err := p.tree.adopt(p.cmd.Process); err != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		started <- err
		return
	}
	started <- nil
	p.tree.await(p.cmd)
	close(p.exited)
	<-p.swept
	p.tree.reap(p.cmd)
	p.state = p.cmd.ProcessState
}

// PID returns the process id of the child, which is also its process group's.
func (p *Process) PID() int { return p.pid }

// Stdin returns the pipe to the child's stdin; without [Params.OpenStdin] writing to it answers [ErrNoStdin]. A write
// blocks while the pipe is full and fails once the process has ended or Stop has closed it.
func (p *Process) Stdin() io.WriteCloser {
	if p.pipes.stdin == nil {
		return noStdin{}
	}
	return p.pipes.stdin
}

type noStdin struct{}

func (noStdin) Write([]byte) (int, error) { return 0, ErrNoStdin }
func (noStdin) Close() error              { return nil }

// Done is closed when the child was reaped, its tree is gone and its output was passed on.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit returns how the process ended, and whether it has.
func (p *Process) Exit() (Exit, bool) {
	select {
	case <-p.done:
		return p.exit, true
	default:
		return Exit{Code: -1}, false
	}
}

// Wait blocks until the process has ended or ctx has. A status other than zero is no error: look at the [Exit]. Errors:
// the cause of ctx, [ErrSurvivors].
func (p *Process) Wait(ctx context.Context) (Exit, error) {
	// What has ended is told even to a context that has ended too.
	if exit, ended := p.Exit(); ended {
		return exit, exit.err()
	}
	select {
	case <-p.done:
		return p.exit, p.exit.err()
	case <-ctx.Done():
		return Exit{Code: -1}, fmt.Errorf("waiting for process %d: %w", p.pid, context.Cause(ctx))
	}
}

// Run starts a process and waits for its end. If ctx ends first, the process is stopped by the ladder, and the error
// is the cause of ctx beside the [Exit] that the stopping led to.
func Run(ctx context.Context, params Params, opts *Options) (Exit, error) {
	if err := ctx.Err(); err != nil {
		return Exit{Code: -1}, fmt.Errorf("starting %q: %w", params.Path, context.Cause(ctx))
	}
	p, err := Start(params, opts)
	if err != nil {
		return Exit{Code: -1}, err
	}
	select {
	case <-p.done:
		return p.exit, p.exit.err()
	case <-ctx.Done():
	}
	exit, err := p.Stop(context.WithoutCancel(ctx))
	if err != nil {
		return exit, err
	}
	if !exit.Stopped {
		return exit, nil
	}
	return exit, fmt.Errorf("running %q: %w", params.Path, context.Cause(ctx))
}
