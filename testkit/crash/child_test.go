package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"agentd/actors"
	"agentd/messages"
	"agentd/persistence/jsonfile"
)

// cancelGrace is how long the runtime of a child waits for an agent that it stops.
const cancelGrace = 3 * time.Millisecond

// orders are what a child is told by its parent.
type orders struct {
	Dir  string `json:"dir"`
	Seed uint64 `json:"seed"`
	// Life is the number of the child: it makes ids unique in the directory.
	Life int `json:"life"`
}

// sessionsPerChild is how many sessions a child keeps busy, each with a goroutine of its own.
const sessionsPerChild = 6

// openRuntime starts a runtime whose folds, segments and draft intervals are short.
func openRuntime(dir string, seed uint64, t *teller) (*actors.Runtime, error) {
	files := &jsonfile.Options{SegmentBytes: 32 << 10, PreallocateBytes: 16 << 10}
	if seed%3 == 0 {
		files.PreallocateBytes = -1
	}
	store, err := jsonfile.Open(filepath.Join(dir, "data"), files)
	if err != nil {
		return nil, err
	}
	manager, err := newCounter(dir).presets()
	if err != nil {
		return nil, err
	}
	agents := &actors.Agents{}
	err = agents.Register(agentID, func() (actors.Agent, error) { return &busyAgent{teller: t}, nil })
	if err != nil {
		return nil, err
	}
	return actors.Start(actors.Deps{Store: store, Agents: agents, Presets: manager}, &actors.Options{
		IdleTimeout: 25 * time.Millisecond, FoldDelay: 5 * time.Millisecond, DraftInterval: 2 * time.Millisecond, CancelGrace: cancelGrace,
	})
}

// childMain works until it is killed.
func childMain(text string) int {
	t := &teller{out: os.Stdout}
	var o orders
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.tell(ack{Kind: ackFault, Text: err.Error()})
		return 1
	}
	time.AfterFunc(time.Minute, func() { os.Exit(4) }) // A parent that died does not leave a child for ever.
	c := &child{orders: o, teller: t, rng: rand.New(rand.NewPCG(o.Seed, uint64(o.Life)))}
	for round := 0; ; round++ {
		if err := c.round(round); err != nil {
			t.tell(ack{Kind: ackFault, Text: err.Error()})
			return 1
		}
	}
}

// child is a process that works until it is killed.
type child struct {
	orders orders
	teller *teller
	rng    *rand.Rand
}

// round is the time from a start to a clean stop.
func (c *child) round(number int) error {
	rt, err := openRuntime(c.orders.Dir, c.rng.Uint64(), c.teller)
	if err != nil {
		return fmt.Errorf("starting: %w", err)
	}
	c.teller.tell(ack{Kind: ackReady})
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(20+c.rng.IntN(200))*time.Millisecond)
	defer cancel()
	listing, err := rt.ListSessions(context.Background())
	if err != nil || len(listing.Bad) > 0 {
		return fmt.Errorf("listing: %w, bad are %v", err, listing.Bad)
	}
	errs := make([]error, sessionsPerChild)
	var wait sync.WaitGroup
	for i := range errs {
		w := &worker{
			runtime: rt, teller: c.teller, rng: rand.New(rand.NewPCG(c.rng.Uint64(), uint64(i))),
			name: fmt.Sprintf("%d-%d-%d", c.orders.Life, number, i),
		}
		if i < len(listing.Sessions) {
			w.session = listing.Sessions[i].ID
		}
		wait.Go(func() { errs[i] = w.work(ctx) })
	}
	<-ctx.Done()
	if c.rng.IntN(2) == 0 {
		wait.Wait() // Else the stop comes in the middle of the work.
	}
	err = rt.Stop(context.Background())
	wait.Wait()
	if err := errors.Join(append(errs, err)...); err != nil {
		return err
	}
	c.teller.tell(ack{Kind: ackStopped})
	return nil
}

// worker keeps one session busy.
type worker struct {
	runtime *actors.Runtime
	teller  *teller
	rng     *rand.Rand
	// name makes ids unique.
	name    string
	session messages.SessionID
	number  int
}

func (w *worker) work(ctx context.Context) error {
	for ctx.Err() == nil {
		err := w.once()
		if errors.Is(err, actors.ErrStopping) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("working on session %q: %w", w.session, err)
		}
	}
	return nil
}

