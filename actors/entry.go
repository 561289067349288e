package actors

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"agentd/messages"
)

// entry is one live session as the runtime's face sees it. The registry makes it; it outlives the incarnations
// of the session's actor, and ends with the actor.
type entry struct {
	// Set at construction.
	id      messages.SessionID
	create  *creation // non-nil for a session that is being created
	runtime *Runtime
	pid     *actor.PID // set by the registry before anybody sees the entry

	// ready is closed when the session is loaded, or could not be: then fault says why.
	ready     chan struct{}
	readyOnce sync.Once
	fault     error
	agentID   messages.AgentID // written before ready is closed

	// gone is closed when the actor has left. Whoever waits for an answer stops waiting then.
	gone     chan struct{}
	goneOnce sync.Once

	// life is closed when the present incarnation of the actor ends. At the same moment the next one gets its own, although it has
	// not begun: what is sent to it from then on waits for it in the mailbox.
	life atomic.Pointer[chan struct{}]
	// begun says that there was an incarnation. It is owned by the actor.
	begun bool

	hub hub
	// turn is the handle of the active turn, or nil.
	turn atomic.Pointer[TurnHandle]
	// idleSince is when the session became idle, in Unix nanoseconds, or 0 while it is busy.
	idleSince atomic.Int64
	// leaving says that the registry asked the session to leave, to make room. The registry owns it.
	leaving bool
	// folding says that a fold was asked for since the session was last busy.
	folding atomic.Bool
}

// creation is what a new session starts with, and who waits for it.
type creation struct {
	created messages.Created
	reply   *call[messages.Head]
}

func newEntry(rt *Runtime, id messages.SessionID, create *creation) *entry {
	e := &entry{id: id, runtime: rt, create: create, ready: make(chan struct{}), gone: make(chan struct{})}
	life := make(chan struct{})
	e.life.Store(&life)
	return e
}

// send puts a message into the mailbox of the session's actor. It never blocks.
func (e *entry) send(msg any) { e.runtime.system.Root.Send(e.pid, msg) }

// loaded says that the session can be used.
func (e *entry) loaded(agent messages.AgentID) {
	e.readyOnce.Do(func() {
		e.agentID = agent
		close(e.ready)
	})
}

// failed says that the session cannot be used.
func (e *entry) failed(err error) {
	e.readyOnce.Do(func() {
		e.fault = err
		close(e.ready)
	})
}

// left ends the entry: the actor has gone for good.
func (e *entry) left(err error) {
	e.goneOnce.Do(func() {
		e.failed(errors.Join(ErrClosing, err))
		e.loseTurn("the session's actor has ended", err)
		if e.create != nil {
			e.create.reply.fail(errors.Join(ErrClosing, err))
		}
		close(e.gone)
		close(*e.life.Load()) // No incarnation comes any more: this one stays closed, for those who hold the entry still.
	})
}

// departed waits until the actor has left for good, or the context ends.
func (e *entry) departed(ctx context.Context) {
	select {
	case <-e.gone:
	case <-ctx.Done():
	}
}

// busy and idle say whether the session may leave memory.
func (e *entry) busy() { e.idleSince.Store(0) }

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
		h.settle(lost, err)
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
