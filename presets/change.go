package presets

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"agentd/messages"
)

// Change says for whom the active presets, their tools or the overrides have changed.
type Change struct {
	// Global is set when it changed for every session without settings of its own.
	Global bool
	// Sessions are the sessions with settings of their own for which it changed, sorted.
	Sessions []messages.SessionID
}

// Touches reports whether the change matters to a session. A session without settings of its own is touched by a global one.
func (c Change) Touches(session messages.SessionID) bool {
	return c.Global || slices.Contains(c.Sessions, session)
}

// listeners delivers changes in order, one at a time, without a lock held.
type listeners struct {
	logger *slog.Logger // set at construction

	mu       sync.Mutex
	next     int
	entries  []listenerEntry // in the order of adding
	waiting  []Change
	draining bool // one goroutine delivers; the others leave their changes to it
}

type listenerEntry struct {
	id int
	fn func(Change)
}

func (l *listeners) add(fn func(Change)) (remove func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	id := l.next
	l.entries = append(slices.Clip(l.entries), listenerEntry{id: id, fn: fn})
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.entries = slices.DeleteFunc(slices.Clone(l.entries), func(e listenerEntry) bool { return e.id == id })
	}
}

func (l *listeners) queue(change Change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, change)
}

// drain delivers what waits, unless somebody does so already.
func (l *listeners) drain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.draining {
		return
	}
	l.draining = true
	for len(l.waiting) > 0 {
		change, entries := l.waiting[0], l.entries
		l.waiting = l.waiting[1:]
		l.mu.Unlock()
		for _, entry := range entries {
			l.deliver(entry.fn, change)
		}
		l.mu.Lock()
	}
	l.draining = false
}

func (l *listeners) deliver(fn func(Change), change Change) {
	defer func() {
		if fault := recover(); fault != nil {
			l.logger.Error("A listener for preset changes panicked.", slog.String("panic", fmt.Sprint(fault)))
		}
	}()
	change.Sessions = slices.Clone(change.Sessions)
	fn(change)
}