// once does one thing with the session.
func (w *worker) once() error {
	w.number++
	if w.session == "" {
		return w.create()
	}
	switch n := w.rng.IntN(100); {
	case n < 50:
		return w.turn(messages.OnBusyCancel, 0)
	case n < 70:
		return w.turn(messages.OnBusyCancel, time.Duration(w.rng.IntN(6))*time.Millisecond)
	case n < 85:
		return w.overlap()
	case n < 90:
		return w.data()
	case n < 94:
		return w.runtime.Flush(context.Background())
	case n < 97:
		return w.rest()
	default:
		return w.delete()
	}
}

func (w *worker) create() error {
	id := messages.SessionID(fmt.Sprintf("ses-%s-%d", w.name, w.number))
	w.teller.tell(ack{Kind: ackCreateAsked, Session: id})
	if _, err := w.runtime.CreateSession(context.Background(), agentID, actors.CreateOptions{ID: id}); err != nil {
		return err
	}
	w.teller.tell(ack{Kind: ackCreated, Session: id})
	w.session = id
	return nil
}

// turn runs a turn to its end. It is cancelled after a while, sooner if asked for.
func (w *worker) turn(busy messages.OnBusy, after time.Duration) error {
	handle, err := w.start(busy)
	if err != nil {
		return err
	}
	return w.end(handle, after)
}

func (w *worker) start(busy messages.OnBusy) (*actors.TurnHandle, error) {
	w.number++
	id := messages.TurnID(fmt.Sprintf("turn-%s-%d", w.name, w.number))
	input := randomPlan(w.rng, w.number).String()
	w.teller.tell(ack{Kind: ackTurnAsked, Session: w.session, Turn: id, Text: input})
	handle, err := w.runtime.RunTurn(context.Background(), w.session, input, actors.RunOptions{TurnID: id, OnBusy: busy})
	if err != nil {
		return nil, err
	}
	w.teller.tell(ack{Kind: ackTurnStarted, Session: w.session, Turn: id})
	return handle, nil
}

// end waits for the end of a turn, cancels it if it takes long, and tells how it ended.
func (w *worker) end(handle *actors.TurnHandle, after time.Duration) error {
	const patience = 30 * time.Millisecond
	if after == 0 {
		after = patience
	}
	select {
	case <-handle.Done():
	case <-time.After(after):
		if err := handle.Cancel(context.Background()); err != nil {
			return err
		}
	}
	turn, err := handle.Wait(context.Background())
	if err != nil {
		return err
	}
	w.teller.tell(ack{Kind: ackTurnEnded, Session: w.session, Turn: turn.ID, Text: string(turn.Status)})
	return nil
}

// overlap starts a turn while another one runs.
func (w *worker) overlap() error {
	first, err := w.start(messages.OnBusyCancel)
	if err != nil {
		return err
	}
	busy := messages.OnBusyCancel
	if w.rng.IntN(2) == 0 {
		busy = messages.OnBusyQueue
		time.AfterFunc(10*time.Millisecond, func() { _ = first.Cancel(context.Background()) })
	}
	second, err := w.start(busy)
	if err != nil {
		return err
	}
	return errors.Join(w.end(first, 0), w.end(second, 0))
}

func (w *worker) data() error {
	value := fmt.Sprintf("host-%s-%d", w.name, w.number)
	w.teller.tell(ack{Kind: ackDataAsked, Session: w.session, Key: "host", Text: value})
	if err := w.runtime.SetData(context.Background(), w.session, "host", value); err != nil {
		return err
	}
	w.teller.tell(ack{Kind: ackData, Session: w.session, Key: "host", Text: value})
	return nil
}

// rest lets the session leave memory.
func (w *worker) rest() error {
	<-time.After(40 * time.Millisecond)
	return nil
}

// delete deletes the session, in the middle of a turn as often as not.
func (w *worker) delete() error {
	var handle *actors.TurnHandle
	if w.rng.IntN(2) == 0 {
		var err error
		if handle, err = w.start(messages.OnBusyCancel); err != nil {
			return err
		}
	}
	w.teller.tell(ack{Kind: ackDeleteAsked, Session: w.session})
	if err := w.runtime.DeleteSession(context.Background(), w.session); err != nil {
		return err
	}
	w.teller.tell(ack{Kind: ackDeleted, Session: w.session})
	w.session = ""
	if handle != nil {
		_, err := handle.Wait(context.Background())
		return err
	}
	return nil
}
