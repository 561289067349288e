package space

import (
	"context"
	"sync"
	"time"

	"agentd/providers/opencode"
)

// keepFor is how long a connection to OpenCode is kept after a turn. People answer, and programs go on, within that time; then a turn saves
// three requests: whether OpenCode is well, whether our tools are connected, and a stream of events.
const keepFor = 30 * time.Second

// connection is a link with a stream of the events of its directory. While the stream lives OpenCode is well: it sends a heartbeat.
type connection struct {
	link   link
	events *opencode.Events
	end    context.CancelFunc
}

// connect opens a connection that outlives the turn's context: what is told of a turn that is being cancelled counts too.
func connect(ctx context.Context, l link) (*connection, error) {
	own, end := context.WithCancel(context.WithoutCancel(ctx))
	events, err := l.Client().Events(own, nil)
	if err != nil {
		end()
		return nil, err
	}
	return &connection{link: l, events: events, end: end}, nil
}

// close ends the stream and waits for it.
func (c *connection) close() {
	c.end()
	c.events.Close()
}

// fresh reports whether nothing was missed, and throws away what was told since the last turn.
func (c *connection) fresh() bool {
	select {
	case <-c.link.Died():
		return false
	default:
	}
	for {
		select {
		case event, open := <-c.events.C():
			if _, gap := event.Body.(opencode.Gap); gap || !open {
				return false
			}
		default:
			return true
		}
	}
}

// shelf keeps a connection between two turns, for a time.
type shelf struct {
	mu    sync.Mutex
	kept  *connection
	timer *time.Timer
}

// put keeps a connection. If nobody takes it in time it is closed.
func (s *shelf) put(c *connection, keep time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = c
	s.timer = time.AfterFunc(keep, func() {
		if late := s.take(); late != nil {
			late.close()
		}
	})
}

// take returns the connection that is kept, or nil.
func (s *shelf) take() *connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.kept
	s.kept = nil
	if s.timer != nil {
		s.timer.Stop()
	}
	return c
}
