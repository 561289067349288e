package space

import (
	"context"
	"sync"

	"agentd/messages"
)

// maxRooms is how many sessions are remembered. What is forgotten costs three questions to OpenCode at the next turn.
const maxRooms = 4096

// room is what the agent remembers of a session between turns. It belongs to the turn that is inside.
type room struct {
	// free holds a token while nobody is inside.
	free chan struct{}
	// users counts who is inside or waits; guarded by the mutex of rooms.
	users int

	// shelf keeps the connection of the last turn for a while.
	shelf shelf
	// life is the life of OpenCode in which the following was seen.
	life <-chan struct{}
	// session is the OpenCode session, which was idle when it was last seen.
	session string
	// newest is the last message of it that is not the next turn's. OpenCode's ids sort by time.
	newest string
}

// knows reports whether the session was seen idle in this life of OpenCode.
func (r *room) knows(life <-chan struct{}, session string) bool {
	return session != "" && r.session == session && r.life == life
}

// forget makes the next turn look again.
func (r *room) forget() { r.life, r.session, r.newest = nil, "", "" }

// rooms lets one turn at a time into a session. A turn that was given up by the runtime may still be aborting in OpenCode; the
// next one must not be hit by that.
type rooms struct {
	mu        sync.Mutex
	bySession map[messages.SessionID]*room
}

// enter waits until the session is free. The room is left by the function that it returns.
func (rs *rooms) enter(ctx context.Context, id messages.SessionID) (*room, func(), error) {
	r := rs.find(id)
	select {
	case <-r.free:
	case <-ctx.Done():
		rs.drop(r)
		return nil, nil, context.Cause(ctx)
	}
	return r, func() {
		r.free <- struct{}{}
		rs.drop(r)
	}, nil
}

func (rs *rooms) find(id messages.SessionID) *room {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.bySession == nil {
		rs.bySession = make(map[messages.SessionID]*room)
	}
	r := rs.bySession[id]
	if r == nil {
		rs.makePlace()
		r = &room{free: make(chan struct{}, 1)}
		r.free <- struct{}{}
		rs.bySession[id] = r
	}
	r.users++
	return r
}

func (rs *rooms) drop(r *room) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r.users--
}

// makePlace forgets sessions that nobody is in when there are too many.
func (rs *rooms) makePlace() {
	for id, r := range rs.bySession {
		if len(rs.bySession) < maxRooms {
			return
		}
		if r.users == 0 {
			delete(rs.bySession, id)
		}
	}
}
