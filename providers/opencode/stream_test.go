package opencode

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// feed is a server whose event streams the test writes.
type feed struct {
	conns chan *feedConn
}

type feedConn struct {
	data chan string   // written by the handler, whose alone the writer is
	done chan struct{} // closed to end the response
	gone <-chan struct{}
}

func (f *feed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	conn := &feedConn{data: make(chan string), done: make(chan struct{}), gone: r.Context().Done()}
	writeEvent(w, `{"type":"server.connected","properties":{}}`)
	f.conns <- conn
	for {
		select {
		case data := <-conn.data:
			writeEvent(w, data)
		case <-conn.done:
			return
		case <-conn.gone:
			return
		}
	}
}

func writeEvent(w http.ResponseWriter, data string) {
	fmt.Fprintf(w, "data: %s\n\n", data)
	_ = http.NewResponseController(w).Flush()
}

func (c *feedConn) send(data string) {
	select {
	case c.data <- data:
	case <-c.gone:
	}
}

func idle(id string) string {
	return fmt.Sprintf(`{"type":"session.idle","properties":{"sessionID":%q}}`, id)
}

func subscribe(t *testing.T, opts EventOptions) (*feed, *Events, *feedConn) {
	t.Helper()
	f := &feed{conns: make(chan *feedConn, 10)}
	c := clientOf(t, f, &ClientOptions{MaxReplyBytes: 2000})
	e, err := c.Events(t.Context(), &opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return f, e, <-f.conns
}

func next(t *testing.T, e *Events) Event {
	t.Helper()
	select {
	case event, ok := <-e.C():
		if !ok {
			t.Fatalf("the stream has ended: %v", e.Err())
		}
		return event
	case <-time.After(30 * time.Second):
		t.Fatal("no event came")
	}
	return Event{}
}

func ended(t *testing.T, e *Events) error {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		select {
		case _, ok := <-e.C():
			if !ok {
				return e.Err()
			}
		case <-deadline:
			t.Fatal("the stream does not end")
		}
	}
}

func TestEventsComeInOrder(t *testing.T) {
	t.Parallel()
	_, e, conn := subscribe(t, EventOptions{Buffer: 1})
	if _, ok := next(t, e).Body.(Connected); !ok {
		t.Error("the first event is not Connected")
	}
	for i := range 50 {
		conn.send(`{"type":"server.heartbeat","properties":{}}`)
		conn.send(idle(fmt.Sprintf("ses_%d", i)))
	}
	for i := range 50 {
		if got, want := next(t, e).SessionID, fmt.Sprintf("ses_%d", i); got != want {
			t.Errorf("event of %s, want %s", got, want)
		}
	}
	e.Close()
	e.Close()
	if err := ended(t, e); err != nil {
		t.Errorf("Err() after Close = %v, want nil", err)
	}
	<-conn.gone
}

func TestEventsComeBackAfterABreak(t *testing.T) {
	t.Parallel()
	f, e, conn := subscribe(t, EventOptions{})
	next(t, e)
	close(conn.done)
	conn = <-f.conns
	conn.send(idle("ses_1"))
	if gap, ok := next(t, e).Body.(Gap); !ok || gap.Reason == "" {
		t.Error("a break was not told as a gap")
	}
	if _, ok := next(t, e).Body.(Connected); !ok {
		t.Error("no Connected after the gap")
	}
	if next(t, e).SessionID != "ses_1" {
		t.Error("the event after the break is missing")
	}
}

func TestSilenceIsABreak(t *testing.T) {
	t.Parallel()
	f, e, _ := subscribe(t, EventOptions{Silence: 30 * time.Millisecond})
	next(t, e)
	<-f.conns
	if gap, ok := next(t, e).Body.(Gap); !ok || !strings.Contains(gap.Reason, "no event or heartbeat") {
		t.Errorf("gap = %+v, want the silence as its reason", gap)
	}
}

