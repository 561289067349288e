package space

import (
	"context"
	"slices"
	"sync"
	"time"

	"agentd/messages"
	"agentd/providers/opencode"
)

// The times for which a call that reached us waits to be told of. The events come from the same process just before it, but a loaded one
// may send them late.
const (
	// partNudge is after how long OpenCode is asked.
	partNudge = 500 * time.Millisecond
	// partWait is after how long the call goes on without OpenCode's id of it.
	partWait = 5 * time.Second
)

// toolPart is a tool call as OpenCode tells of it.
type toolPart struct {
	id   string
	call messages.CallID
	// name is ours for a tool of ours, else OpenCode's.
	name string
	key  string
	// reached says that the call came to our server, and so is recorded there.
	reached bool
	// stored is how much of a call that did not come to us is recorded.
	stored recorded
}

type recorded int

const (
	nothing recorded = iota
	callStored
	resultStored
)

// arrival is a call that came to our server.
type arrival struct {
	key  string
	part *toolPart
}

// ledger brings together the calls that reach our server and what OpenCode tells of them. OpenCode does not say to a tool under which
// id it calls it, so calls are known by their name and arguments, and of equal ones the first goes with the first.
type ledger struct {
	mu       sync.Mutex
	parts    []*toolPart
	byID     map[string]*toolPart
	arrivals []*arrival // without a part yet
	used     map[messages.CallID]bool
	changed  chan struct{} // closed at each match
	// nudge asks the turn to look what OpenCode is doing.
	nudge chan struct{}
}

func newLedger() *ledger {
	return &ledger{byID: map[string]*toolPart{}, used: map[messages.CallID]bool{}, changed: make(chan struct{}), nudge: make(chan struct{}, 1)}
}

// keyOf identifies a call by what it asks for.
func keyOf(name string, arguments []byte) string {
	if canonical, err := messages.CanonicalArguments(arguments); err == nil {
		arguments = canonical
	}
	return name + " " + string(arguments)
}

// tell notes a tool part, whose arguments are there, and returns what is known of it.
func (l *ledger) tell(p opencode.Part, name, arguments string) *toolPart {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.byID[p.ID]; known != nil {
		return known
	}
	part := &toolPart{id: p.ID, name: name, key: keyOf(name, []byte(arguments)), call: l.freshID(p)}
	l.parts, l.byID[p.ID] = append(l.parts, part), part
	if i := slices.IndexFunc(l.arrivals, func(a *arrival) bool { return a.key == part.key }); i >= 0 {
		l.match(l.arrivals[i], part)
		l.arrivals = slices.Delete(l.arrivals, i, i+1)
	}
	return part
}

// freshID returns the id of the call, or of its part, or one of ours: models have been seen to use an id twice.
func (l *ledger) freshID(p opencode.Part) messages.CallID {
	for _, id := range []messages.CallID{messages.CallID(p.CallID), messages.CallID(p.ID), messages.NewCallID()} {
		if id.Validate() == nil && !l.used[id] {
			l.used[id] = true
			return id
		}
	}
	return messages.NewCallID()
}

// match is called with mu held.
func (l *ledger) match(a *arrival, p *toolPart) {
	a.part, p.reached = p, true
	close(l.changed)
	l.changed = make(chan struct{})
}

// arrive notes a call that reached our server and returns OpenCode's id of it, or nothing if that is not told in time. It blocks for
// [partWait] at most.
func (l *ledger) arrive(ctx context.Context, name string, arguments []byte) messages.CallID {
	a := &arrival{key: keyOf(name, arguments)}
	changed := l.enter(a)
	soon, timer := time.NewTimer(partNudge), time.NewTimer(partWait)
	defer soon.Stop()
	defer timer.Stop()
	for {
		if id := l.idOf(a); id != "" {
			return id
		}
		select {
		case <-changed:
			changed = l.next()
		case <-soon.C:
			select {
			case l.nudge <- struct{}{}:
			default: // It is about to look.
			}
		case <-timer.C:
			return ""
		case <-ctx.Done():
			return ""
		}
	}
}

func (l *ledger) enter(a *arrival) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.parts, func(p *toolPart) bool { return p.key == a.key && !p.reached && p.stored == nothing })
	if i >= 0 {
		l.match(a, l.parts[i])
	} else {
		l.arrivals = append(l.arrivals, a)
	}
	return l.changed
}

func (l *ledger) next() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

func (l *ledger) idOf(a *arrival) messages.CallID {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.part == nil {
		return ""
	}
	return a.part.call
}

// reached reports whether the call of a part came to our server.
func (l *ledger) reached(p *toolPart) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return p.reached
}

// store notes how much of a call that did not reach us is recorded. It is false if it reached us in the meantime.
func (l *ledger) store(p *toolPart, what recorded) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.reached {
		return false
	}
	p.stored = max(p.stored, what)
	return true
}
