package bridge

import (
	"context"
	"log/slog"
	"time"

	"agentd/messages"
)

// maxRetired is how many idle links one open closes, so that it stays short.
const maxRetired = 4

// retire closes links that were idle for too long, but for the one that was just opened. Whoever opens one pays for it, since nobody tells the
// bridge that a session is gone.
func (b *Bridge) retire(ctx context.Context, opened messages.SessionID) {
	for _, session := range b.idle(time.Now(), opened) {
		if err := b.Close(ctx, session); err != nil {
			b.options.Logger.Warn("an idle link to OpenCode was not closed well", slog.String("session", string(session)), slog.Any("error", err))
		}
	}
}

// idle returns some sessions whose links were not opened for a while and have no call.
func (b *Bridge) idle(now time.Time, opened messages.SessionID) []messages.SessionID {
	b.mu.Lock()
	defer b.mu.Unlock()
	var sessions []messages.SessionID
	for id, e := range b.links {
		if len(sessions) == maxRetired {
			break
		}
		if id != opened && e.link != nil && !e.link.bound() && now.Sub(e.used) > b.options.IdleTimeout {
			sessions = append(sessions, id)
		}
	}
	return sessions
}