func TestBadEventsAreGaps(t *testing.T) {
	t.Parallel()
	_, e, conn := subscribe(t, EventOptions{})
	next(t, e)
	conn.send(`{"type":`)
	conn.send(`{"type":"x","properties":{"a":"` + strings.Repeat("y", 3000) + `"}}`)
	conn.send(idle("ses_1"))
	for _, want := range []string{"not JSON", "too large"} {
		if gap, ok := next(t, e).Body.(Gap); !ok || !strings.Contains(gap.Reason, want) {
			t.Errorf("gap = %+v, want %q", gap, want)
		}
	}
	if next(t, e).SessionID != "ses_1" {
		t.Error("the event after the bad ones is missing")
	}
}

func TestEventsEnd(t *testing.T) {
	t.Parallel()
	t.Run("without reconnecting", func(t *testing.T) {
		t.Parallel()
		_, e, conn := subscribe(t, EventOptions{ReconnectWithin: -1})
		close(conn.done)
		if err := ended(t, e); !errors.Is(err, ErrStreamLost) {
			t.Errorf("Err() = %v, want ErrStreamLost", err)
		}
	})
	t.Run("server stays away", func(t *testing.T) {
		t.Parallel()
		f := &feed{conns: make(chan *feedConn, 1)}
		server := httptest.NewServer(f)
		c, err := NewClient(server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		e, err := c.Events(t.Context(), &EventOptions{ReconnectWithin: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		close((<-f.conns).done)
		server.Close()
		if err := ended(t, e); !errors.Is(err, ErrStreamLost) || !errors.Is(err, ErrUnreachable) {
			t.Errorf("Err() = %v, want ErrStreamLost and ErrUnreachable", err)
		}
	})
	t.Run("context", func(t *testing.T) {
		t.Parallel()
		f := &feed{conns: make(chan *feedConn, 1)}
		c := clientOf(t, f, nil)
		cause := errors.New("the session is over")
		ctx, cancel := context.WithCancelCause(t.Context())
		e, err := c.Events(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		cancel(cause)
		if err := ended(t, e); !errors.Is(err, cause) {
			t.Errorf("Err() = %v, want %v", err, cause)
		}
		e.Close()
	})
	t.Run("nobody reads", func(t *testing.T) {
		t.Parallel()
		_, e, conn := subscribe(t, EventOptions{Buffer: 1})
		for i := range 10 {
			conn.send(idle(fmt.Sprintf("ses_%d", i)))
		}
		e.Close()
	})
	t.Run("closed while reconnecting", func(t *testing.T) {
		t.Parallel()
		var once sync.Once
		broken := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			first := false
			once.Do(func() { first = true })
			if !first {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			writeEvent(w, `{"type":"server.connected"}`)
		})
		e, err := clientOf(t, broken, nil).Events(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		next(t, e)
		e.Close()
		if err := e.Err(); err != nil {
			t.Errorf("Err() after Close = %v, want nil", err)
		}
	})
}

func TestEventsRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		handler http.HandlerFunc
		want    error
	}{
		{name: "password", handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, want: ErrUnauthorized},
		{name: "web page", handler: func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/html") }, want: ErrUnexpectedReply},
		{name: "no event", handler: func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/event-stream") }, want: ErrUnreachable},
		{name: "silence", handler: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, want: ErrUnreachable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := &ClientOptions{}
			if tt.name == "silence" {
				opts.CallTimeout = 50 * time.Millisecond
			}
			c := clientOf(t, tt.handler, opts)
			if _, err := c.Events(t.Context(), nil); !errors.Is(err, tt.want) {
				t.Errorf("Events() = %v, want %v", err, tt.want)
			}
		})
	}
	c := clientOf(t, script{}, nil)
	for _, opts := range []EventOptions{{Silence: -1}, {Buffer: -1}} {
		if _, err := c.Events(t.Context(), &opts); !errors.Is(err, ErrInvalid) {
			t.Errorf("Events(%+v) = %v, want ErrInvalid", opts, err)
		}
	}
}
