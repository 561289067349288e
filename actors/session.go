package actors

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/cenkalti/backoff/v4"

	"agentd/actors/internal/session"
	"agentd/messages"
	"agentd/persistence"
)

type (
	// promptCall is the ticket of a prompt, and what its turn will need.
	promptCall struct {
		call[*TurnHandle]
		agent     Agent
		grace     time.Duration
		callbacks *Callbacks
	}

	// subscribeRequest asks for a subscription.
	subscribeRequest struct {
		opts  SubscribeOptions
		reply *call[*Subscription]
	}

	// viewRequest asks for the session as it is stored.
	viewRequest struct{ reply *call[SessionView] }

	// turnLost is the marker behind the last messages of a turn's actor that has ended.
	turnLost struct{ child *actor.PID }

	// rest makes a session that has been idle for a while give back what it keeps for its next turn.
	rest struct{}

	// recommit repeats a commit whose outcome was in doubt.
	recommit struct{ request *commitRequest }
)

// settle implements ticket: a prompt is answered with a handle elsewhere, so that this is always an error.
func (p *promptCall) settle(_ any, err error) { p.fail(err) }

// sessionActor is the shell around one session's rules: it delivers messages to the state, one at a time, and performs the
// effects. It owns the state and the turn's child, and never blocks.
type sessionActor struct {
	// Set at construction.
	runtime *Runtime

	// Owned by the actor.

	entry  *entry
	state  *session.State // nil until the session is loaded
	handle persistence.Handle
	// early holds what came before the session was loaded.
	early []any
	// turnChild drives turns, one after another. It is nil before the first one, and after a while without one.
	turnChild *actor.PID
	// turn is the one that turnChild drives, or nil.
	turn *turnParts
	// children is how many turnChild there have been.
	children int
	// leftWith is what everything is refused with when the session has left, nil before.
	leftWith error
	// retry paces ticks and commits that try again.
	retry *backoff.ExponentialBackOff
	timer *time.Timer
}

func (s *sessionActor) started(c actor.Context) {
	s.entry = s.runtime.live.of(c.Self())
	s.entry.busy()
	c.Send(s.runtime.snapshotFor(s.entry.id), openRequest{
		from: c.Self(), id: s.entry.id, create: s.entry.create != nil, again: s.entry.begin(),
	})
}

func (s *sessionActor) receive(c actor.Context, msg any) {
	switch m := msg.(type) {
	case opened:
		s.onOpened(c, m)
		s.account()
	case removed:
		s.onRemoved(c, m)
	default:
		s.deliver(c, msg)
	}
}

// deliver hands a message to the state, or keeps it until there is one.
func (s *sessionActor) deliver(c actor.Context, msg any) {
	switch {
	case s.leftWith != nil:
		s.refuse(msg, s.leftWith)
		return
	case s.state == nil:
		s.early = append(s.early, msg)
		return
	}
	switch m := msg.(type) {
	case session.Message:
		s.step(c, m)
	case committed:
		s.onCommitted(c, m.request)
	case turnLost:
		s.onTurnLost(c, m)
	case rest:
		s.rest(c)
	case recommit:
		c.Send(s.runtime.journal, m.request)
	case subscribeRequest:
		s.subscribe(m)
	case viewRequest:
		m.reply.put(SessionView{Head: s.state.Head(), Items: s.state.Items()}, nil)
	}
}

func (s *sessionActor) step(c actor.Context, msg session.Message) {
	if drain, ok := msg.(session.Drain); ok && !drain.Force && s.entry.hub.watched() {
		s.refuse(msg, ErrBusy) // Somebody listens: the session stays.
		return
	}
	s.state.Watch(s.entry.hub.watched())
	effects := s.state.Step(s.runtime.unix(), msg)
	s.account() // Before anybody is told: who hears that a turn has ended may find the session idle.
	s.perform(c, effects)
}

