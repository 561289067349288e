package opencode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// Defaults of [EventOptions].
const (
	// DefaultSilence is how long the stream may be silent; the server sends a heartbeat every 10 seconds.
	DefaultSilence = 35 * time.Second
	// DefaultReconnectWithin bounds the attempts to bring a broken stream back.
	DefaultReconnectWithin = 30 * time.Second
	// DefaultEventBuffer is how many events may wait for their reader.
	DefaultEventBuffer = 256
)

// The pace of reconnecting.
const (
	reconnectFirst = 100 * time.Millisecond
	reconnectMost  = 3 * time.Second
)

// EventOptions tune a subscription. The zero value is good.
type EventOptions struct {
	// Silence is how long nothing may come before the connection counts as broken; zero means [DefaultSilence].
	Silence time.Duration
	// ReconnectWithin bounds the attempts after a break; zero means [DefaultReconnectWithin], less does not reconnect.
	ReconnectWithin time.Duration
	// Buffer is how many events may wait; zero means [DefaultEventBuffer]. When it is full, reading pauses and the server
	// buffers: no event is dropped.
	Buffer int
}

func (o *EventOptions) withDefaults() EventOptions {
	var out EventOptions
	if o != nil {
		out = *o
	}
	out.Silence = cmp.Or(out.Silence, DefaultSilence)
	out.ReconnectWithin = cmp.Or(out.ReconnectWithin, DefaultReconnectWithin)
	out.Buffer = cmp.Or(out.Buffer, DefaultEventBuffer)
	return out
}

func (o EventOptions) validate() error {
	switch {
	case o.Silence < 0:
		return fmt.Errorf("%w: Silence is %s: give zero or more", ErrInvalid, o.Silence)
	case o.Buffer < 0:
		return fmt.Errorf("%w: Buffer is %d: give zero or more", ErrInvalid, o.Buffer)
	}
	return nil
}

// Events is a subscription to the events of one directory.
type Events struct {
	c      *Client
	opts   EventOptions
	out    chan Event
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when the reader has ended, after out

	errMu sync.Mutex
	err   error
}

// errClosed is the cause of the end that Close brings.
var errClosed = errors.New("subscription is closed")

// Events subscribes to the events of the client's directory. It returns once the server has confirmed the subscription, so that
// nothing which happens after is missed. ctx bounds the subscription's whole life; [Events.Close] ends it too.
func (c *Client) Events(ctx context.Context, opts *EventOptions) (*Events, error) {
	o := opts.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	e := &Events{c: c, opts: o, out: make(chan Event, o.Buffer), cancel: cancel, done: make(chan struct{})}
	first, err := e.connect(ctx)
	if err != nil {
		cancel(errClosed)
		return nil, err
	}
	c.link.visit(c.dir)
	go e.run(ctx, first)
	return e, nil
}

// C is the channel of events, in the order of the server. It is closed when the subscription has ended; [Events.Err] tells why.
// Heartbeats are not passed on.
func (e *Events) C() <-chan Event { return e.out }

// Err returns why the subscription has ended: nil while it lives and after Close, the cause of its context, [ErrServerExited],
// [ErrStreamLost] with its reason.
func (e *Events) Err() error {
	e.errMu.Lock()
	defer e.errMu.Unlock()
	return e.err
}

// Close ends the subscription and waits for its goroutine. It may be called more than once.
func (e *Events) Close() {
	e.cancel(errClosed)
	<-e.done
}

// run reads until the end, connecting again after each break.
func (e *Events) run(ctx context.Context, s *subscription) {
	defer close(e.done)
	defer close(e.out)
	defer e.cancel(errClosed)
	for {
		reason := e.read(ctx, s)
		s.close()
		if ctx.Err() == nil {
			s = e.reconnect(ctx, reason)
		}
		if ctx.Err() != nil {
			e.fail(context.Cause(ctx))
			return
		}
		if s == nil {
			return
		}
		if !e.pass(ctx, Event{Type: "client.gap", Body: Gap{Reason: reason.Error()}}) {
			s.close()
			e.fail(context.Cause(ctx))
			return
		}
	}
}

func (e *Events) fail(err error) {
	if errors.Is(err, errClosed) {
		return
	}
	e.errMu.Lock()
	defer e.errMu.Unlock()
	e.err = err
}

