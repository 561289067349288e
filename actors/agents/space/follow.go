package space

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentd/messages"
	"agentd/providers/opencode"
)

// burst is how many events are taken in before the drafts are shown, if they come without a pause.
const burst = 64

// follow takes in events until OpenCode has ended the turn, or it cannot go on. It returns nil at the end, and with the turn's context.
func (t *turn) follow(ctx, own context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.link.Died():
			return t.died()
		case <-t.ledger.nudge:
			if ended, err := t.look(own); ended || err != nil {
				return err
			}
		case <-t.watch.due():
			if ended, err := t.look(own); ended || err != nil {
				return err
			}
		case event, open := <-t.events.C():
			if !open {
				return t.lost()
			}
			ended, err := t.several(own, event)
			if ended || err != nil {
				return err
			}
		}
	}
}

// several takes in an event and those that have come behind it, and then shows the drafts.
func (t *turn) several(own context.Context, event opencode.Event) (ended bool, err error) {
	for range burst {
		if ended, err = t.event(own, event); ended || err != nil {
			break
		}
		more := false
		select {
		case event, more = <-t.events.C():
		default:
		}
		if !more {
			break
		}
	}
	return ended, errors.Join(err, t.show())
}

// show brings the drafts up to date. The runtime stores them coalesced.
func (t *turn) show() error {
	items := t.feed.drafts()
	for i := range items {
		items[i].ParentID = t.parent
	}
	return t.keep(items)
}

// settleStep shows what the model has said in a step, and makes durable what is whole.
func (t *turn) settleStep(s *step) error {
	if err := t.show(); err != nil {
		return err
	}
	items := t.feed.settle(s)
	for i := range items {
		items[i].ParentID, items[i].StreamStatus = t.parent, messages.StreamComplete
	}
	return t.keep(items)
}

// event takes in one event. Ended says that it is the end of the turn.
func (t *turn) event(own context.Context, e opencode.Event) (ended bool, err error) {
	switch body := e.Body.(type) {
	case opencode.Gap:
		return t.look(own)
	case opencode.PermissionAsked:
		return false, t.refusePermission(own, body.Permission)
	case opencode.QuestionAsked:
		return false, t.refuseQuestion(own, body.Question)
	case opencode.ToolsChanged:
		t.tools.give()
	default: // All others are about one session.
	}
	if e.SessionID != t.session {
		return false, nil
	}
	t.watch.heard()
	switch body := e.Body.(type) {
	case opencode.MessageUpdated:
		t.feed.message(body.Message)
	case opencode.PartDelta:
		t.watch.progress()
		t.feed.delta(body)
	case opencode.PartUpdated:
		return false, t.part(body.Part)
	case opencode.SessionStatus:
		return false, t.status(body.Status)
	case opencode.SessionError:
		t.failure = body.Err
		t.watch.ending()
	case opencode.SessionIdle:
		return t.idle(own)
	default: // Titles, differences and what newer versions have.
	}
	return false, nil
}

// part takes in a part of a message: text and reasoning go into drafts, calls that do not reach us are recorded.
func (t *turn) part(p opencode.Part) error {
	s := t.feed.step(p.MessageID)
	if s != nil {
		t.watch.progress()
	}
	if p.Type != opencode.ToolPart {
		t.feed.part(p)
		return nil
	}
	if s == nil {
		return nil // A call of the turn before.
	}
	t.calls[p.ID] = p
	// A call that waits to be told of goes on with this. What the model said before it comes first.
	return errors.Join(t.settleStep(s), t.keep(t.noticed(p, s, false)))
}

// unended are the items that close the calls that were told of last as running.
func (t *turn) unended() []messages.Item {
	var items []messages.Item
	for _, p := range t.calls {
		items = append(items, t.noticed(p, t.feed.step(p.MessageID), true)...)
	}
	return items
}

// status bounds the retries of a failing provider.
func (t *turn) status(s opencode.Status) error {
	if s.Kind != opencode.Retrying {
		return nil
	}
	if err := t.watch.retry(s); err != nil {
		return err
	}
	return t.tellRetry(s)
}

