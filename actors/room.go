package actors

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"agentd/actors/internal/session"
)

// evictionShare says how many sessions leave at once when there is no room: one of so many.
const evictionShare = 128

// room is what waits for a place in memory. At most as many wait as sessions were asked to leave.
type room struct {
	waiting   []activate
	departing int
}

// stays tells the registry that a session which was asked to leave has something to do again.
type stays struct{ entry *entry }

// departure is the ticket of a session that is asked to leave. One that does tells so itself.
type departure struct {
	root     *actor.RootContext
	registry *actor.PID
	entry    *entry
}

// settle implements ticket.
func (d *departure) settle(_ any, err error) {
	if err != nil {
		d.root.Send(d.registry, stays{entry: d.entry})
	}
}

// makeRoom lets an activation wait for a session that leaves, and asks those to leave that have been idle longest. If
// none is idle it is refused.
func (r *registryActor) makeRoom(c actor.Context, m activate) {
	if len(r.room.waiting) >= r.room.departing {
		r.evict(c)
	}
	if len(r.room.waiting) >= r.room.departing {
		m.reply.fail(fmt.Errorf("session %q: %w: %d", m.id, ErrTooManySessions, r.live.count))
		return
	}
	r.room.waiting = append(r.room.waiting, m)
}

// evict asks some idle sessions to leave.
func (r *registryActor) evict(c actor.Context) {
	var idle []*entry
	r.live.entries.Range(func(_, value any) bool {
		e := value.(*entry) //nolint:forcetypeassert // Only entries are stored.
		if e.idleSince.Load() != 0 && !e.leaving && !e.hub.watched() {
			idle = append(idle, e)
		}
		return true
	})
	slices.SortFunc(idle, func(a, b *entry) int { return cmp.Compare(a.idleSince.Load(), b.idleSince.Load()) })
	for _, e := range idle[:min(len(idle), 1+len(idle)/evictionShare)] {
		e.leaving = true
		r.room.departing++
		c.Send(e.pid, session.Drain{Ticket: &departure{root: c.ActorSystem().Root, registry: c.Self(), entry: e}})
	}
}

// onDeparture goes on when a session has left, or does not leave after all.
func (r *registryActor) onDeparture(c actor.Context, e *entry) {
	if e.leaving {
		e.leaving = false
		r.room.departing--
	}
	waiting := r.room.waiting
	r.room.waiting = nil
	for _, m := range waiting {
		r.onActivate(c, m)
	}
}

// refuse sends away everything that waits.
func (r *room) refuse(err error) {
	for _, m := range r.waiting {
		m.reply.fail(err)
	}
	r.waiting = nil
}