// reconnect brings the stream back; nil means that it could not, and the error is set.
func (e *Events) reconnect(ctx context.Context, reason error) *subscription {
	if e.opts.ReconnectWithin < 0 {
		e.fail(fmt.Errorf("%w: %w", ErrStreamLost, reason))
		return nil
	}
	pace := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(reconnectFirst), backoff.WithMaxInterval(reconnectMost),
		backoff.WithMaxElapsedTime(e.opts.ReconnectWithin),
	)
	attempt := 0
	s, err := backoff.RetryWithData(func() (*subscription, error) {
		attempt++
		s, err := e.connect(ctx)
		if errors.Is(err, ErrServerExited) || errors.Is(err, ErrUnauthorized) {
			return nil, backoff.Permanent(err)
		}
		return s, err
	}, backoff.WithContext(pace, ctx))
	if ctx.Err() != nil {
		if s != nil {
			s.close()
		}
		return nil
	}
	if err != nil {
		e.fail(fmt.Errorf("%w: %w; reconnecting: %w", ErrStreamLost, reason, err))
		return nil
	}
	e.c.link.opts.Logger.DebugContext(ctx, "event stream of OpenCode is back",
		slog.Int("attempts", attempt), slog.String("reason", reason.Error()))
	return s
}

// subscription is one connection. Its own context ends it when it is silent for too long.
type subscription struct {
	response *http.Response
	reader   *sseReader
	first    Event
	cancel   context.CancelCauseFunc
	ctx      context.Context //nolint:containedctx // The life of the connection, for its end's cause.
	silence  *time.Timer
}

func (s *subscription) close() {
	s.silence.Stop()
	s.cancel(errClosed)
	_ = s.response.Body.Close()
}

// connect opens a connection and waits for its first event.
func (e *Events) connect(ctx context.Context) (*subscription, error) {
	const op = "subscribing to events"
	own, cancel := context.WithCancelCause(ctx)
	s := &subscription{ctx: own, cancel: cancel}
	// The head and the first event must come within the time of a call, everything later within the silence.
	s.silence = time.AfterFunc(e.c.link.opts.CallTimeout, func() {
		cancel(fmt.Errorf("%w: no event within %s", ErrUnreachable, e.c.link.opts.CallTimeout))
	})
	response, err := e.c.send(own, call{op: op, method: "GET", path: "/event"})
	if err != nil {
		s.silence.Stop()
		cancel(errClosed)
		return nil, err
	}
	s.response, s.reader = response, newSSEReader(response.Body, int(e.c.link.opts.MaxReplyBytes))
	if err := streamHead(op, response); err != nil {
		s.close()
		return nil, err
	}
	if s.first, err = e.nextEvent(s); err != nil {
		err = e.c.broken(own, op, err)
		s.close()
		return nil, err
	}
	s.silence.Stop()
	s.silence = time.AfterFunc(e.opts.Silence, func() {
		cancel(fmt.Errorf("no event or heartbeat within %s", e.opts.Silence))
	})
	return s, nil
}

func streamHead(op string, response *http.Response) error {
	if response.StatusCode != http.StatusOK {
		return apiError(call{op: op}, response.StatusCode, nil)
	}
	if kind := response.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") {
		return fmt.Errorf("%s: %w: content type %.60q", op, ErrUnexpectedReply, kind)
	}
	return nil
}

// nextEvent reads one event; an event over the limit is a gap, and so is one that cannot be read.
func (e *Events) nextEvent(s *subscription) (Event, error) {
	data, err := s.reader.next()
	if errors.Is(err, errEventTooLarge) {
		return Event{Type: "client.gap", Body: Gap{Reason: ErrTooLarge.Error()}}, nil
	}
	if err != nil {
		return Event{}, err
	}
	event, bad := decodeEvent(data)
	if bad != nil {
		event = Event{Type: "client.gap", Body: Gap{Reason: bad.Error()}}
	}
	return event, nil
}

// read passes events on until the connection or the subscription ends, and returns why.
func (e *Events) read(ctx context.Context, s *subscription) error {
	if !e.pass(ctx, s.first) {
		return context.Cause(ctx)
	}
	for {
		event, err := e.nextEvent(s)
		if err != nil {
			if s.ctx.Err() != nil {
				err = context.Cause(s.ctx)
			}
			return fmt.Errorf("reading events: %w", err)
		}
		// Waiting for a slow reader is no silence of the server.
		s.silence.Stop()
		if event.Type != heartbeat && !e.pass(ctx, event) {
			return context.Cause(ctx)
		}
		s.silence.Reset(e.opts.Silence)
	}
}

func (e *Events) pass(ctx context.Context, event Event) bool {
	select {
	case e.out <- event:
		return true
	case <-ctx.Done():
		return false
	}
}
