package actors

import (
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"agentd/actors/internal/session"
	"agentd/messages"
	"agentd/persistence"
)

type (
	// activate asks for the entry of a session, and starts its actor if there is none.
	activate struct {
		id     messages.SessionID
		create *creation
		reply  *call[*entry]
	}

	// sessionLeft tells that a session's actor refuses everything from now on, and can be stopped.
	sessionLeft struct {
		entry *entry
		err   error
	}

	// drainAll asks every session to leave, and closes done when none is left.
	drainAll struct{ done chan struct{} }

	// sweep is the registry's timer: it passivates and folds what is idle.
	sweep struct{}
)

// registryActor is the only one that starts session actors. Callers find a live session in the shared map without asking it.
type registryActor struct {
	// Set at construction.
	runtime *Runtime
	live    *liveSessions
	logger  *slog.Logger

	// Owned by the actor.
	generation uint64
	timer      *time.Timer
	draining   chan struct{}
	room       room
}

// liveSessions maps ids to entries. Only the registry writes.
type liveSessions struct {
	entries sync.Map // messages.SessionID -> *entry
	// count is owned by the registry; it outlives an incarnation of it.
	count int
	// pids finds the entry of an actor by its name, from before it is spawned until it is gone.
	mu   sync.Mutex
	pids map[string]*entry
}

// enter names the actor that an entry is about to have.
func (l *liveSessions) enter(pid string, e *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pids[pid] = e
}

// leave forgets an actor.
func (l *liveSessions) leave(pid string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.pids, pid)
}

// of returns the entry of an actor, or nil.
func (l *liveSessions) of(pid *actor.PID) *entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pids[pid.Id]
}

// actors is how many actors have an entry.
func (l *liveSessions) actors() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pids)
}

func (l *liveSessions) get(id messages.SessionID) (*entry, bool) {
	value, ok := l.entries.Load(id)
	if !ok {
		return nil, false
	}
	return value.(*entry), true //nolint:forcetypeassert // Only add stores.
}

func (l *liveSessions) add(e *entry) {
	l.entries.Store(e.id, e)
	l.count++
}

// remove takes out an entry, unless a newer one has its place.
func (l *liveSessions) remove(e *entry) {
	if l.entries.CompareAndDelete(e.id, e) {
		l.count--
	}
}

func (r *registryActor) started(c actor.Context) { r.schedule(c) }

func (r *registryActor) receive(c actor.Context, msg any) {
	switch m := msg.(type) {
	case activate:
		r.onActivate(c, m)
	case sessionLeft:
		r.live.remove(m.entry)
		c.Poison(m.entry.pid) // Behind what is in its mailbox, so that all of it is answered.
		r.onDeparture(c, m.entry)
	case stays:
		r.onDeparture(c, m.entry)
	case sweep:
		r.onSweep(c)
		r.schedule(c)
	case drainAll:
		r.draining = m.done
		r.room.refuse(ErrStopping)
		r.live.entries.Range(func(_, value any) bool {
			c.Send(value.(*entry).pid, session.Drain{Force: true}) //nolint:forcetypeassert // Only entries are stored.
			return true
		})
		r.checkDrained()
	}
}

func (r *registryActor) onActivate(c actor.Context, m activate) {
	if e, ok := r.live.get(m.id); ok {
		if m.create != nil {
			m.reply.fail(fmt.Errorf("session %q: %w", m.id, persistence.ErrExists))
			return
		}
		m.reply.put(e, nil)
		return
	}
	switch {
	case r.draining != nil:
		m.reply.fail(ErrStopping)
		return
	case r.live.count >= r.runtime.options.MaxLiveSessions:
		r.makeRoom(c, m)
		return
	}
	r.spawn(c, m)
}

// spawn starts the actor of a session.
func (r *registryActor) spawn(c actor.Context, m activate) {
	e := newEntry(r.runtime, m.id, m.create)
	r.generation++
	name := "session-" + string(m.id) + "-" + strconv.FormatUint(r.generation, 10)
	full := c.Self().Id + "/" + name // As the engine names children.
	r.live.enter(full, e)
	pid, err := c.SpawnNamed(r.runtime.strandOf(m.id).session, name)
	if err != nil {
		r.live.leave(full)
		m.reply.fail(fmt.Errorf("starting session %q: %w", m.id, err))
		return
	}
	e.pid = pid
	r.live.enter(pid.Id, e) // The key is the engine's text from now on, and there is one.
	r.live.add(e)
	m.reply.put(e, nil)
}

// childEnded drops a session whose actor is gone, for whatever reason.
func (r *registryActor) childEnded(c actor.Context, child *actor.PID) {
	if e := r.live.of(child); e != nil {
		r.live.leave(child.Id)
		r.live.remove(e)
		e.left(nil)
		r.onDeparture(c, e)
	}
	r.checkDrained()
}

// onSweep looks for sessions that are idle long enough to be folded or to leave memory, and for those that hold back an old segment.
func (r *registryActor) onSweep(c actor.Context) {
	r.runtime.workers.trim()
	now := r.runtime.now()
	options := &r.runtime.options
	r.live.entries.Range(func(_, value any) bool {
		e := value.(*entry) //nolint:forcetypeassert // Only entries are stored.
		idle := e.idleFor(now)
		switch {
		case idle >= options.IdleTimeout:
			c.Send(e.pid, session.Drain{})
		case idle >= options.FoldDelay && !e.folding.Load():
			e.folding.Store(true)
			r.fold(c, e.id)
			c.Send(e.pid, rest{})
		}
		return true
	})
	for _, u := range r.runtime.store.Unfolded() {
		if u.Holds {
			c.Send(r.runtime.snapshotFor(u.Session), foldRequest{id: u.Session, held: true})
		}
	}
}

// fold has an idle session folded if that is cheap, or if its journal has grown to a good part of its snapshot: so
// the bytes that are written stay linear in what was said.
func (r *registryActor) fold(c actor.Context, id messages.SessionID) {
	u := r.runtime.store.UnfoldedOf(id)
	if u.JournalBytes == 0 {
		return
	}
	if u.SnapshotBytes <= smallSnapshotBytes || u.JournalBytes*2 >= u.SnapshotBytes {
		c.Send(r.runtime.snapshotFor(id), foldRequest{id: id})
	}
}

func (r *registryActor) schedule(c actor.Context) {
	root, self := c.ActorSystem().Root, c.Self()
	r.timer = time.AfterFunc(r.runtime.options.sweepInterval(), func() { root.Send(self, sweep{}) })
}

func (r *registryActor) checkDrained() {
	if r.draining != nil && r.live.actors() == 0 {
		close(r.draining)
		r.draining = make(chan struct{}) // Later activations are still refused.
	}
}

func (r *registryActor) stopping(actor.Context) {
	if r.timer != nil {
		r.timer.Stop()
	}
	r.room.refuse(ErrClosing)
}

func (r *registryActor) refuse(msg any, err error) {
	if m, ok := msg.(activate); ok {
		m.reply.fail(err)
	}
}
