package testkit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"agentd/actors"
	"agentd/messages"
)

// Want describes an event that a test expects. Fields that are not set match everything.
type Want struct {
	Kind messages.EventKind
	// Type is the type of the event's item.
	Type messages.ItemType
	// Text is a part of the content, output, error, name or event type of the event's item.
	Text string
	// Item is the id of the event's item.
	Item messages.ItemID
	// Turn is the state of the event's turn.
	Turn messages.TurnStatus
	// Key is the changed key of the state.
	Key string
}

// Matches reports whether the event is as described.
func (w Want) Matches(event messages.Event) bool {
	if w.Kind != "" && w.Kind != event.Kind || w.Key != "" && w.Key != event.Key {
		return false
	}
	if w.Turn != "" && (event.Turn == nil || event.Turn.Status != w.Turn) {
		return false
	}
	if w.Type == "" && w.Text == "" && w.Item == "" {
		return true
	}
	item := event.Item
	if item == nil || w.Type != "" && item.Type != w.Type || w.Item != "" && item.ID != w.Item {
		return false
	}
	text := strings.Join([]string{item.Content, item.Output, item.Error, item.Name, item.EventType}, "\n")
	return strings.Contains(text, w.Text)
}

// Probe reads a subscription for a test. On its way it checks what holds for every subscription: the numbers of durable events
// grow. It is used by one goroutine.
type Probe struct {
	tb   testing.TB
	sub  *actors.Subscription
	last uint64
	seen []string
}

// Watch subscribes to a session.
func (r *Runtime) Watch(id messages.SessionID, opts actors.SubscribeOptions) *Probe {
	r.tb.Helper()
	sub, err := r.Subscribe(r.Context(), id, opts)
	if err != nil {
		r.tb.Fatal(err)
	}
	if opts.Live {
		opts.After = 0
	}
	return NewProbe(r.tb, sub, opts.After)
}

// NewProbe reads a subscription that begins after a number. It is closed when the test ends.
func NewProbe(tb testing.TB, sub *actors.Subscription, after uint64) *Probe {
	tb.Helper()
	tb.Cleanup(sub.Close)
	return &Probe{tb: tb, sub: sub, last: after}
}

// Last is the number of the last durable event that was read.
func (p *Probe) Last() uint64 { return p.last }

// Close ends the subscription.
func (p *Probe) Close() { p.sub.Close() }

// Next returns the next event, and ends the test if none comes.
func (p *Probe) Next() messages.Event {
	p.tb.Helper()
	event, err := p.read()
	if err != nil {
		p.tb.Fatalf("no event after %v: %v", p.seen, err)
	}
	return event
}

func (p *Probe) read() (messages.Event, error) {
	p.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	event, err := p.sub.Next(ctx)
	if err != nil {
		return event, err
	}
	if event.Seq > 0 {
		if event.Seq <= p.last {
			p.tb.Fatalf("event %d (%s) came after event %d", event.Seq, event.Kind, p.last)
		}
		p.last = event.Seq
	}
	p.seen = append(p.seen, describe(event))
	return event, nil
}

// Expect reads on until it has met events that match, in this order; others may lie between. It returns those that
// matched, and ends the test if one does not come.
func (p *Probe) Expect(wants ...Want) []messages.Event {
	p.tb.Helper()
	matched := make([]messages.Event, 0, len(wants))
	for _, want := range wants {
		for {
			event, err := p.read()
			if err != nil {
				p.tb.Fatalf("waiting for %+v: %v; seen were %v", want, err, p.seen)
			}
			if want.Matches(event) {
				matched = append(matched, event)
				break
			}
		}
	}
	return matched
}

// ExpectExactly reads as many events as are given, and ends the test if one does not match.
func (p *Probe) ExpectExactly(wants ...Want) []messages.Event {
	p.tb.Helper()
	matched := make([]messages.Event, 0, len(wants))
	for i, want := range wants {
		event, err := p.read()
		switch {
		case err != nil:
			p.tb.Fatalf("waiting for number %d, %+v: %v; seen were %v", i+1, want, err, p.seen)
		case !want.Matches(event):
			p.tb.Fatalf("number %d is %s, want %+v; seen were %v", i+1, describe(event), want, p.seen)
		}
		matched = append(matched, event)
	}
	return matched
}

// ExpectNothing ends the test if an event waits. To be sure that none is on its way, call it in a bubble, after synctest.Wait.
func (p *Probe) ExpectNothing() {
	p.tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if event, err := p.sub.Next(ctx); err == nil {
		p.tb.Fatalf("there is %s, want no event; seen were %v", describe(event), p.seen)
	}
}

// ExpectEnd reads on until the subscription is over, and returns why: [io.EOF] or a [*actors.ResyncError].
func (p *Probe) ExpectEnd() error {
	p.tb.Helper()
	for {
		_, err := p.read()
		if errors.Is(err, context.DeadlineExceeded) {
			p.tb.Fatalf("the subscription does not end; seen were %v", p.seen)
		}
		if err != nil {
			return err
		}
	}
}

// describe says in a few words what an event tells.
func describe(event messages.Event) string {
	text := fmt.Sprintf("%d:%s", event.Seq, event.Kind)
	switch {
	case event.Item != nil:
		text += fmt.Sprintf("(%s %s)", event.Item.Type, event.Item.ID)
	case event.Turn != nil:
		text += fmt.Sprintf("(%s %s)", event.Turn.ID, event.Turn.Status)
	case event.Key != "":
		text += "(" + event.Key + ")"
	}
	return text
}
