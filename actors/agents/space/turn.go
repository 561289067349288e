package space

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"agentd/actors"
	"agentd/messages"
	"agentd/presets/mcp"
	"agentd/providers/opencode"
)

// turn drives one prompt through OpenCode. It belongs to the goroutine of its agent; only call runs on others.
type turn struct {
	agent *agent
	tc    *actors.TurnContext
	room  *room
	life  context.Context //nolint:containedctx // The turn's own, for the calls that come by another way.
	// parent is the prompt's item.
	parent messages.ItemID

	link    link
	session string // OpenCode's
	events  *opencode.Events
	binding *mcp.Binding
	ledger  *ledger
	feed    *feed
	watch   *watch
	tools   *signal // OpenCode has looked at our tools again
	// calls are the tool calls as they were told of last, by the ids of their parts.
	calls map[string]opencode.Part
	// failure is what OpenCode said was wrong, before it was asked for the messages.
	failure error
	// looked says that the events did not tell everything, or may not have.
	looked bool
	// rested says that OpenCode has ended the turn and that it was seen.
	rested bool

	// aborting is held while OpenCode is told to abort; it guards gone, which says that the turn has left OpenCode.
	aborting sync.Mutex
	gone     bool
}

// run is the whole turn. An error fails it; the runtime makes nothing of it if the turn was cancelled.
func (t *turn) run(ctx context.Context) error {
	t.life, t.parent = ctx, user(t.tc.Session.Items)
	t.ledger, t.calls, t.tools = newLedger(), map[string]opencode.Part{}, newSignal()
	used, err := t.connect(ctx)
	if err != nil {
		return err
	}
	err = t.connected(ctx)
	if t.rested && used.fresh() && t.agent.options.keepFor > 0 {
		t.room.shelf.put(used, t.agent.options.keepFor)
	} else {
		used.close()
	}
	return err
}

// connect takes the connection of the last turn, or makes one.
func (t *turn) connect(ctx context.Context) (*connection, error) {
	used := t.room.shelf.take()
	if used != nil && !used.fresh() {
		used.close()
		used = nil
	}
	if used == nil {
		opened, err := t.agent.open(ctx, t.tc.Tools.Caller())
		if err != nil {
			return nil, err
		}
		if used, err = connect(ctx, opened); err != nil {
			return nil, err
		}
	}
	t.link, t.events = used.link, used.events
	return used, nil
}

func (t *turn) connected(ctx context.Context) error {
	system, err := t.system(ctx)
	if err != nil {
		return err
	}
	if err := t.adopt(ctx); err != nil {
		return err
	}
	if t.binding, err = t.link.Bind(mcp.Turn{Caller: t.tc.Tools.Caller(), Call: t.call}); err != nil {
		return err
	}
	defer t.release()
	return t.converse(ctx, context.WithoutCancel(ctx), system)
}

// converse prompts, follows what happens, and ends the turn.
func (t *turn) converse(ctx, own context.Context, system string) error {
	defer t.leave()
	if err := t.tc.Turn.SetCancel(func() error { return t.abort(own) }); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := t.prompt(ctx, own, system); err != nil {
		t.room.forget()
		return err
	}
	err := t.follow(ctx, own)
	switch {
	case ctx.Err() != nil:
		t.drain(own)
		return context.Cause(ctx)
	case err != nil:
		return t.fail(own, err)
	}
	return t.finish(own)
}

// prompt hands the prompt over. A session that was lost since it was last seen is replaced; nothing was said in it yet.
func (t *turn) prompt(ctx, own context.Context, system string) error {
	params := opencode.PromptParams{Text: t.tc.Input, Model: t.agent.options.Model, System: system}
	for again := false; ; again = true {
		t.feed = newFeed(t.room.newest)
		t.watch = newWatch(t.agent.options)
		// The request is made to its end even if the turn is cancelled meanwhile: then it is known what there is to abort.
		err := t.link.Client().PromptAsync(own, t.session, params)
		if again || !errors.Is(err, opencode.ErrSessionNotFound) {
			return err
		}
		if err := t.create(ctx, t.session); err != nil {
			return err
		}
	}
}

// finish audits the turn and completes it, or fails it with what went wrong.
func (t *turn) finish(own context.Context) error {
	answers, told := t.told()
	if !told {
		var err error
		if answers, err = t.fetch(own); err != nil {
			return t.fail(own, err)
		}
	}
	t.left(answers)
	t.rested = true
	if err := t.fault(answers); err != nil {
		return errors.Join(t.diagnosed(own, err), t.absorb(answers, true))
	}
	result, items := t.finals(answers)
	return t.tc.Turn.Finish(result, items...)
}

// diagnosed names an unknown model, which OpenCode 1.18 only calls an unknown error.
func (t *turn) diagnosed(own context.Context, err error) error {
	if !errors.Is(err, opencode.ErrModel) {
		return err
	}
	providers, listErr := t.link.Client().Providers(own)
	if listErr != nil {
		return err
	}
	model := t.agent.options.Model
	for _, p := range providers {
		if p.ID != model.ProviderID {
			continue
		}
		for _, id := range p.Models {
			if id == model.ModelID {
				return err
			}
		}
	}
	return fmt.Errorf("%w: %s: %w", opencode.ErrUnknownModel, model, err)
}

// fail ends a turn that cannot go on: OpenCode is told to stop, and what it did is recorded as far as it can still be asked.
func (t *turn) fail(own context.Context, cause error) error {
	if errors.Is(cause, opencode.ErrServerExited) || errors.Is(cause, opencode.ErrStreamLost) || errors.Is(cause, opencode.ErrUnreachable) {
		t.room.forget() // There is nobody to ask.
		return errors.Join(cause, t.keep(t.unended()))
	}
	t.drain(own)
	return cause
}

// keep stores items that are not the answer.
func (t *turn) keep(items []messages.Item) error {
	for _, item := range items {
		if _, err := t.tc.Turn.UpsertItem(item); err != nil && !errors.Is(err, actors.ErrTurnEnded) {
			return err
		}
	}
	return nil
}

// releaseWithin is how long the end of a turn waits for its last calls.
const releaseWithin = 5 * time.Second

// release lets no more calls in and waits for those under way, so that a tool does not run on behind its turn.
func (t *turn) release() {
	t.binding.Release()
	timer := time.NewTimer(releaseWithin)
	defer timer.Stop()
	select {
	case <-t.binding.Done():
	case <-timer.C:
		t.agent.options.Logger.Warn("A tool call runs on after its turn.")
	}
}
