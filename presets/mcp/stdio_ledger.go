package mcp

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// era is how a client of one connection speaks. It is settled by its first request and then stays.
type era int

const (
	eraNone   era = iota // nothing but pings so far
	eraLegacy            // it began with initialize
	eraModern            // each request carries its version
)

// ledger knows the state of one connection: its era, and the requests of the client that are not answered yet. It decides which messages
// reach the engine.
type ledger struct {
	mu       sync.Mutex
	era      era
	greeted  bool                     // the handshake is done
	calls    map[jsonrpc.ID]*openCall // by id, until the answer is written
	idle     chan struct{}            // closed when no call is open; nil unless somebody waits
	onGreet  func()                   // called once, when the handshake is done
	versions []string                 // set at construction
}

// unreadPrefix begins the engine's words on parameters that it could not read.
const unreadPrefix = "handling '"

// openCall is a request that is not answered yet.
type openCall struct {
	method    string
	cancelled bool
}

func newLedger(onGreet func()) *ledger {
	return &ledger{calls: make(map[jsonrpc.ID]*openCall), onGreet: onGreet, versions: sdk.SupportedProtocolVersions()}
}

// admit decides on one message. Exactly one of three things comes of it: a message for the engine, an answer for the client, or nothing.
func (l *ledger) admit(line []byte) (jsonrpc.Message, *refusal) {
	e, no := parseEnvelope(line)
	if no != nil {
		return nil, no
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case e.isCall():
		if no := l.open(e); no != nil {
			return nil, no
		}
	case e.method == notificationCancelled:
		if !l.cancel(e) {
			return nil, nil
		}
	}
	return e.message(), nil
}

// open takes up a request, or refuses it.
func (l *ledger) open(e envelope) *refusal {
	if _, taken := l.calls[e.id]; taken {
		// Null: with its own id the client would take this for the answer of the first one.
		return invalidRequest(jsonrpc.ID{}, "this id is in use by a request that is not answered yet")
	}
	meta := objectOf(objectOf(e.params)["_meta"])
	version, _ := stringOf(meta[sdk.MetaKeyProtocolVersion])
	modern := version >= firstModern
	switch {
	case l.era == eraModern && !modern:
		return invalidParams(e.id, `every request must say its protocol version in "_meta", as the first one did`)
	case l.era == eraNone && !modern && !opensSession(e.method):
		return invalidRequest(e.id, `send "initialize" first, or say the protocol version in "_meta"`)
	case e.shapeFault(modern) != "":
		return invalidParams(e.id, e.shapeFault(modern))
	case len(l.calls) >= maxInFlight:
		return &refusal{id: e.id, code: codeTooMany, message: "too many requests are not answered yet"}
	}
	if l.era == eraNone {
		l.settleEra(e, modern && slices.Contains(l.versions, version) && objectOf(meta[sdk.MetaKeyClientCapabilities]) != nil)
	}
	l.calls[e.id] = &openCall{method: e.method}
	return nil
}

// opensSession reports whether a request of the older lifecycle may come before everything else. The engine itself refuses discover.
func opensSession(method string) bool {
	return method == methodInitialize || method == methodPing || method == methodDiscover
}

// settleEra takes the first request that says how the client speaks. One that the engine will refuse settles nothing, so that the
// client may try the other way.
func (l *ledger) settleEra(e envelope, modern bool) {
	switch {
	case modern && e.method != methodInitialize && e.method != methodPing && e.method != "logging/setLevel":
		l.era = eraModern
		l.greet() // There is no handshake in the newer lifecycle: the first request is one.
	case !modern && e.method == methodInitialize:
		l.era = eraLegacy
	}
}

func (l *ledger) greet() {
	if !l.greeted {
		l.greeted = true
		l.onGreet()
	}
}

// cancel marks a request as cancelled, so that it gets no answer. It reports whether the engine is to know. An id that the engine
// would read as another one stops here.
func (l *ledger) cancel(e envelope) bool {
	id, ok := parseID(objectOf(e.params)["requestId"])
	if !ok {
		return false
	}
	call, open := l.calls[id]
	if !open || call.method == methodInitialize {
		return false
	}
	call.cancelled = true
	return true
}

// answer decides on the engine's answer to a request: what is to be written, or nothing.
func (l *ledger) answer(response *jsonrpc.Response) *jsonrpc.Response {
	l.mu.Lock()
	defer l.mu.Unlock()
	call, open := l.calls[response.ID]
	if open && call.cancelled {
		return nil
	}
	if response.Error == nil {
		if open && call.method == methodInitialize {
			l.greet()
		}
		return response
	}
	var wire *jsonrpc.Error
	if errors.As(response.Error, &wire) && wire.Code != 0 && !strings.HasPrefix(response.Error.Error(), unreadPrefix) {
		return response
	}
	// What is left: parameters that the engine could not read, which it tells with the whole of them and with the names of its own
	// types, and requests on a session whose initialize failed, which have no code.
	fault := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the parameters do not have the shape that the method takes"}
	if l.era == eraLegacy && !l.greeted && (!open || call.method != methodInitialize) {
		fault = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: `send "initialize" first`}
	}
	return &jsonrpc.Response{ID: response.ID, Error: fault, Extra: response.Extra}
}

// settle forgets a request whose answer is written.
func (l *ledger) settle(id jsonrpc.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.calls, id)
	if l.idle != nil && l.busy() == 0 {
		close(l.idle)
		l.idle = nil
	}
}

// drained returns a channel that is closed once no request but subscriptions, which never end by themselves, is open.
func (l *ledger) drained() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy() == 0 {
		closed := make(chan struct{})
		close(closed)
		return closed
	}
	if l.idle == nil {
		l.idle = make(chan struct{})
	}
	return l.idle
}

func (l *ledger) busy() int {
	n := 0
	for _, call := range l.calls {
		if call.method != methodListen {
			n++
		}
	}
	return n
}
