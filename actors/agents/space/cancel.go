package space

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// The times of a cancel.
const (
	// abortWithin bounds the cancel hook; OpenCode takes up to half a second.
	abortWithin = 10 * time.Second
	// drainWithin bounds all of it.
	drainWithin = 20 * time.Second
	// drainPause is how long the end of an aborted turn is waited for before OpenCode is asked.
	drainPause = 200 * time.Millisecond
)

// abort stops the turn in OpenCode. It is the cancel hook, and what a failing turn does. It does nothing when the turn has left OpenCode: a hook
// that comes late must not hit the turn after it.
func (t *turn) abort(ctx context.Context) error {
	t.aborting.Lock()
	defer t.aborting.Unlock()
	if t.gone {
		return nil
	}
	select {
	case <-t.link.Died():
		return nil
	default:
	}
	ctx, cancel := context.WithTimeoutCause(ctx, abortWithin, fmt.Errorf("%w: it does not abort within %s", ErrStuck, abortWithin))
	defer cancel()
	return t.link.Client().Abort(ctx, t.session)
}

// leave makes a late abort do nothing, and waits for one that is under way.
func (t *turn) leave() {
	t.aborting.Lock()
	defer t.aborting.Unlock()
	t.gone = true
}

// drain aborts until OpenCode is at rest: an abort that comes before OpenCode has begun with a prompt does nothing. What is told meanwhile is
// taken in, so that history says what really happened. If that cannot be seen to its end, the next turn looks again.
func (t *turn) drain(own context.Context) {
	own, cancel := context.WithTimeoutCause(own, drainWithin, fmt.Errorf("%w: it does not end within %s", ErrStuck, drainWithin))
	defer cancel()
	err := t.drained(own)
	t.binding.Release()
	if err == nil {
		err = t.recorded(own)
	}
	if err != nil {
		t.room.forget()
		t.agent.options.Logger.Warn("The end of a stopped turn was not seen.", slog.String("error", err.Error()))
	}
}

func (t *turn) drained(own context.Context) error {
	seen := 0 // How often in a row OpenCode was at rest.
	for {
		if err := t.abort(own); err != nil {
			return err
		}
		if err := t.listen(own); err != nil {
			return err
		}
		busy, err := t.busy(own)
		switch {
		case err != nil:
			return err
		case busy:
			seen = 0
		case len(t.feed.asks) > 0:
			return nil
		default:
			// The prompt was taken, and nothing is known of it yet: it may be about to begin.
			if seen++; seen > 10 {
				return nil
			}
		}
	}
}

// listen takes in events until the end of the turn, or for a moment.
func (t *turn) listen(own context.Context) error {
	timer := time.NewTimer(drainPause)
	defer timer.Stop()
	for {
		select {
		case <-own.Done():
			return context.Cause(own)
		case <-t.link.Died():
			return t.died()
		case <-timer.C:
			return nil
		case event, open := <-t.events.C():
			if !open {
				return t.lost()
			}
			if ended, err := t.several(own, event); err != nil || ended {
				return err
			}
		}
	}
}

// recorded fetches what the stopped turn did and records the calls that only OpenCode knows of.
func (t *turn) recorded(own context.Context) error {
	answers, err := t.fetch(own)
	if err != nil {
		return err
	}
	t.left(answers)
	return t.absorb(answers, true)
}
