package space

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"agentd/actors"
	"agentd/messages"
	"agentd/providers/opencode"
)

// EventReplaced is the type of the event item that tells that OpenCode had lost its session, and with it what was said before.
const EventReplaced = "opencode-session-replaced"

// The times of settling a session that is still at work.
const (
	settleWithin = 20 * time.Second
	settlePause  = 100 * time.Millisecond
)

// adopt finds or makes the OpenCode session. One that was seen idle in this life of OpenCode is taken as it is; that it has gone
// since is found out by the prompt.
func (t *turn) adopt(ctx context.Context) error {
	stored := storedSession(t.tc)
	if t.room.knows(t.link.Died(), stored) {
		t.session = stored
		return nil
	}
	if stored == "" {
		return t.create(ctx, "")
	}
	_, err := t.link.Client().Session(ctx, stored)
	if errors.Is(err, opencode.ErrSessionNotFound) {
		return t.create(ctx, stored)
	}
	if err != nil {
		return err
	}
	t.session = stored
	return t.settle(ctx)
}

func storedSession(tc *actors.TurnContext) string {
	var id string
	if raw, ok := tc.Session.Head.Data[DataKey]; ok && json.Unmarshal(raw, &id) == nil {
		return id
	}
	return ""
}

// create makes a session and keeps its id before anything is said in it. Lost is the session that it stands for, if any.
func (t *turn) create(ctx context.Context, lost string) error {
	t.room.forget()
	// With a title of ours OpenCode does not ask the model for one.
	made, err := t.link.Client().CreateSession(ctx, opencode.NewSession{Title: "agentd " + string(t.tc.Session.Head.ID)})
	if err != nil {
		return err
	}
	if err := t.tc.Turn.SetData(DataKey, made.ID); err != nil {
		return err
	}
	t.session = made.ID
	t.room.life, t.room.session, t.room.newest = t.link.Died(), made.ID, ""
	if lost == "" {
		return nil
	}
	data, err := json.Marshal(map[string]string{"lost": lost, "session": made.ID})
	if err != nil {
		return fmt.Errorf("encoding the event of a lost session: %w", err)
	}
	_, err = t.tc.Turn.AppendItem(messages.Item{Type: messages.ItemEvent, EventType: EventReplaced, Data: data})
	return err
}

// settle makes sure that nothing runs in the session, such as a turn from before a crash, and learns where it stands.
func (t *turn) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, settleWithin, fmt.Errorf("%w: session %q does not end what it does", ErrStuck, t.session))
	defer cancel()
	client := t.link.Client()
	for {
		busy, err := t.busy(ctx)
		if err != nil {
			return err
		}
		if !busy {
			break
		}
		if err := client.Abort(ctx, t.session); err != nil {
			return err
		}
		if err := pause(ctx, settlePause); err != nil {
			return err
		}
	}
	last, err := client.Messages(ctx, t.session, 1)
	if err != nil {
		return err
	}
	newest := ""
	for _, m := range last {
		newest = max(newest, m.ID)
	}
	t.room.life, t.room.session, t.room.newest = t.link.Died(), t.session, newest
	return nil
}

// busy asks whether OpenCode is at work in the session.
func (t *turn) busy(ctx context.Context) (bool, error) {
	statuses, err := t.link.Client().Statuses(ctx)
	if err != nil {
		return false, err
	}
	status, ok := statuses[t.session]
	return ok && status.Kind != opencode.Idle, nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
