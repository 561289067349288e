package mcp

import (
	"net"
	"net/http"
	"sync"
)

// newConns knows the connections on which nothing was asked yet. Clients open some to have them at hand, and a server that stops would wait
// for each of them for five seconds.
type newConns struct {
	mu      sync.Mutex
	open    map[net.Conn]struct{}
	closing bool
}

// note is told of each change of a connection's state, by [http.Server].
func (c *newConns) note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(c.open, conn)
	case c.closing:
		_ = conn.Close() // Nobody has asked anything on it.
	default:
		if c.open == nil {
			c.open = make(map[net.Conn]struct{})
		}
		c.open[conn] = struct{}{}
	}
}

// close closes them, and those that are yet to come.
func (c *newConns) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closing = true
	for conn := range c.open {
		_ = conn.Close() // As above.
	}
	clear(c.open)
}
