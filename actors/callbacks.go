package actors

import (
	"context"
	"errors"

	"agentd/messages"
)

// Callbacks are told what happens in one turn, one call at a time, in order, on a goroutine of the turn. Any may be nil. One that panics
// is logged and hurts nobody else; one that blocks holds up only the others of the same turn.
type Callbacks struct {
	// OnItem is told of a new durable item.
	OnItem func(item messages.Item)
	// OnUpdate is told of a durable change to an item, and of drafts.
	OnUpdate func(item messages.Item)
	// OnStatus is told when the turn runs, is being cancelled, and has ended.
	OnStatus func(turn messages.Turn)
	// OnComplete is told last, of a turn that completed. The session is idle then, and the next turn may be started.
	OnComplete func(turn messages.Turn)
	// OnError is told last, of a turn that failed, was cancelled or interrupted.
	OnError func(turn messages.Turn, err error)
}

// listen starts the goroutine that calls the callbacks of a turn that is about to run.
func (s *sessionActor) listen(h *TurnHandle, callbacks *Callbacks) {
	sub := newSubscription(s.entry.id, &s.entry.hub, SubscribeOptions{})
	sub.last = s.state.Head().LastSeq
	s.entry.hub.add(sub)
	rt := s.runtime
	started := h.Turn()
	rt.spawn("a callback", s.entry.id, func() {
		l := listener{runtime: rt, handle: h, callbacks: callbacks, told: map[messages.ItemID]struct{}{}}
		l.run(sub, started)
	})
}

// listener calls the callbacks of one turn.
type listener struct {
	runtime   *Runtime
	handle    *TurnHandle
	callbacks *Callbacks
	// told are the items that OnItem was told of. After a resync they come again in their present form.
	told map[messages.ItemID]struct{}
	// late says that the turn had ended when the present subscription began.
	late bool
	// last is the status that was told last.
	last messages.TurnStatus
}

func (l *listener) run(sub *Subscription, started messages.Turn) {
	l.status(started) // Not the present state: the turn may have ended before this goroutine began.
	for sub != nil {
		sub = l.read(sub)
	}
	<-l.handle.done
	if turn := l.handle.Turn(); l.last != turn.Status {
		l.status(turn)
	}
	l.end()
}

// read tells what a subscription tells. If the callbacks fell behind it returns the next one.
func (l *listener) read(sub *Subscription) *Subscription {
	defer sub.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if l.late {
		cancel() // What is there is told, and nothing more is waited for.
	}
	for {
		event, err := sub.Next(ctx)
		if err != nil {
			return l.again(err)
		}
		l.tell(event)
		if event.Kind == messages.EventTurnEnded && event.Turn.ID == l.handle.id {
			return nil
		}
	}
}

// again subscribes anew after the callbacks fell behind. If the turn has ended meanwhile, everything about it is there already.
func (l *listener) again(err error) *Subscription {
	var resync *ResyncError
	if !errors.As(err, &resync) {
		return nil
	}
	l.late = !l.handle.Running()
	sub, err := l.runtime.Subscribe(context.Background(), l.handle.session, SubscribeOptions{After: resync.After})
	if err != nil {
		return nil // The session is gone: the handle tells.
	}
	return sub
}

func (l *listener) tell(event messages.Event) {
	switch event.Kind {
	case messages.EventItem:
		if _, again := l.told[event.Item.ID]; again {
			l.item(l.callbacks.OnUpdate, event)
			return
		}
		l.told[event.Item.ID] = struct{}{}
		l.item(l.callbacks.OnItem, event)
	case messages.EventItemUpdated, messages.EventDraft:
		l.item(l.callbacks.OnUpdate, event)
	case messages.EventTurnStarted, messages.EventTurnCancelling, messages.EventTurnEnded:
		if event.Turn.ID == l.handle.id {
			l.status(*event.Turn)
		}
	case messages.EventData, messages.EventDeleted:
	}
}

func (l *listener) item(f func(messages.Item), event messages.Event) {
	if f != nil && event.Item.TurnID == l.handle.id {
		l.runtime.isolate("item callback", func() { f(*event.Item) })
	}
}

func (l *listener) status(turn messages.Turn) {
	l.last = turn.Status
	if f := l.callbacks.OnStatus; f != nil {
		l.runtime.isolate("status callback", func() { f(turn) })
	}
}

func (l *listener) end() {
	turn, err := l.handle.Turn(), l.handle.Err()
	switch {
	case err == nil && l.callbacks.OnComplete != nil:
		l.runtime.isolate("completion callback", func() { l.callbacks.OnComplete(turn) })
	case err != nil && l.callbacks.OnError != nil:
		l.runtime.isolate("error callback", func() { l.callbacks.OnError(turn, err) })
	}
}
