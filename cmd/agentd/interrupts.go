package main

import (
	"context"
	"sync"
	"time"
)

// interrupts says what Ctrl-C does at the moment: the first one what the running command wants, or end the command; the second one ends
// the process at once.
type interrupts struct {
	program *program
	cancel  context.CancelCauseFunc

	mu      sync.Mutex
	handler func()
	pressed bool
	// last is when the last one was pressed that was acted on.
	last time.Time
}

func newInterrupts(p *program, cancel context.CancelCauseFunc) *interrupts {
	return &interrupts{program: p, cancel: cancel}
}

// watch acts on every Ctrl-C until done is closed.
func (i *interrupts) watch(done <-chan struct{}) {
	for {
		select {
		case <-i.program.presses:
			i.press()
		case <-done:
			return
		}
	}
}

// press is one Ctrl-C. One that comes within a moment of another is the same: what a program that started us passes on comes twice, to us and to
// our group.
func (i *interrupts) press() {
	i.mu.Lock()
	now := time.Now()
	if now.Sub(i.last) < sameSignal {
		i.mu.Unlock()
		return
	}
	i.last = now
	again, handler := i.pressed, i.handler
	i.pressed = true
	i.mu.Unlock()
	switch {
	case again:
		i.program.quit(exitCancelled)
	case handler != nil:
		handler()
	default:
		i.cancel(errInterrupted)
	}
}

// during makes the next Ctrl-C call a function, which does not block, until it is released.
func (i *interrupts) during(handler func()) (release func()) {
	i.set(handler)
	return func() { i.set(nil) }
}

func (i *interrupts) set(handler func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.handler, i.pressed = handler, false
}
