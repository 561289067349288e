package mcp

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// wire is the network of one client: it sends the endpoint's headers with each request, and can be cut.
type wire struct {
	headers map[string]string
	base    *http.Transport

	mu    sync.Mutex
	isCut bool
	conns []net.Conn
}

// newWire has connections of its own, which it does not keep, so that no goroutine of it is left.
func newWire(endpoint *Endpoint) *wire {
	w := &wire{headers: endpoint.Headers()}
	w.base = &http.Transport{DisableKeepAlives: true, DialContext: w.dial}
	return w
}

func (w *wire) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.isCut {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	w.conns = append(w.conns, conn)
	return conn, nil
}

// cut breaks every connection, and lets no new ones be made: the client is gone without a word.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut = true
	for _, conn := range w.conns {
		_ = conn.Close()
	}
}

// RoundTrip implements [http.RoundTripper].
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range w.headers {
		r.Header.Set(name, value)
	}
	return w.base.RoundTrip(r)
}