// onCommitted takes the answer of the journal, unless it is to an older incarnation.
func (s *sessionActor) onCommitted(c actor.Context, request *commitRequest) {
	outcome, epoch := request.outcome, request.append.Handle.Epoch
	s.runtime.requests.put(request)
	if epoch != s.handle.Epoch {
		return
	}
	if outcome.Err == nil {
		s.retry = nil
	}
	s.step(c, outcome)
}

// onOpened makes the state of what the store gave, and delivers what came early.
func (s *sessionActor) onOpened(c actor.Context, m opened) {
	if m.err != nil {
		s.entry.failed(m.err)
		if s.entry.create != nil {
			s.entry.create.reply.fail(m.err)
		}
		s.leave(c, m.err)
		return
	}
	s.handle = m.handle
	limits := session.Limits{Queue: s.runtime.options.QueueLimit}
	var effects []session.Effect
	if m.doc.Head.LastSeq == 0 {
		created := s.entry.create.created
		created.Epoch = m.handle.Epoch
		s.state, effects = session.Create(s.entry.id, created, s.entry.create.reply, s.runtime.unix(), limits)
		s.entry.loaded(created.AgentID)
	} else {
		s.state, effects = session.Restore(m.doc, m.handle.Epoch, s.runtime.unix(), limits)
		s.entry.loaded(m.doc.Head.AgentID)
	}
	s.perform(c, effects)
	early := s.early
	s.early = nil
	for _, msg := range early {
		s.deliver(c, msg)
	}
}

// perform does what the state asked for, in order, and forgets it: an idle session holds nothing that was answered.
func (s *sessionActor) perform(c actor.Context, effects []session.Effect) {
	defer clear(effects)
	for _, effect := range effects {
		switch e := effect.(type) {
		case *session.Commit:
			s.commit(c, e)
		case session.Reply:
			s.answer(e)
		case *session.StartTurn:
			s.startTurn(c, e)
		case session.AttachTurn:
			s.attachTurn(e)
		case session.StopTurn:
			s.stopTurn(c, e)
		case session.Settle:
			s.settle(c, e)
		case session.Publish:
			s.entry.hub.publish(e.Event)
		case session.Wake:
			s.wake(c, e.Retry)
		case session.Leave:
			s.onLeave(c, e)
		}
	}
}

// answer settles a ticket. The creation of the session is forgotten when it is answered.
func (s *sessionActor) answer(e session.Reply) {
	e.Ticket.(ticket).settle(e.Value, e.Err) //nolint:forcetypeassert // Every ticket is made in this package.
	if create := s.entry.create; create != nil && e.Ticket == session.Ticket(create.reply) {
		s.entry.create = nil
	}
}

// commit encodes the changes and hands them to the journal.
func (s *sessionActor) commit(c actor.Context, e *session.Commit) {
	request := s.runtime.requests.get()
	request.from, request.append = c.Self(), persistence.Append{Handle: s.handle, ID: e.ID, After: e.After}
	if err := request.encode(e); err != nil {
		request.outcome = session.Committed{ID: e.ID, Err: err}
		c.Send(c.Self(), committed{request: request})
		return
	}
	if !e.Repeat {
		c.Send(s.runtime.journal, request)
		return
	}
	root, self := c.ActorSystem().Root, c.Self()
	time.AfterFunc(s.pause(), func() { root.Send(self, recommit{request: request}) })
}

// pause is how long to wait before the next try of what failed.
func (s *sessionActor) pause() time.Duration {
	if s.retry == nil {
		s.retry = newPace()
	}
	return s.retry.NextBackOff()
}

func (s *sessionActor) wake(c actor.Context, retry bool) {
	pause := s.runtime.options.DraftInterval
	if retry {
		pause = s.pause()
	}
	root, self := c.ActorSystem().Root, c.Self()
	s.timer = time.AfterFunc(pause, func() { root.Send(self, session.Tick{}) })
}

