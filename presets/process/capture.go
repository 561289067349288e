package process

import (
	"fmt"
	"strings"
	"sync"
)

// Capture is a writer that keeps a bounded part of an output: the first half of its limit, and the last half. It is safe
// for use by several goroutines. Make one with [NewCapture].
type Capture struct {
	max int // set at construction

	mu    sync.Mutex
	head  []byte
	tail  []byte // a ring once it is full
	next  int    // where the ring goes on
	total int64
}

// NewCapture returns a capture that keeps at most maxBytes bytes; less than two count as two. Memory grows with what is
// written, not ahead of it.
func NewCapture(maxBytes int) *Capture {
	return &Capture{max: max(maxBytes, 2)}
}

// Write takes all of p and never fails.
func (c *Capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	c.total += int64(n)
	if room := c.max/2 - len(c.head); room > 0 {
		take := min(room, len(p))
		c.head = append(c.head, p[:take]...)
		p = p[take:]
	}
	c.keepTail(p)
	return n, nil
}

func (c *Capture) keepTail(p []byte) {
	size := c.max - c.max/2
	if len(p) > size {
		p = p[len(p)-size:]
	}
	if room := size - len(c.tail); room > 0 {
		take := min(room, len(p))
		c.tail = append(c.tail, p[:take]...)
		p = p[take:]
	}
	for len(p) > 0 {
		n := copy(c.tail[c.next:], p)
		c.next = (c.next + n) % len(c.tail)
		p = p[n:]
	}
}

// Total returns how many bytes were written.
func (c *Capture) Total() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

// Cut returns how many bytes in the middle were left out; zero means that String has everything.
func (c *Capture) Cut() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cut()
}

func (c *Capture) cut() int64 { return c.total - int64(len(c.head)) - int64(len(c.tail)) }

// String returns what was kept as valid UTF-8. If something was left out, a line in its place says how many bytes.
func (c *Capture) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	b.Write(c.head)
	if cut := c.cut(); cut > 0 {
		fmt.Fprintf(&b, "\n[... %d bytes left out ...]\n", cut)
	}
	b.Write(c.tail[c.next:])
	b.Write(c.tail[:c.next])
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}
