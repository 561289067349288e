package actors

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/asynkron/protoactor-go/actor"
)

// errPanicked is what a caller gets whose request made an actor panic. The panic's own text stays
// in the log of the owner, since it may hold anything.
var errPanicked = errors.New("the actor panicked while handling the request")

// behaviour is what an actor of this package is made of. Every actor is built by [guard], which
// keeps the engine's traps away from it: no method is called by two goroutines at once.
type behaviour interface {
	// started is called for each incarnation.
	started(c actor.Context)
	// receive handles one message. It does not block, the two persistence actors aside.
	receive(c actor.Context, msg any)
	// stopping is called once for each incarnation, before a restart too. It releases what the incarnation holds.
	stopping(c actor.Context)
	// refuse answers a message that comes too late to be handled.
	refuse(msg any, err error)
}

// watcher is a behaviour that wants to know when a child has ended.
type watcher interface {
	childEnded(c actor.Context, child *actor.PID)
}

// finisher is a behaviour that has something to do when the actor is gone for good.
type finisher interface{ stopped(c actor.Context) }

// guarded stands between the engine and a behaviour. It is the only actor.Actor of this package.
//
// A panic in Stopping or Stopped would leave the engine's actor half alive, so it does not leave here. A message that
// makes a handler panic, or that comes while stopping, is answered before it is lost.
type guarded struct {
	inner behaviour
	*guardNotes
	closing bool
}

// guardNotes are what all actors of one description share.
type guardNotes struct {
	name   string
	logger *slog.Logger
}

// guard returns the props of an actor. The producer makes one behaviour for each
// incarnation and has no effects.
func guard(name string, logger *slog.Logger, produce func() behaviour, opts ...actor.PropsOption) *actor.Props {
	notes := &guardNotes{name: name, logger: logger}
	return actor.PropsFromProducer(func() actor.Actor {
		return &guarded{inner: produce(), guardNotes: notes}
	}, append(opts, actor.WithMailbox(newMailbox))...)
}

// Receive implements actor.Actor.
func (g *guarded) Receive(c actor.Context) {
	switch msg := c.Message().(type) {
	case *actor.Started:
		g.inner.started(c)
	case *actor.Stopping, *actor.Restarting:
		g.closing = true
		g.quietly("stopping", func() { g.inner.stopping(c) })
	case *actor.Stopped:
		if f, ok := g.inner.(finisher); ok {
			g.quietly("stopped", func() { f.stopped(c) })
		}
	case *actor.Terminated:
		if w, ok := g.inner.(watcher); ok {
			w.childEnded(c, msg.Who)
		}
	case actor.AutoReceiveMessage, actor.SystemMessage:
	default:
		g.handle(c, msg)
	}
}

func (g *guarded) handle(c actor.Context, msg any) {
	if g.closing {
		g.inner.refuse(msg, ErrClosing)
		return
	}
	defer func() {
		if reason := recover(); reason != nil {
			g.logger.Error("actor panicked", slog.String("actor", g.name), slog.String("stack", string(debug.Stack())))
			g.quietly("refusing", func() { g.inner.refuse(msg, errPanicked) })
			panic(fmt.Sprintf("%s: panic in a handler", g.name)) // Supervision takes over; the reason may hold anything.
		}
	}()
	g.inner.receive(c, msg)
}

// quietly keeps a panic from leaving the engine's life-cycle handlers.
func (g *guarded) quietly(phase string, f func()) {
	defer func() {
		if reason := recover(); reason != nil {
			g.logger.Error("actor panicked", slog.String("actor", g.name), slog.String("phase", phase),
				slog.String("stack", string(debug.Stack())))
		}
	}()
	f()
}
