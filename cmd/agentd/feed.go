package main

import (
	"context"
	"errors"
	"io"
	"sync"

	"agentd/actors"
	"agentd/messages"
)

// fed is one thing that a feed tells: an event of the session, something about an approval, or why nothing more will come.
type fed struct {
	event    messages.Event
	approval *actors.ApprovalEvent
	err      error
}

// feed tells what happens in a session from when it was opened on, and what becomes of requests for approvals, one thing at a time. A
// reader that is slow, because a question stands on the screen, misses drafts only.
type feed struct {
	events chan fed

	runtime *actors.Runtime
	session messages.SessionID
	stop    context.CancelFunc
	pumps   sync.WaitGroup
}

func openFeed(ctx context.Context, runtime *actors.Runtime, session messages.SessionID) (*feed, error) {
	sub, err := runtime.Subscribe(ctx, session, actors.SubscribeOptions{Live: true})
	if err != nil {
		return nil, err
	}
	pumping, stop := context.WithCancel(context.Background())
	f := &feed{events: make(chan fed), runtime: runtime, session: session, stop: stop}
	watch := runtime.WatchApprovals()
	f.pumps.Go(func() { f.pump(pumping, sub) })
	f.pumps.Go(func() { f.watch(pumping, watch) })
	return f, nil
}

// close ends the feed and waits until it has ended.
func (f *feed) close() {
	f.stop()
	f.pumps.Wait()
}

// pump hands over the events of the session. A subscription that fell behind goes on where it was.
func (f *feed) pump(ctx context.Context, sub *actors.Subscription) {
	for {
		event, err := sub.Next(ctx)
		var resync *actors.ResyncError
		if errors.As(err, &resync) {
			sub.Close()
			next, again := f.runtime.Subscribe(ctx, f.session, actors.SubscribeOptions{After: resync.After})
			if again == nil {
				sub = next
				continue
			}
			err = again
		}
		f.put(ctx, fed{event: event, err: err})
		if err != nil {
			break
		}
	}
	sub.Close()
}

// watch hands over what becomes of requests.
func (f *feed) watch(ctx context.Context, watch *actors.ApprovalWatch) {
	defer watch.Close()
	for {
		event, err := watch.Next(ctx)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				f.put(ctx, fed{err: err})
			}
			return
		}
		f.put(ctx, fed{approval: &event})
	}
}

func (f *feed) put(ctx context.Context, next fed) {
	select {
	case f.events <- next:
	case <-ctx.Done():
	}
}