// idle is told at the end of a turn, and once more after an abort: a late one of the turn before is no end of this.
func (t *turn) idle(own context.Context) (ended bool, err error) {
	if len(t.feed.asks) > 0 && len(t.feed.steps) > 0 {
		return true, nil
	}
	return t.look(own)
}

// look asks how the turn stands when the events do not tell: after a gap, in long silence, at an end that came too early, when a call came that
// nothing was told of.
func (t *turn) look(own context.Context) (ended bool, err error) {
	t.looked = true
	t.watch.heard()
	busy, err := t.busy(own)
	if err != nil {
		return false, err
	}
	answers, err := t.fetch(own)
	if err != nil {
		return false, err
	}
	if err := t.absorb(answers, false); err != nil {
		return false, err
	}
	switch {
	case busy:
		return false, t.askedMeanwhile(own)
	case len(answers) > 0 || t.failed():
		return true, nil
	default:
		// It takes the prompt in before it is busy with it.
		return false, t.watch.unbegun()
	}
}

// failed reports whether OpenCode has said that something is wrong.
func (t *turn) failed() bool { return t.failure != nil }

func (t *turn) died() error {
	if err := t.link.Cause(); err != nil {
		return err
	}
	return opencode.ErrServerExited
}

// lost is the end of the stream of events. It has already been tried for long to bring it back.
func (t *turn) lost() error {
	select {
	case <-t.link.Died():
		return t.died()
	default:
	}
	t.room.forget()
	if err := t.events.Err(); err != nil {
		return err
	}
	return fmt.Errorf("%w: it was closed", opencode.ErrStreamLost)
}

// The times of a watch.
const (
	// silence is how long nothing may be told of a session before it is asked for. A model may think for longer.
	silence = 15 * time.Second
	// endWithin is how long after an error OpenCode may take to say that the turn has ended; not every version does.
	endWithin = time.Second
	// beginWithin is how long it may take a prompt in without beginning.
	beginWithin = 2 * time.Minute
)

// watch bounds what could go on for ever. It belongs to the goroutine of the turn.
type watch struct {
	maxRetries  int
	retryWithin time.Duration
	begun       time.Time
	timer       *time.Timer
	// ends says that the end was announced.
	ends bool
	// retries since the last progress, the first of them at retriesFrom.
	retries     int
	retriesFrom time.Time
}

func newWatch(o Options) *watch {
	return &watch{maxRetries: o.MaxRetries, retryWithin: o.RetryWithin, begun: time.Now(), timer: time.NewTimer(silence)}
}

// due fires when it is time to look.
func (w *watch) due() <-chan time.Time { return w.timer.C }

func (w *watch) heard() {
	if !w.ends {
		w.timer.Reset(silence)
	} else {
		w.timer.Reset(endWithin)
	}
}

func (w *watch) ending() {
	w.ends = true
	w.timer.Reset(endWithin)
}

func (w *watch) progress() { w.retries = 0 }

// retry counts a retry that is about to come. The error says that it is one too many, or too late.
func (w *watch) retry(s opencode.Status) error {
	if w.retries++; w.retries == 1 {
		w.retriesFrom = time.Now()
	}
	limit := w.retriesFrom.Add(w.retryWithin)
	switch {
	case w.retries > w.maxRetries:
		return fmt.Errorf("%w: %d times: %s", ErrRetries, w.maxRetries, cutTo(s.Message, maxMessage))
	case s.Next.After(limit):
		return fmt.Errorf("%w: the next one may come in %s only: %s", ErrRetries,
			time.Until(s.Next).Round(time.Second), cutTo(s.Message, maxMessage))
	case time.Now().After(limit):
		return fmt.Errorf("%w: for %s: %s", ErrRetries, w.retryWithin, cutTo(s.Message, maxMessage))
	}
	return nil
}

// maxMessage bounds a provider's message in an error.
const maxMessage = 2000

// unbegun is asked when a prompt was taken and nothing happens. The error says that it was waited for long enough.
func (w *watch) unbegun() error {
	if time.Since(w.begun) > beginWithin {
		return fmt.Errorf("%w: it has not begun with the prompt in %s", ErrStuck, beginWithin)
	}
	w.timer.Reset(time.Second)
	return nil
}
