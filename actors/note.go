package actors

import (
	"context"
	"errors"
	"log/slog"

	"agentd/actors/internal/session"
	"agentd/messages"
	"agentd/persistence"
	"agentd/presets"
)

// noteDecision makes an item of a decision that no waiting call records: the question was asked ahead, and its turn may have
// ended. It wakes the session, so it has a goroutine.
func (rt *Runtime) noteDecision(decision presets.Decision) {
	if decision.RequestID == "" || rt.stopping.Load() {
		return
	}
	if decision.Outcome == presets.OutcomeCancelled && decision.TurnID != "" {
		return // Its turn ends, and closes what it asked in the same append.
	}
	rt.spawn("the note of a decision", decision.SessionID, func() {
		item, err := eventItem(session.EventApprovalDecided, "itm-decision-"+messages.ItemID(decision.RequestID), decision)
		if err == nil {
			err = rt.note(context.Background(), decision.SessionID, item)
		}
		if err != nil && !isGone(err) && !errors.Is(err, ErrDeleted) && !errors.Is(err, ErrStopping) && !errors.Is(err, persistence.ErrClosed) {
			rt.logger.Error("noting a decision", slog.String("session", string(decision.SessionID)), slog.Any("error", err))
		}
	})
}

// note appends an event to a session outside of its turns.
func (rt *Runtime) note(ctx context.Context, id messages.SessionID, item messages.Item) error {
	_, err := withSession(ctx, rt, id, func(e *entry) (messages.Item, error) {
		c, life := newCall[messages.Item](), e.lifetime()
		e.send(session.Note{Ticket: c, Item: item})
		return c.wait(ctx, life)
	})
	return err
}
