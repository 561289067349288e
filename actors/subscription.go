package actors

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"agentd/messages"
)

// DefaultSubscriberBuffer is how many events a subscriber may lag behind.
const DefaultSubscriberBuffer = 256

// SubscribeOptions tune a subscription. The zero value tells everything from the first item on.
type SubscribeOptions struct {
	// After is the sequence number of the last event that is known already. What changed since comes first: each
	// item once, in its present form, in the order of the last changes; then what happens from now on. 0 means everything.
	After uint64
	// Live skips what is stored: only what happens from now on is told. After is not looked at.
	Live bool
	// Buffer is how many events may wait. 0 means [DefaultSubscriberBuffer].
	Buffer int
}

// Subscription tells what happens in one session, in order. Durable events are never dropped: a subscriber
// that falls behind gets a [*ResyncError] after what it still has, and goes on with a new subscription. Drafts are
// dropped when a newer state of the same item waits. One goroutine reads; Close may be called by any.
type Subscription struct {
	session messages.SessionID
	hub     *hub

	mu sync.Mutex
	// backlog is what was stored when the subscription began; it is read first.
	backlog []messages.Event
	// ring holds what has happened since, at most limit events.
	ring  []messages.Event
	limit int
	// last is the number of the last durable event that was delivered.
	last uint64
	// end is why nothing more will come, once the ring is empty.
	end error
	// notify is pulled when there is something new.
	notify chan struct{}
}

func newSubscription(id messages.SessionID, h *hub, opts SubscribeOptions) *Subscription {
	limit := opts.Buffer
	if limit <= 0 {
		limit = DefaultSubscriberBuffer
	}
	return &Subscription{session: id, hub: h, last: opts.After, limit: limit, notify: make(chan struct{}, 1)}
}

// Next returns the next event. It blocks until there is one, the context ends, or the subscription is over: then the error
// is a [*ResyncError], or [io.EOF] when the session was deleted, the runtime stops, or Close was called.
func (s *Subscription) Next(ctx context.Context) (messages.Event, error) {
	for {
		event, ok, err := s.take()
		if ok || err != nil {
			return event, err
		}
		select {
		case <-s.notify:
		case <-ctx.Done():
			return messages.Event{}, context.Cause(ctx)
		}
	}
}

// Events ranges over the events until the subscription or the context ends. The last pair carries the error,
// but for [io.EOF].
func (s *Subscription) Events(ctx context.Context) iter.Seq2[messages.Event, error] {
	return func(yield func(messages.Event, error) bool) {
		for {
			event, err := s.Next(ctx)
			if errors.Is(err, io.EOF) || !yield(event, err) || err != nil {
				return
			}
		}
	}
}

// Close ends the subscription. What was not read is lost to it. It may be called more than once.
func (s *Subscription) Close() {
	s.hub.remove(s)
	s.finish(io.EOF)
}

func (s *Subscription) take() (messages.Event, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := &s.backlog
	if len(*from) == 0 {
		from = &s.ring
	}
	if len(*from) == 0 {
		return messages.Event{}, false, s.end
	}
	event := (*from)[0]
	(*from)[0] = messages.Event{}
	*from = (*from)[1:]
	if event.Seq > 0 {
		s.last = event.Seq
	}
	return event, true, nil
}

// offer puts an event into the ring and reports whether the subscription goes on. It never blocks.
func (s *Subscription) offer(event messages.Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != nil {
		return false
	}
	if event.Kind == messages.EventDraft {
		s.offerDraft(event)
		return true
	}
	if len(s.ring) >= s.limit {
		s.ring = slices.DeleteFunc(s.ring, func(e messages.Event) bool { return e.Kind == messages.EventDraft })
	}
	if len(s.ring) >= s.limit {
		s.end = &ResyncError{Session: s.session, After: s.lastInLine()}
		s.wake()
		return false
	}
	s.ring = append(s.ring, event)
	s.wake()
	return true
}

