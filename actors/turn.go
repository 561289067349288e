package actors

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"agentd/actors/internal/session"
	"agentd/messages"
)

// The causes with which a turn's context ends.
var (
	// ErrCancelled is the cause of the context of a turn that is being stopped.
	ErrCancelled = errors.New("the turn is cancelled")
	// errTurnOver is the cause after the turn has ended.
	errTurnOver = errors.New("the turn is over")
)

type (
	// stopTurn makes the turn's actor cancel the context and run the hook.
	stopTurn struct{ reason string }
	// agentReturned tells that the agent's goroutine has ended.
	agentReturned struct{ err error }
	// hookReturned tells that the cancel hook has ended.
	hookReturned struct{ err error }
	// graceOver tells that the time in which a stopped agent should return is over.
	graceOver struct{}
)

// turnRun is what the turn's actor and the agent's goroutine share.
type turnRun struct {
	// Set at construction.
	id     messages.TurnID
	ctx    context.Context //nolint:containedctx // The turn owns its context; it is made and ended here.
	cancel context.CancelCauseFunc
	logger *slog.Logger

	// mu guards the hook.
	mu       sync.Mutex
	hook     func() error
	hooked   bool
	stopping bool
}

// setHook registers the cancel hook; the last one counts. If the turn is being stopped, and no hook has run, it runs at once.
func (r *turnRun) setHook(hook func() error) error {
	r.mu.Lock()
	if !r.stopping {
		r.hook = hook
		r.mu.Unlock()
		return nil
	}
	late := !r.hooked
	r.hooked = true
	r.mu.Unlock()
	if !late || hook == nil {
		return nil
	}
	return callHook(hook)
}

// takeHook marks the turn as stopping and hands out the hook, once.
func (r *turnRun) takeHook() func() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopping = true
	if r.hook == nil || r.hooked {
		return nil
	}
	r.hooked = true
	return r.hook
}

// callHook runs a hook and makes an error of a panic.
func callHook(hook func() error) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v", reason)
		}
	}()
	return hook()
}

// turnActor is the provider child: it owns the turn's context, its cancel hook, and the goroutine that runs the agent. Its
// parent, the session, stops it after the turn has ended.
type turnActor struct {
	// Set at construction.
	runtime *Runtime
	run     *turnRun
	agent   Agent
	context *TurnContext
	grace   time.Duration

	// Owned by the actor.
	returned bool
	// halting says that the turn was told to stop.
	halting bool
	hooked  bool
	hookErr error
	told    bool
	timer   *time.Timer
}

func (t *turnActor) started(c actor.Context) {
	root, self := c.ActorSystem().Root, c.Self()
	t.runtime.spawn("the agent", t.context.Session.Head.ID, func() {
		if err := t.runAgent(); !t.context.Turn.over() { // Otherwise the turn's end is durable, and nobody is there to be told.
			root.Send(self, agentReturned{err: err})
		}
	})
}

// runAgent is the agent's goroutine. A panic becomes the turn's error.
func (t *turnActor) runAgent() (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			t.run.logger.Error("agent panicked", slog.String("turn", string(t.run.id)), slog.String("stack", string(debug.Stack())))
			err = fmt.Errorf("the agent panicked: %v", reason)
		}
	}()
	return t.agent.Run(t.run.ctx, t.context)
}

func (t *turnActor) receive(c actor.Context, msg any) {
	switch m := msg.(type) {
	case agentReturned:
		t.returned = true
		if !t.halting {
			t.concede(c, m.err)
		}
	case stopTurn:
		t.stop(c, m.reason)
	case hookReturned:
		t.hooked, t.hookErr = true, m.err
	case graceOver:
		t.tell(c, true)
	}
	if t.halting && t.returned && t.hooked {
		t.tell(c, false)
	}
}

// concede ends the turn the way its agent returned. If the agent ended it before, this comes too late and does nothing.
func (t *turnActor) concede(c actor.Context, err error) {
	if t.context.Turn.over() {
		return
	}
	if err != nil {
		c.Send(c.Parent(), session.Fail{Turn: t.run.id, Error: err.Error()})
		return
	}
	c.Send(c.Parent(), session.Finish{Turn: t.run.id})
}

func (t *turnActor) stop(c actor.Context, reason string) {
	if t.halting {
		return
	}
	t.halting = true
	t.run.cancel(fmt.Errorf("%w: %s", ErrCancelled, reason))
	root, self := c.ActorSystem().Root, c.Self()
	t.timer = time.AfterFunc(t.grace, func() { root.Send(self, graceOver{}) })
	hook := t.run.takeHook()
	if hook == nil {
		t.hooked = true
		return
	}
	t.runtime.spawn("the cancel hook", t.context.Session.Head.ID, func() { root.Send(self, hookReturned{err: callHook(hook)}) })
}

// tell reports, once, that the turn has stopped.
func (t *turnActor) tell(c actor.Context, late bool) {
	if t.told || !t.halting {
		return
	}
	t.told = true
	stopped := session.TurnStopped{Turn: t.run.id, Abandoned: late && !t.returned}
	switch {
	case t.hookErr != nil:
		stopped.HookError = t.hookErr.Error()
	case !t.hooked:
		stopped.HookError = fmt.Sprintf("it did not return within %v", t.grace)
	}
	c.Send(c.Parent(), stopped)
}

// stopping ends the context: the turn is over, or its session's actor restarts.
func (t *turnActor) stopping(actor.Context) {
	t.run.cancel(errTurnOver)
	if t.timer != nil {
		t.timer.Stop()
	}
}

func (t *turnActor) refuse(any, error) {}