func (s *sessionActor) startTurn(c actor.Context, e *session.StartTurn) {
	prompt, _ := e.Ticket.(*promptCall)
	h := newTurnHandle(s.runtime, s.entry.id, e.Turn)
	s.entry.turn.Store(h)
	if prompt != nil && prompt.callbacks != nil {
		s.listen(h, prompt.callbacks)
	}
	if e.Run && prompt != nil {
		s.runTurn(c, e, prompt)
	}
	if prompt != nil {
		prompt.put(h, nil)
	}
}

// runTurn gives a turn to the provider child, of which there is at most one. Its name is unique in this incarnation.
func (s *sessionActor) runTurn(c actor.Context, e *session.StartTurn, prompt *promptCall) {
	if s.turnChild == nil {
		s.children++
		pid, err := c.SpawnNamed(s.runtime.strandOf(s.entry.id).turn, "turn-"+strconv.Itoa(s.children))
		if err != nil {
			c.Send(c.Self(), session.Fail{Turn: e.Turn.ID, Error: fmt.Sprintf("starting the turn: %v", err)})
			return
		}
		s.turnChild = pid
	}
	s.turn = s.newTurn(e, prompt)
	c.Send(s.turnChild, s.turn)
}

// attachTurn answers a repeated prompt.
func (s *sessionActor) attachTurn(e session.AttachTurn) {
	prompt, ok := e.Ticket.(*promptCall)
	if !ok {
		return
	}
	h := s.entry.turn.Load()
	if h == nil || h.id != e.Turn.ID {
		h = newTurnHandle(s.runtime, s.entry.id, &messages.Turn{ID: e.Turn.ID, Status: messages.TurnRunning})
		if e.Turn.Status.Terminal() {
			h.settle(&e.Turn, e.Err)
		} else {
			s.entry.turn.Store(h) // The last process left it running: its ending is on its way.
		}
	}
	prompt.put(h, nil)
}

func (s *sessionActor) stopTurn(c actor.Context, e session.StopTurn) {
	if h := s.entry.turn.Load(); h != nil {
		h.cancelling()
	}
	if s.turn == nil || s.turnChild == nil {
		c.Send(c.Self(), session.TurnStopped{Turn: e.Turn})
		return
	}
	c.Send(s.turnChild, stopTurn{about{s.turn}, e.Reason})
}

// settle ends the handle after everything else about the turn is done.
func (s *sessionActor) settle(c actor.Context, e session.Settle) {
	if s.turn != nil && s.turnChild != nil && !e.Told {
		c.Send(s.turnChild, endTurn{about{s.turn}})
	}
	if h := s.entry.turn.Swap(nil); h != nil {
		h.settle(e.Turn, e.Err)
	}
	if s.turn != nil && s.turn.controller.asked.Load() {
		s.runtime.releaseApprovals(s.entry, e.Turn.ID)
	}
	s.turn = nil
}

// rest gives back what the next turn would need: the turns' actor that has nothing to do, and the memory of the state.
func (s *sessionActor) rest(c actor.Context) {
	if !s.state.Idle() {
		return // It is asked again when it has been idle anew.
	}
	if s.turnChild != nil {
		c.Stop(s.turnChild)
		s.turnChild = nil
	}
	s.state.Rest()
}

func (s *sessionActor) subscribe(m subscribeRequest) {
	head := s.state.Head()
	sub := newSubscription(s.entry.id, &s.entry.hub, m.opts)
	if m.opts.Live {
		sub.last = head.LastSeq
	} else {
		backlog, err := backlogOf(head, s.state.Items(), s.state.Drafts(), m.opts.After)
		if err != nil {
			m.reply.fail(err)
			return
		}
		sub.backlog = backlog
	}
	s.entry.hub.add(sub)
	m.reply.put(sub, nil)
	if m.reply.left.Load() {
		s.entry.hub.remove(sub) // Nobody would ever read or close it.
	}
}

