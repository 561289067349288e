package process

import (
	"context"
	"time"
)

// Polling the process table starts fine and gets coarser, so that a quick end is seen quickly and a slow one costs little.
const (
	pollMin = time.Millisecond
	pollMax = 25 * time.Millisecond
)

// Stop ends the process and its tree by the ladder and waits until both are gone, or until ctx ends; the ladder goes on
// in either case. Stopping what has ended returns its [Exit] at once. Errors: the cause of ctx, [ErrSurvivors].
func (p *Process) Stop(ctx context.Context) (Exit, error) {
	p.stopOnce.Do(func() { close(p.stop) })
	return p.Wait(ctx)
}

// Kill is Stop without the polite rungs; it also cuts short a Stop that is under way.
func (p *Process) Kill(ctx context.Context) (Exit, error) {
	p.killOnce.Do(func() { close(p.kill) })
	return p.Stop(ctx)
}

// Interrupt asks the tree to give up what it is doing: SIGINT to the group, a console break on Windows. It does not wait and
// has no effect on a process that has ended.
func (p *Process) Interrupt() error {
	select {
	case <-p.exited:
		return nil
	default:
		return p.tree.interrupt()
	}
}

// supervise sees the process to its end. It is the only one that climbs the ladder and sweeps.
func (p *Process) supervise() {
	defer close(p.done)
	exit := Exit{Code: -1}
	select {
	case <-p.exited:
	case <-p.stop:
		exit.Stopped = true
		p.climb()
	}
	exit.Killed, exit.Survivors = p.sweep()
	exit.Lifetime = time.Since(p.begun)
	close(p.swept)
	if p.awaitReaped() {
		exit.Code, exit.Signal = status(p.state)
	}
	p.drain()
	p.tree.close()
	for _, s := range p.pipes.streams {
		if exit.OutputErr == nil {
			exit.OutputErr = s.err
		}
	}
	p.exit = exit
}

// climb does the polite rungs: it returns when the tree has gone or its time is over.
func (p *Process) climb() {
	// Whoever is below the child now is remembered: once a parent has died, its children are only to be found by that.
	p.tree.look()
	if p.opts.StdinGrace > 0 {
		p.pipes.closeStdin()
		if p.gone(p.opts.StdinGrace) {
			return
		}
	}
	every := p.opts.TermEvery
	if every <= 0 {
		every = p.opts.TermGrace
	}
	for left := p.opts.TermGrace; left > 0; left -= every {
		if p.killing() {
			return
		}
		p.tree.terminate()
		if p.gone(min(every, left)) {
			return
		}
	}
}

func (p *Process) killing() bool {
	select {
	case <-p.kill:
		return true
	default:
		return false
	}
}

// gone waits at most limit for an empty tree and reports whether there was one. A Kill ends the wait.
func (p *Process) gone(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.exited:
	case <-timer.C:
		return false
	case <-p.kill:
		return false
	}
	for pause := pollMin; ; pause = min(2*pause, pollMax) {
		if len(p.tree.look()) == 0 {
			return true
		}
		poll := time.NewTimer(pause)
		select {
		case <-poll.C:
		case <-timer.C:
			poll.Stop()
			return false
		case <-p.kill:
			poll.Stop()
			return false
		}
	}
}

// sweep kills what lives until nothing does. It returns how many lived at first and who lives on after KillWait.
func (p *Process) sweep() (killed int, survivors []int) {
	deadline := time.Now().Add(p.opts.KillWait)
	for pause, first := pollMin, true; ; pause, first = min(2*pause, pollMax), false {
		living := p.tree.look()
		if first {
			killed = len(living)
		}
		if len(living) == 0 && closed(p.exited) {
			return killed, nil
		}
		if time.Now().After(deadline) {
			return killed, living
		}
		p.tree.kill()
		timer := time.NewTimer(pause)
		if len(living) > 1 || closed(p.exited) {
			<-timer.C
			continue
		}
		select { // The child alone is left: its exit needs no polling.
		case <-timer.C:
		case <-p.exited:
			timer.Stop()
		}
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// awaitReaped waits for the reaping, which cannot take long unless the child itself survived.
func (p *Process) awaitReaped() bool {
	if closed(p.exited) {
		<-p.reaped
		return true
	}
	return false
}

// drain waits for the readers, and closes their pipes if something unknown holds the other ends.
func (p *Process) drain() {
	p.pipes.closeStdin()
	timer := time.NewTimer(p.opts.DrainWait)
	defer timer.Stop()
	for _, s := range p.pipes.streams {
		select {
		case <-s.done:
		case <-timer.C:
			timer.Reset(0) // The next reader's time is over too.
		}
		_ = s.read.Close()
		<-s.done
	}
}