// offerDraft keeps one waiting draft for each item, the newest, and none when the ring is full.
func (s *Subscription) offerDraft(event messages.Event) {
	at := slices.IndexFunc(s.ring, func(e messages.Event) bool {
		return e.Kind == messages.EventDraft && e.Item.ID == event.Item.ID
	})
	if at >= 0 {
		s.ring = slices.Delete(s.ring, at, at+1)
	}
	if len(s.ring) < s.limit {
		s.ring = append(s.ring, event)
		s.wake()
	}
}

// lastInLine is the number of the last durable event that will be delivered.
func (s *Subscription) lastInLine() uint64 {
	for _, waiting := range [][]messages.Event{s.ring, s.backlog} {
		for _, e := range slices.Backward(waiting) {
			if e.Seq > 0 {
				return e.Seq
			}
		}
	}
	return s.last
}

// finish lets the subscription end when what waits has been read.
func (s *Subscription) finish(end error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == nil {
		s.end = end
		s.wake()
	}
}

// resync makes the subscriber come again, because events were lost to a restart of the session's actor.
func (s *Subscription) resync() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == nil {
		s.end = &ResyncError{Session: s.session, After: s.lastInLine()}
		s.wake()
	}
}

func (s *Subscription) wake() {
	select {
	case s.notify <- struct{}{}:
	default:
	}
}

// hub is the set of a session's subscriptions. It outlives an incarnation of the session's actor.
type hub struct {
	mu   sync.Mutex
	subs []*Subscription
	// count is how many subs there are, for those who only ask for that.
	count atomic.Int32
}

// change replaces the subscriptions.
func (h *hub) change(by func([]*Subscription) []*Subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.subs = by(h.subs)
	h.count.Store(int32(len(h.subs))) //nolint:gosec // Each of them has a caller.
}

func (h *hub) add(s *Subscription) {
	h.change(func(subs []*Subscription) []*Subscription { return append(subs, s) })
}

func (h *hub) remove(s *Subscription) {
	h.change(func(subs []*Subscription) []*Subscription {
		return slices.DeleteFunc(subs, func(other *Subscription) bool { return other == s })
	})
}

func (h *hub) watched() bool { return h.count.Load() > 0 }

func (h *hub) publish(event messages.Event) {
	h.change(func(subs []*Subscription) []*Subscription {
		return slices.DeleteFunc(subs, func(s *Subscription) bool { return !s.offer(event) })
	})
}

// finish ends all subscriptions.
func (h *hub) finish(end error) {
	for _, s := range h.drain() {
		s.finish(end)
	}
}

// resync tells all subscribers to come again.
func (h *hub) resync() {
	for _, s := range h.drain() {
		s.resync()
	}
}

func (h *hub) drain() (drained []*Subscription) {
	h.change(func(subs []*Subscription) []*Subscription {
		drained = subs
		return nil
	})
	return drained
}

// backlogOf lists what changed after a number: each item in its present form and the last turn's
// last change, in the order of the numbers; then the drafts that grow just now.
func backlogOf(head messages.Head, items []*messages.Item, drafts []messages.Item, after uint64) ([]messages.Event, error) {
	if after > head.LastSeq {
		return nil, fmt.Errorf("session %q: after %d, but the last is %d: %w", head.ID, after, head.LastSeq, ErrFuture)
	}
	var events []messages.Event
	for _, item := range items {
		if item.Seq > after {
			events = append(events, messages.Event{Session: head.ID, Seq: item.Seq, Kind: messages.EventItem, Item: item})
		}
	}
	if t := head.Turn; t != nil && t.Seq > after {
		kind := messages.EventTurnStarted
		if t.Status.Terminal() {
			kind = messages.EventTurnEnded
		}
		events = append(events, messages.Event{Session: head.ID, Seq: t.Seq, Kind: kind, Turn: t})
	}
	slices.SortStableFunc(events, func(a, b messages.Event) int { return int(a.Seq) - int(b.Seq) })
	for i := range drafts {
		events = append(events, messages.Event{Session: head.ID, Kind: messages.EventDraft, Item: &drafts[i]})
	}
	return events, nil
}
