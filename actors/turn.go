package actors

import (
	"cmp"
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

// agentLeft is how an agent fails that neither returned nor panicked. A test's FailNow does that.
const agentLeft = "the agent ended its goroutine with runtime.Goexit"

type (
	// about says which turn a message to the turn's actor is about. The turn's parts themselves are what begins one.
	about struct{ turn *turnParts }

	// endTurn tells the turn's actor that a turn has ended.
	endTurn struct{ about }
	// stopTurn makes the turn's actor cancel the context and run the hook.
	stopTurn struct {
		about
		reason string
	}
	// agentReturned tells that the agent's goroutine has ended, and why it failed, if it did. What an error says is asked on that goroutine: an error is
	// the agent's code, too, and may wait for what this actor holds up.
	agentReturned struct {
		about
		failure string
	}
	// hookReturned tells that the cancel hook has ended, and why it failed, if it did.
	hookReturned struct {
		about
		failure string
	}
	// graceOver tells that the time in which a stopped agent should return is over.
	graceOver struct{ about }
)

func (a about) subject() *turnParts { return a.turn }

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

// textOf is what an error says that may be anything, or nothing for nil. It may block, or panic.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return cmp.Or(err.Error(), "failed without saying why")
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

// hookFailure runs a hook, and says why it failed, or nothing. Its error may panic as well as the hook.
func hookFailure(hook func() error) (failure string) {
	err := callHook(func() error {
		failure = textOf(hook())
		return nil
	})
	return cmp.Or(failure, textOf(err))
}

// turnActor is the provider child: it owns a turn's context, its cancel hook, and the goroutine that runs the agent. Its
// parent, the session, gives it one turn after another, tells it of the ends that their agents do not know of, and stops it when no other comes for a while.
type turnActor struct {
	// Set at construction.
	runtime *Runtime

	// turn is the one that it drives, nil between two turns, or until the next one is there the last one if that was ended by its agent.
	turn *turnParts
}

// drive is how far the turn's actor, which owns it, has come with a turn.
type drive struct {
	returned bool
	// halting says that the turn was told to stop.
	halting     bool
	hooked      bool
	hookFailure string
	told        bool
	timer       *time.Timer
}

func (t *turnActor) started(actor.Context) {}

// receive handles one message. What is about another turn than the present one comes too late: that one has ended, and nobody is there to be told.
func (t *turnActor) receive(c actor.Context, msg any) {
	if m, ok := msg.(interface{ subject() *turnParts }); ok && m.subject() != t.turn {
		return
	}
	switch m := msg.(type) {
	case *turnParts:
		t.begin(c, m)
	case endTurn:
		t.end()
	case stopTurn:
		t.stop(c, m.reason)
	case agentReturned:
		t.onReturned(c, m.failure)
	case hookReturned:
		t.turn.drive.hooked, t.turn.drive.hookFailure = true, m.failure
	case graceOver:
		t.tell(c, true)
	}
	if t.turn != nil && t.turn.drive.halted() {
		t.tell(c, false)
	}
}

// halted reports whether a turn that was told to stop has.
func (d *drive) halted() bool { return d.halting && d.returned && d.hooked }

func (t *turnActor) begin(c actor.Context, turn *turnParts) {
	t.turn, turn.owner = turn, c.Self()
	turn.job = job{what: "the agent", session: turn.context.Session.Head.ID, do: agentRun{turn}}
	t.runtime.workers.start(&turn.job)
}

// agentRun is the agent's goroutine.
type agentRun struct{ turn *turnParts }

func (a agentRun) run() {
	turn, failure := a.turn, agentLeft
	defer func() {
		if !turn.controller.over() { // Otherwise the turn's end is durable, and nobody is there to be told.
			turn.controller.entry.runtime.system.Root.Send(turn.owner, agentReturned{about{turn}, failure})
		}
	}()
	failure = turn.runAgent()
}

// runAgent lets the agent do its work, and says why it failed, or nothing. A panic is such a failure.
func (p *turnParts) runAgent() (failure string) {
	defer func() {
		if reason := recover(); reason != nil {
			p.run.logger.Error("agent panicked", slog.String("turn", string(p.run.id)), slog.String("stack", string(debug.Stack())))
			failure = fmt.Sprintf("the agent panicked: %v", reason)
		}
	}()
	return textOf(p.agent.Run(p.run.ctx, &p.context))
}

// onReturned ends a turn the way its agent returned, unless it was told to stop. If the agent ended it before, this comes too late and does nothing.
func (t *turnActor) onReturned(c actor.Context, failure string) {
	turn := t.turn
	turn.drive.returned = true
	switch {
	case turn.drive.halting || turn.controller.over():
	case failure != "":
		c.Send(c.Parent(), session.Fail{Turn: turn.run.id, Error: failure})
	default:
		c.Send(c.Parent(), session.Finish{Turn: turn.run.id})
	}
}

func (t *turnActor) stop(c actor.Context, reason string) {
	turn := t.turn
	if turn.drive.halting {
		return
	}
	turn.drive.halting = true
	turn.run.cancel(fmt.Errorf("%w: %s", ErrCancelled, reason))
	root, self := c.ActorSystem().Root, c.Self()
	turn.drive.timer = time.AfterFunc(turn.grace, func() { root.Send(self, graceOver{about{turn}}) })
	hook := turn.run.takeHook()
	if hook == nil {
		turn.drive.hooked = true
		return
	}
	t.runtime.spawn("the cancel hook", turn.context.Session.Head.ID, func() { root.Send(self, hookReturned{about{turn}, hookFailure(hook)}) })
}

// tell reports, once, that the turn has stopped.
func (t *turnActor) tell(c actor.Context, late bool) {
	d := &t.turn.drive
	if d.told || !d.halting {
		return
	}
	d.told = true
	stopped := session.TurnStopped{Turn: t.turn.run.id, Abandoned: late && !d.returned}
	switch {
	case d.hookFailure != "":
		stopped.HookError = d.hookFailure
	case !d.hooked:
		stopped.HookError = fmt.Sprintf("it did not return within %v", t.turn.grace)
	}
	c.Send(c.Parent(), stopped)
}

// end ends the context: the turn is over, or its session's actor restarts.
func (t *turnActor) end() {
	if t.turn == nil {
		return
	}
	t.turn.run.cancel(errTurnOver)
	if t.turn.drive.timer != nil {
		t.turn.drive.timer.Stop()
	}
	t.turn = nil
}

func (t *turnActor) stopping(actor.Context) { t.end() }

func (t *turnActor) refuse(any, error) {}
