package mcp

import (
	"sync"
	"time"
)

// sessionTable knows the sessions of clients of one mount, and ends those that nobody uses. The engine's own timeout counts only
// requests that send something, and so ends sessions whose clients stand and listen.
type sessionTable struct {
	timeout time.Duration
	max     int
	expire  func(id string) // ends a session; called on a goroutine of its own

	mu      sync.Mutex
	entries map[string]*sessionEntry
}

// sessionEntry is one session.
type sessionEntry struct {
	open  int // requests that are being served
	timer *time.Timer
}

func newSessionTable(timeout time.Duration, limit int, expire func(id string)) *sessionTable {
	return &sessionTable{timeout: timeout, max: limit, expire: expire, entries: make(map[string]*sessionEntry)}
}

// full reports whether there is no room for one more.
func (t *sessionTable) full() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.entries) >= t.max
}

func (t *sessionTable) len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.entries)
}

// add notes a session that the engine has made, with one request open.
func (t *sessionTable) add(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.entries[id]; !known {
		timer := time.AfterFunc(t.timeout, func() { t.expired(id) })
		timer.Stop()
		t.entries[id] = &sessionEntry{open: 1, timer: timer}
	}
}

// begin notes a request of a session. It reports whether the session is known.
func (t *sessionTable) begin(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	entry, known := t.entries[id]
	if known {
		entry.open++
		entry.timer.Stop()
	}
	return known
}

// end notes the end of a request.
func (t *sessionTable) end(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	entry, known := t.entries[id]
	if !known {
		return
	}
	if entry.open--; entry.open == 0 {
		entry.timer.Reset(t.timeout)
	}
}

// remove forgets a session.
func (t *sessionTable) remove(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if entry, known := t.entries[id]; known {
		entry.timer.Stop()
		delete(t.entries, id)
	}
}

// clear forgets all sessions.
func (t *sessionTable) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, entry := range t.entries {
		entry.timer.Stop()
		delete(t.entries, id)
	}
}

// expired is called by a session's timer. A request may have come meanwhile.
func (t *sessionTable) expired(id string) {
	t.mu.Lock()
	entry, known := t.entries[id]
	if !known || entry.open > 0 {
		t.mu.Unlock()
		return
	}
	delete(t.entries, id)
	t.mu.Unlock()
	t.expire(id)
}
