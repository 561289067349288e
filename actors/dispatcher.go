package actors

import "sync"

// dispatcher runs mailboxes on a few goroutines that stay. The engine's own
// dispatcher starts a goroutine for each run of a mailbox, whose stack has to grow anew each time: that was an eighth of the
// cost of a turn. Actors that block, the persistence actors, have dispatchers with a goroutine for each of them.
type dispatcher struct {
	mu      sync.Mutex
	work    *sync.Cond
	queue   []runnable
	head    int
	closing bool
	done    sync.WaitGroup
}

// runnable is what waits for a goroutine.
type runnable interface{ run() }

// runFunc is a function that is a runnable.
type runFunc func()

func (f runFunc) run() { f() }

// throughput is how many messages a mailbox may handle before it yields to the scheduler.
const throughput = 300

// minCompaction is how many taken places the queue may have in front before it is moved up.
const minCompaction = 1024

func newDispatcher(goroutines int) *dispatcher {
	d := &dispatcher{}
	d.work = sync.NewCond(&d.mu)
	for range goroutines {
		d.done.Go(d.run)
	}
	return d
}

// Schedule implements actor.Dispatcher. It never blocks.
func (d *dispatcher) Schedule(fn func()) { d.add(runFunc(fn)) }

// add queues what is to be run. It never blocks.
func (d *dispatcher) add(r runnable) {
	d.mu.Lock()
	if d.head > len(d.queue)/2 && d.head > minCompaction {
		n := copy(d.queue, d.queue[d.head:])
		clear(d.queue[n:])
		d.queue, d.head = d.queue[:n], 0
	}
	d.queue = append(d.queue, r)
	d.mu.Unlock()
	d.work.Signal()
}

// Throughput implements actor.Dispatcher.
func (d *dispatcher) Throughput() int { return throughput }

func (d *dispatcher) run() {
	for {
		r := d.next()
		if r == nil {
			return
		}
		r.run()
	}
}

// next waits for work, and returns nil when the dispatcher is closing and nothing is left.
func (d *dispatcher) next() runnable {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.head == len(d.queue) {
		if d.closing {
			return nil
		}
		d.work.Wait()
	}
	r := d.queue[d.head]
	d.queue[d.head] = nil
	d.head++
	if d.head == len(d.queue) {
		d.queue, d.head = d.queue[:0], 0
	}
	return r
}

// close ends the goroutines after what is queued, and waits for them. It is called when all actors have ended.
func (d *dispatcher) close() {
	d.mu.Lock()
	d.closing = true
	d.mu.Unlock()
	d.work.Broadcast()
	d.done.Wait()
}
