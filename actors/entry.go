package actors

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"agentd/messages"
)

// entry is one live session as the runtime's face sees it. The registry makes it; it outlives the incarnations
// of the session's actor, and ends with the actor. An idle session is little more than this, so that it holds nothing that was needed once.
type entry struct {
	// Set at construction.
	id      messages.SessionID
	runtime *Runtime
	pid     *actor.PID // set by the registry before anybody sees the entry

	// create is what a new session starts with, until that is answered. It is owned by the actor.
	create *creation
	// loading is nil once the session is loaded. What could not be loaded keeps it.
	loading atomic.Pointer[loading]
	agentID messages.AgentID // written before the session is loaded

	// life is closed when the present incarnation of the actor ends. At the same moment the next one gets its own, although it has
	// not begun: what is sent to it from then on waits for it in the mailbox. Whoever waits for an answer stops waiting then.
	life atomic.Pointer[chan struct{}]
	// gone says that the actor has left for good. It is set before the last life is closed.
	gone atomic.Bool
	// begun says that there was an incarnation. It is owned by the actor.
	begun bool

	hub hub
	// turn is the handle of the active turn, or nil.
	turn atomic.Pointer[TurnHandle]
	// idleSince is when the session became idle, in Unix nanoseconds, or 0 while it is busy.
	idleSince atomic.Int64
	// leaving says that the registry asked the session to leave, to make room. The registry owns it.
	leaving bool
	// folding says that a fold was asked for since the session was last busy, and that it rest.
	folding atomic.Bool
}

// loading is what those wait for who come before the session is loaded.
type loading struct {
	// done is closed when it is loaded, or could not be: then fault says why.
	done  chan struct{}
	fault error
}

// creation is what a new session starts with, and who waits for it. It is always answered: by the session, or when the entry ends.
type creation struct {
	created messages.Created
	reply   *call[messages.Head]
}

func newEntry(rt *Runtime, id messages.SessionID, create *creation) *entry {
	e := &entry{id: id, runtime: rt, create: create}
	e.loading.Store(&loading{done: make(chan struct{})})
	life := make(chan struct{})
	e.life.Store(&life)
	return e
}

// send puts a message into the mailbox of the session's actor. It never blocks.
func (e *entry) send(msg any) { e.runtime.system.Root.Send(e.pid, msg) }

// loaded says that the session can be used.
func (e *entry) loaded(agent messages.AgentID) {
	if l := e.loading.Load(); l != nil && l.fault == nil {
		e.agentID = agent
		e.loading.Store(nil)
		close(l.done)
	}
}

// failed says that the session cannot be used.
func (e *entry) failed(err error) {
	if l := e.loading.Load(); l != nil && l.fault == nil {
		l.fault = err
		close(l.done)
	}
}

// usable waits until the session is loaded. The error says why it cannot be used.
func (e *entry) usable(ctx context.Context) error {
	l := e.loading.Load()
	if l == nil {
		return nil
	}
	select {
	case <-l.done:
		return l.fault
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// left ends the entry: the actor has gone for good.
func (e *entry) left(err error) {
	if e.gone.Load() {
		return
	}
	e.failed(errors.Join(ErrClosing, err))
	e.loseTurn("the session's actor has ended", err)
	if e.create != nil {
		e.create.reply.fail(errors.Join(ErrClosing, err))
	}
	e.gone.Store(true)
	close(*e.life.Load()) // No incarnation comes any more: this one stays closed, for those who hold the entry still.
}

// departed waits until the actor has left for good, or the context ends: then the error is its cause.
func (e *entry) departed(ctx context.Context) error {
	for {
		life := e.lifetime()
		if e.gone.Load() {
			return nil
		}
		select {
		case <-life:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// busy and idle say whether the session may leave memory.
func (e *entry) busy() {
	if e.idleSince.Load() != 0 {
		e.idleSince.Store(0)
	}
}

func (e *entry) idle() {
	if e.idleSince.Load() == 0 {
		e.folding.Store(false)
		e.idleSince.Store(e.runtime.now().UnixNano())
	}
}

// idleFor is how long the session has been idle.
func (e *entry) idleFor(now time.Time) time.Duration {
	since := e.idleSince.Load()
	if since == 0 {
		return 0
	}
	return time.Duration(now.UnixNano() - since)
}

// loseTurn settles the handle of a turn whose actor has ended. The next writer records it as interrupted.
func (e *entry) loseTurn(why string, err error) {
	if h := e.turn.Swap(nil); h != nil {
		lost := h.Turn()
		lost.Status, lost.Error = messages.TurnInterrupted, "interrupted: "+why
		h.settle(&lost, err)
	}
}

// begin starts an incarnation and reports whether there was one before.
func (e *entry) begin() (again bool) {
	again, e.begun = e.begun, true
	return again
}

// end ends an incarnation: whoever waits for its answer waits no longer.
func (e *entry) end() {
	next := make(chan struct{})
	close(*e.life.Swap(&next))
}

// lifetime is closed when the present incarnation, or the actor, has ended. It is asked for before a message is sent.
func (e *entry) lifetime() <-chan struct{} { return *e.life.Load() }