// onLeave begins the end of the actor: a deleted session's files go first, an idle one is folded.
func (s *sessionActor) onLeave(c actor.Context, e session.Leave) {
	snapshots := s.runtime.snapshotFor(s.entry.id)
	switch {
	case e.Deleted:
		s.leftWith = ErrDeleted
		c.Send(snapshots, removeRequest{from: c.Self(), id: s.entry.id})
	case e.Err != nil:
		s.leave(c, e.Err)
	default:
		c.Send(snapshots, foldRequest{id: s.entry.id})
		s.leave(c, nil)
	}
}

func (s *sessionActor) onRemoved(c actor.Context, m removed) {
	if m.err != nil {
		// The tombstone is durable: the session is gone for everybody, and the files go at the next start.
		s.runtime.logger.Error("removing a deleted session's files", slog.String("session", string(s.entry.id)), slog.Any("error", m.err))
	}
	s.runtime.forget(s.entry.id)
	s.leave(c, ErrDeleted)
}

// leave tells the registry that this actor wants to go. From now on everything is refused, so that callers try anew.
func (s *sessionActor) leave(c actor.Context, err error) {
	s.leftWith = errors.Join(ErrClosing, err)
	early := s.early
	s.early = nil
	for _, msg := range early {
		s.refuse(msg, cmp.Or(err, ErrClosing))
	}
	s.entry.hub.finish(endOf(err))
	c.Send(c.Parent(), sessionLeft{entry: s.entry, err: err})
}

// endOf is how subscriptions end when the session leaves.
func endOf(err error) error {
	if err == nil || errors.Is(err, ErrDeleted) {
		return io.EOF
	}
	return err
}

// account keeps the entry's mark of idleness.
func (s *sessionActor) account() {
	if s.state == nil || !s.state.Idle() {
		s.entry.busy()
	} else {
		s.entry.idle()
	}
}

// stopping releases the timer. The turn's child ends its context by itself.
func (s *sessionActor) stopping(actor.Context) {
	if s.timer != nil {
		s.timer.Stop()
	}
	// The next incarnation starts from what is stored, so what was published meanwhile must be fetched again.
	s.entry.hub.resync()
	s.entry.loseTurn("the session's actor restarted", errPanicked)
	for _, msg := range s.early {
		s.refuse(msg, ErrClosing)
	}
	s.abandon()
	s.entry.end()
}

// abandon answers those who wait for what this incarnation had on its way. They may try again: a repeat is harmless.
func (s *sessionActor) abandon() {
	if s.state == nil {
		return
	}
	for _, effect := range s.state.Abandon(s.runtime.unix(), ErrClosing) {
		if reply, ok := effect.(session.Reply); ok {
			reply.Ticket.(ticket).settle(reply.Value, reply.Err) //nolint:forcetypeassert // Every ticket is made in this package.
		}
	}
}

// childEnded notices a turns' actor that is gone though nobody stopped it. Its last messages may still be in
// the mailbox, so that the marker goes behind them.
func (s *sessionActor) childEnded(c actor.Context, child *actor.PID) {
	if s.turnChild != nil && s.turnChild.Equal(child) {
		c.Send(c.Self(), turnLost{child: child})
	}
}

func (s *sessionActor) onTurnLost(c actor.Context, m turnLost) {
	if s.turnChild == nil || !s.turnChild.Equal(m.child) {
		return
	}
	s.turnChild = nil
	if s.turn == nil {
		return
	}
	id := s.turn.run.id
	s.step(c, session.Fail{Turn: id, Error: "the turn's actor has ended"})
	s.step(c, session.TurnStopped{Turn: id, Abandoned: true})
}

// stopped is the end for good.
func (s *sessionActor) stopped(actor.Context) { s.entry.left(s.leftWith) }

// refuse answers what comes too late.
func (s *sessionActor) refuse(msg any, err error) {
	switch m := msg.(type) {
	case session.Message:
		if t := ticketOf(m); t != nil {
			t.settle(nil, err)
		}
	case subscribeRequest:
		m.reply.fail(err)
	case viewRequest:
		m.reply.fail(err)
	}
}
