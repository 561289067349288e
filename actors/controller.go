package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"agentd/actors/internal/session"
	"agentd/messages"
)

// TurnController is what an agent reports with. Its methods may be called by several goroutines of the agent, and block
// until the session has answered: until what they tell is durable, if not said otherwise. After the end of the turn they change nothing and
// return [ErrTurnEnded]; while the turn is being stopped, items are still taken, so that history says what really happened.
type TurnController struct {
	run   *turnRun
	entry *entry
	ended atomic.Bool
	// asked says that the turn may have asked for an approval, so that there may be something to release when it ends.
	asked atomic.Bool
}

// ID is the id of the turn.
func (t *TurnController) ID() messages.TurnID { return t.run.id }

// Context ends when the turn is cancelled or over. Its cause wraps [ErrCancelled] when it was cancelled.
func (t *TurnController) Context() context.Context { return t.run.ctx }

// Cancelled reports whether the turn is cancelled or over.
func (t *TurnController) Cancelled() bool { return t.run.ctx.Err() != nil }

// AppendItem adds an item and returns it as it is stored. An empty id gets a fresh one. An id that is
// there already is an error that names it, and changes nothing.
func (t *TurnController) AppendItem(item messages.Item) (messages.Item, error) {
	item = cleaned(item)
	return ask(t, func(c *itemCall) session.Message {
		return session.Append{Ticket: c, Turn: t.run.id, Item: item}
	})
}

// UpsertItem lays the fields that are set over the item with that id, or adds it. An item whose stream status is streaming is a
// draft: subscribers see it at once, it is stored coalesced, and the call does not wait for that. The final version is always stored.
func (t *TurnController) UpsertItem(item messages.Item) (messages.Item, error) {
	item = cleaned(item)
	return ask(t, func(c *itemCall) session.Message {
		return session.Upsert{Ticket: c, Turn: t.run.id, Item: item}
	})
}

// UpdateItem is [TurnController.UpsertItem] for an item that must be there: an unknown id is an error.
func (t *TurnController) UpdateItem(item messages.Item) (messages.Item, error) {
	item = cleaned(item)
	return ask(t, func(c *itemCall) session.Message {
		return session.Upsert{Ticket: c, Turn: t.run.id, Item: item, MustExist: true}
	})
}

// SetData stores one key of the agent-owned state. Value is encoded as JSON; nil removes the key.
func (t *TurnController) SetData(key string, value any) error {
	raw, err := encodeData(key, value)
	if err != nil {
		return err
	}
	_, err = ask(t, func(c *plainCall) session.Message {
		return session.SetData{Ticket: c, Turn: t.run.id, Key: key, Value: raw}
	})
	return err
}

func encodeData(key string, value any) (json.RawMessage, error) {
	if value == nil {
		return nil, nil
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding data %q: %w", key, err)
	}
	return raw, nil
}

// SetCancel registers the hook that stops what the turn drives. The last one counts; it runs once, on a goroutine of its own, when the turn is cancelled. One that
// is registered after that runs at once, here, and its error is returned. A hook that fails is told in the
// turn's error, and the turn is cancelled all the same.
func (t *TurnController) SetCancel(hook func() error) error { return t.run.setHook(hook) }

// Finish completes the turn. Items are upserted in the same append as the terminal record: a last message costs no extra
// commit. It returns when that is durable. Only the first ending counts; after another one it is [ErrTurnEnded].
func (t *TurnController) Finish(result string, items ...messages.Item) error {
	own := make([]messages.Item, len(items)) // Theirs stay with the caller, who need not put them into the heap.
	for i := range items {
		own[i] = cleaned(items[i])
	}
	return t.end(func(c *plainCall) session.Message {
		return session.Finish{Ticket: c, Turn: t.run.id, Result: valid(result), Items: own}
	})
}

// Fail ends the turn with an error. It is like [TurnController.Finish] otherwise.
func (t *TurnController) Fail(err error) error {
	text := "failed without a reason"
	if err != nil {
		text = valid(err.Error())
	}
	return t.end(func(c *plainCall) session.Message {
		return session.Fail{Ticket: c, Turn: t.run.id, Error: text}
	})
}

func (t *TurnController) end(make func(*plainCall) session.Message) error {
	_, err := ask(t, make)
	if err == nil {
		t.ended.Store(true)
		t.run.cancel(errTurnOver) // The turn's actor is not told of an end of which the agent is.
	}
	return err
}

// over reports whether the agent has ended the turn itself.
func (t *TurnController) over() bool { return t.ended.Load() }

// ask sends a message that carries a ticket to the session and waits for the answer. It does not listen to the turn's
// context: the session always answers, and while a turn is being stopped the answer still counts.
func ask[T any](t *TurnController, make func(*call[T]) session.Message) (T, error) {
	c, life := newCall[T](), t.entry.lifetime()
	t.entry.send(make(c))
	value, err := c.wait(context.Background(), life)
	if err != nil {
		return value, fmt.Errorf("session %q, turn %q: %w", t.entry.id, t.run.id, err)
	}
	return value, nil
}
