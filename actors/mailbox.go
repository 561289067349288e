package actors

import (
	"runtime"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// mailbox is the queue of one actor: unbounded, in order, system messages first. The engine's own makes eight pieces of memory
// for each actor and one more each time that it is scheduled; a turn has an actor of its own, so that was a tenth of its cost, and an idle
// session kept half a kilobyte. Nobody here sends batches, which the engine's mailbox takes apart.
type mailbox struct {
	// Set by RegisterHandlers, before the first message.
	invoker    actor.MessageInvoker
	dispatcher actor.Dispatcher

	mu     sync.Mutex
	user   lane
	system lane
	// running says that the mailbox is scheduled or being run.
	running   bool
	suspended bool
}

// newMailbox is an actor.MailboxProducer.
func newMailbox() actor.Mailbox { return &mailbox{} }

// RegisterHandlers implements actor.Mailbox.
func (m *mailbox) RegisterHandlers(invoker actor.MessageInvoker, d actor.Dispatcher) {
	m.invoker, m.dispatcher = invoker, d
}

// Start implements actor.Mailbox.
func (m *mailbox) Start() {}

// PostUserMessage implements actor.Mailbox. It never blocks.
func (m *mailbox) PostUserMessage(msg any) {
	m.mu.Lock()
	m.user.push(msg)
	wake := !m.running && !m.suspended
	m.running = m.running || wake
	m.mu.Unlock()
	if wake {
		m.schedule()
	}
}

// PostSystemMessage implements actor.Mailbox. It never blocks.
func (m *mailbox) PostSystemMessage(msg any) {
	m.mu.Lock()
	m.system.push(msg)
	wake := !m.running
	m.running = true
	m.mu.Unlock()
	if wake {
		m.schedule()
	}
}

// UserMessageCount implements actor.Mailbox.
func (m *mailbox) UserMessageCount() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.user.len()
}

func (m *mailbox) schedule() {
	if own, ok := m.dispatcher.(*dispatcher); ok {
		own.add(m)
		return
	}
	m.dispatcher.Schedule(m.run)
}

// run handles messages until none is left. A mailbox that is never empty yields now and then.
func (m *mailbox) run() {
	for handled := 0; m.handle(); handled++ {
		if handled < m.dispatcher.Throughput() {
			continue
		}
		if own, ok := m.dispatcher.(*dispatcher); ok {
			own.add(m) // Behind the others that wait.
			return
		}
		handled = 0
		runtime.Gosched()
	}
}

// handle handles one message, and returns false when there is none and the mailbox rests. A panic goes to the
// actor's supervisor.
func (m *mailbox) handle() (handled bool) {
	msg, system := m.next()
	if msg == nil {
		return false
	}
	handled = true // A panic too is done with the message.
	defer func() {
		if reason := recover(); reason != nil {
			m.invoker.EscalateFailure(reason, msg)
		}
	}()
	if system {
		m.invoker.InvokeSystemMessage(msg)
	} else {
		m.invoker.InvokeUserMessage(msg)
	}
	return handled
}

// next takes a message, or nil if the mailbox rests now.
func (m *mailbox) next() (msg any, system bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.system.len() > 0 {
		msg := m.system.pop()
		switch msg.(type) {
		case *actor.SuspendMailbox:
			m.suspended = true
		case *actor.ResumeMailbox:
			m.suspended = false
		default:
			return msg, true
		}
	}
	if m.suspended || m.user.len() == 0 {
		m.running = false
		return nil, false
	}
	return m.user.pop(), false
}

// lane is a queue of messages. The first has its place in it, so that an actor to which little is said costs nothing more.
type lane struct {
	one  [1]any
	msgs []any
	head int
}

// keptLane is how long a queue may have been to keep its memory for the next messages.
const keptLane = 64

func (l *lane) len() int { return len(l.msgs) - l.head }

func (l *lane) push(msg any) {
	if l.msgs == nil {
		l.msgs = l.one[:0]
	}
	if l.head > 0 && len(l.msgs) == cap(l.msgs) && l.head >= len(l.msgs)/2 {
		n := copy(l.msgs, l.msgs[l.head:])
		clear(l.msgs[n:])
		l.msgs, l.head = l.msgs[:n], 0
	}
	l.msgs = append(l.msgs, msg)
}

func (l *lane) pop() any {
	msg := l.msgs[l.head]
	l.msgs[l.head] = nil
	l.head++
	if l.head == len(l.msgs) {
		l.msgs, l.head = l.msgs[:0], 0
		if cap(l.msgs) > keptLane {
			l.msgs = nil
		}
	}
	return msg
}
