package mcp

import (
	"context"
	"net/http"
	"strconv"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentd/presets/lifetime"
)

// headerLink carries the number of a request to the handler of a call: the engine gives a handler the headers of its request, but not its
// context. A client's own is thrown away.
const headerLink = "X-Agentd-Request"

// streamKey is the key under which the context of a connection of the older transport holds the context of its stream.
type streamKey struct{}

// links ties the calls of one mount to the requests that carry them, so that a call ends when nobody can be told how it came out. In the
// newer lifecycle the engine does so itself; in the older one it waits for a notification that a dead client never sends.
type links struct {
	mu   sync.Mutex
	last uint64
	open map[string]*link
}

// link is one request that is being served.
type link struct {
	table   *links
	number  string
	session string          // the client's session; empty if it has none
	ctx     context.Context //nolint:containedctx // It ends when the client has gone, not when the request has been served.
	cancel  context.CancelCauseFunc
	stop    func() bool
}

func newLinks() *links { return &links{open: make(map[string]*link)} }

// begin notes a request and marks it with its number. A client that can come back for the answer has not gone when its request ends.
func (l *links) begin(r *http.Request, session string, resumable bool) *link {
	ctx, cancel := context.WithCancelCause(context.Background())
	k := &link{table: l, session: session, ctx: ctx, cancel: cancel, stop: func() bool { return true }}
	if !resumable {
		k.stop = context.AfterFunc(r.Context(), func() { cancel(ErrCallerGone) })
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	k.number = strconv.FormatUint(l.last, 10)
	l.open[k.number] = k
	r.Header.Set(headerLink, k.number)
	return k
}

// end forgets a request that has been served. Its context ends with the handler, so from now on that means nothing. A call may still run: its
// stream was closed on purpose, and the client comes back for the answer.
func (k *link) end() {
	k.stop()
	k.table.mu.Lock()
	defer k.table.mu.Unlock()
	delete(k.table.open, k.number)
}

// drop ends the calls of one session of a client, or of all if it is empty.
func (l *links) drop(session string, cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range l.open {
		if session == "" || k.session == session {
			k.cancel(cause)
		}
	}
}

func (l *links) find(header http.Header) context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k, open := l.open[header.Get(headerLink)]; open {
		return k.ctx
	}
	return nil
}

// tie is the middleware that ends a call or a list when its client has gone, or when its mount is closed.
func (m *mount) tie(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if method != methodCallTool && method != methodListTools {
			return next(ctx, method, req)
		}
		ctx, release := lifetime.Join(ctx, m.life)
		defer release()
		caller, _ := ctx.Value(streamKey{}).(context.Context)
		if extra := req.GetExtra(); extra != nil && extra.Header != nil {
			caller = m.links.find(extra.Header)
		}
		if caller != nil {
			tied, untie := lifetime.Join(ctx, caller)
			defer untie()
			ctx = tied
		}
		return next(ctx, method, req)
	}
}
