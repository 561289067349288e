package actors

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/google/go-cmp/cmp"
)

// invoked is a MessageInvoker that keeps what it is given, and panics when it is told to.
type invoked struct {
	log      []any
	failures []any
	// during, if set, is called with every user message.
	during func(msg any)
}

func (i *invoked) InvokeSystemMessage(msg any) { i.log = append(i.log, msg) }

func (i *invoked) InvokeUserMessage(msg any) {
	i.log = append(i.log, msg)
	if i.during != nil {
		i.during(msg)
	}
}

func (i *invoked) EscalateFailure(reason, _ any) { i.failures = append(i.failures, reason) }

// byHand is a dispatcher that runs what is scheduled when the test says so.
type byHand struct{ waiting []func() }

func (b *byHand) Schedule(fn func()) { b.waiting = append(b.waiting, fn) }

func (b *byHand) Throughput() int { return 2 }

func (b *byHand) run() {
	for len(b.waiting) > 0 {
		fn := b.waiting[0]
		b.waiting = b.waiting[1:]
		fn()
	}
}

func startedMailbox(i *invoked) (*mailbox, *byHand) {
	m, hand := &mailbox{}, &byHand{}
	m.RegisterHandlers(i, hand)
	m.Start()
	return m, hand
}

func TestMailboxGivesSystemMessagesFirstAndKeepsOrder(t *testing.T) {
	t.Parallel()
	i := &invoked{}
	m, hand := startedMailbox(i)
	for n := range 5 {
		m.PostUserMessage(n)
	}
	m.PostSystemMessage("stop")
	if got := m.UserMessageCount(); got != 5 {
		t.Errorf("UserMessageCount() = %d, want 5", got)
	}
	hand.run()
	if diff := cmp.Diff([]any{"stop", 0, 1, 2, 3, 4}, i.log); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	m.PostUserMessage(5)
	if len(hand.waiting) != 1 {
		t.Errorf("a message to a resting mailbox scheduled it %d times, want once", len(hand.waiting))
	}
}

func TestMailboxHoldsUserMessagesWhileSuspended(t *testing.T) {
	t.Parallel()
	i := &invoked{}
	m, hand := startedMailbox(i)
	m.PostSystemMessage(&actor.SuspendMailbox{})
	m.PostUserMessage("late")
	m.PostSystemMessage("seen")
	hand.run()
	if diff := cmp.Diff([]any{"seen"}, i.log); diff != "" {
		t.Errorf("messages while suspended (-want +got):\n%s", diff)
	}
	m.PostUserMessage("later")
	m.PostSystemMessage(&actor.ResumeMailbox{})
	hand.run()
	if diff := cmp.Diff([]any{"seen", "late", "later"}, i.log); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestMailboxGoesOnAfterAPanic(t *testing.T) {
	t.Parallel()
	i := &invoked{during: func(msg any) {
		if msg == 1 {
			panic("one")
		}
	}}
	m, hand := startedMailbox(i)
	for n := range 3 {
		m.PostUserMessage(n)
	}
	hand.run()
	if diff := cmp.Diff([]any{0, 1, 2}, i.log); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{"one"}, i.failures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
}

// A mailbox that posts to itself for ever leaves room for the others of its dispatcher.
func TestMailboxYields(t *testing.T) {
	t.Parallel()
	d := newDispatcher(1)
	endless, patient := &mailbox{}, &mailbox{}
	stop, done := make(chan struct{}), make(chan struct{})
	endless.RegisterHandlers(&invoked{during: func(any) {
		select {
		case <-stop:
		default:
			endless.PostUserMessage("again")
		}
	}}, d)
	patient.RegisterHandlers(&invoked{during: func(any) { close(done) }}, d)
	endless.PostUserMessage("first")
	patient.PostUserMessage("only")
	<-done
	close(stop)
	d.close()
}

func TestMailboxTakesFromManyAtOnce(t *testing.T) {
	t.Parallel()
	const senders, each = 8, 2000
	d := newDispatcher(2)
	i := &invoked{}
	m := &mailbox{}
	m.RegisterHandlers(i, d)
	var wait sync.WaitGroup
	for s := range senders {
		wait.Go(func() {
			for n := range each {
				m.PostUserMessage([2]int{s, n})
			}
		})
	}
	wait.Wait()
	d.close()
	var next [senders]int
	for _, msg := range i.log {
		pair := msg.([2]int)
		if pair[1] != next[pair[0]] {
			t.Fatalf("sender %d: got message %d, want %d", pair[0], pair[1], next[pair[0]])
		}
		next[pair[0]]++
	}
	if len(i.log) != senders*each {
		t.Errorf("%d messages were handled, want %d", len(i.log), senders*each)
	}
}

func TestLaneIsAQueue(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var l lane
	var want []any
	for n := range 20_000 {
		if len(want) > 0 && random.IntN(1000) < 400+n/100 {
			if got := l.pop(); got != want[0] {
				t.Fatalf("step %d: pop() = %v, want %v", n, got, want[0])
			}
			want = want[1:]
		} else {
			l.push(n)
			want = append(want, n)
		}
		if l.len() != len(want) {
			t.Fatalf("step %d: len() = %d, want %d", n, l.len(), len(want))
		}
	}
	for len(want) > 0 {
		l.pop()
		want = want[1:]
	}
	if cap(l.msgs) > keptLane {
		t.Errorf("an empty queue keeps room for %d messages, want at most %d", cap(l.msgs), keptLane)
	}
}
