package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"agentd/actors"
	"agentd/messages"
	"agentd/presets"
)

const (
	// cancelWait bounds how long a cancel is waited for before the process goes on to stop.
	cancelWait = 15 * time.Second
	// lastWords is how long the feed may take to tell the ending that the turn's handle knows already.
	lastWords = 2 * time.Second
	// unseenWait is how long an open request waits for the item that tells of it.
	unseenWait = 300 * time.Millisecond
)

// driver runs turns in one session and shows what happens.
type driver struct {
	app     *app
	host    *host
	session messages.SessionID
	out     printer
	// ask asks the person about a request, until it is withdrawn. Nil means that nobody is there.
	ask func(request presets.Request, withdrawn <-chan struct{}) (presets.Answer, error)

	// Of the present turn.
	handle *actors.TurnHandle
	feed   *feed
	denied []deniedLine
	// unseen are open requests that the session's items have not told of, handled those that were shown or resolved.
	unseen  map[messages.RequestID]presets.Request
	handled map[messages.RequestID]bool
}

// turn runs one turn to its end and returns how it ended. The error says why there is no ending to tell of.
func (d *driver) turn(ctx context.Context, input string, onBusy messages.OnBusy) (outcome, error) {
	d.denied, d.handled, d.unseen = nil, map[messages.RequestID]bool{}, map[messages.RequestID]presets.Request{}
	starting, abandon := context.WithCancelCause(ctx)
	defer abandon(nil)
	pressed := make(chan struct{})
	release := d.app.ctrlC.during(func() { close(pressed); abandon(errInterrupted) })
	defer release()

	var err error
	if d.feed, err = openFeed(starting, d.host.runtime, d.session); err != nil {
		return outcome{}, err
	}
	defer d.feed.close()
	began := time.Now()
	d.handle, err = d.host.runtime.RunTurn(starting, d.session, input, actors.RunOptions{OnBusy: onBusy})
	if err != nil {
		return outcome{}, err
	}
	cancelled := make(chan struct{})
	go d.cancelOn(ctx, pressed, cancelled)
	failed := d.follow()
	if failed != nil { // Nobody can see what happens: the turn must not go on unseen.
		d.cancel()
	}
	turn, err := d.handle.Wait(context.Background())
	<-cancelled
	o := outcome{session: d.session, turn: turn, took: time.Since(began), denied: d.denied}
	o.sessionFile, o.artifacts = d.host.dir.Session(d.session), artifacts(filepath.Join(d.host.dir.Artifacts(), string(d.session)))
	return o, errors.Join(failed, err)
}

// cancelOn cancels the turn when Ctrl-C was pressed or the process is told to end, and returns when the turn has ended.
func (d *driver) cancelOn(ctx context.Context, pressed <-chan struct{}, done chan<- struct{}) {
	defer close(done)
	select {
	case <-pressed:
		d.cancel()
	case <-ctx.Done():
		d.cancel()
	case <-d.handle.Done():
	}
}

func (d *driver) cancel() {
	ctx, stop := context.WithTimeout(context.Background(), cancelWait)
	defer stop()
	if err := d.handle.Cancel(ctx); err != nil && !errors.Is(err, actors.ErrStopping) {
		d.app.complain("agentd: %s", err)
	}
}

// follow shows events until the turn has ended. The error says that they cannot be shown.
func (d *driver) follow() error {
	done := d.handle.Done()
	var late, unseen <-chan time.Time
	for {
		var ended bool
		var err error
		select {
		case next := <-d.feed.events:
			ended, err = d.show(next)
		case <-unseen:
			unseen = nil
			ended, err = d.showUnseen()
		case <-done:
			done, late = nil, time.After(lastWords)
		case <-late:
			ended = true
		}
		if err != nil || ended {
			return err
		}
		if unseen == nil && len(d.unseen) > 0 {
			unseen = time.After(unseenWait)
		}
	}
}

// show shows one event, and reports whether it ends the turn. An approval that is asked for is decided here.
func (d *driver) show(next fed) (ended bool, err error) {
	switch {
	case errors.Is(next.err, io.EOF):
		return true, nil
	case next.err != nil:
		return false, next.err
	case next.approval != nil:
		d.note(*next.approval)
		return false, nil
	}
	if err := d.out.event(next.event); err != nil {
		return false, err
	}
	if request, asked := d.requested(next.event); asked {
		return d.decide(request)
	}
	return next.event.Kind == messages.EventTurnEnded && next.event.Turn.ID == d.handle.ID(), nil
}

// note remembers which requests are open. Usually an item of the session tells of a request a moment later, and it is shown in its place then.
func (d *driver) note(event actors.ApprovalEvent) {
	request := event.Request
	switch {
	case event.Decision != nil:
		d.handled[request.ID] = true
		delete(d.unseen, request.ID)
	case request.SessionID == d.session && !d.handled[request.ID]:
		d.unseen[request.ID] = request
	}
}

// showUnseen shows and decides requests that no item told of: those of a second call that waits for the same as a first one.
func (d *driver) showUnseen() (ended bool, err error) {
	for _, request := range d.unseen {
		data, err := json.Marshal(request)
		if err != nil {
			return false, err
		}
		item := messages.Item{ID: messages.ItemID(request.ID), Type: messages.ItemEvent, EventType: approvalRequested, Data: data, TurnID: d.handle.ID()}
		ended, err := d.show(fed{event: messages.Event{Session: d.session, Kind: messages.EventItem, Item: &item}})
		if err != nil || ended {
			return ended, err
		}
	}
	return false, nil
}

// requested returns the request that an event tells of, if it is an open one of this turn.
func (d *driver) requested(event messages.Event) (presets.Request, bool) {
	var request presets.Request
	item := event.Item
	if item == nil || item.EventType != approvalRequested || item.TurnID != d.handle.ID() || json.Unmarshal(item.Data, &request) != nil {
		return request, false
	}
	if request.ID == "" || d.handled[request.ID] {
		return request, false
	}
	d.handled[request.ID] = true
	delete(d.unseen, request.ID)
	return request, true
}

// maxArtifacts is how many files are named.
const maxArtifacts = 20

// artifacts are the files that the tools of a session made.
func artifacts(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // There is no folder: no tool has made anything.
	}
	var paths []string
	for _, entry := range entries {
		if entry.Type().IsRegular() && entry.Name()[0] != '.' {
			paths = append(paths, filepath.Join(dir, entry.Name()))
		}
	}
	slices.Sort(paths)
	return paths[:min(len(paths), maxArtifacts)]
}
