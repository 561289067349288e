package actors

import (
	"context"
	"errors"
	"log/slog"

	"github.com/asynkron/protoactor-go/actor"

	"agentd/messages"
	"agentd/persistence"
)

// snapshotActors is how many snapshot actors there are. More writers than these only lengthen the tail
// of atomic file writes.
const snapshotActors = 8

type (
	// openRequest asks for the handle and the document of a session; with create, for the handle of a new one. Again
	// says that an earlier incarnation of the same actor may have created it.
	openRequest struct {
		from   *actor.PID
		id     messages.SessionID
		create bool
		again  bool
	}

	// opened answers an openRequest.
	opened struct {
		handle persistence.Handle
		doc    *messages.Document
		err    error
	}

	// foldRequest asks for the snapshot of a session to be written. Done may be nil. Held says that it is asked for the sake of an old
	// segment, and is not needed any more when the session holds none back: a sweep asks again while the last one's requests wait.
	foldRequest struct {
		id   messages.SessionID
		done *plainCall
		held bool
	}

	// removeRequest asks for the files of a deleted session to be removed.
	removeRequest struct {
		from *actor.PID
		id   messages.SessionID
	}

	// removed answers a removeRequest.
	removed struct{ err error }
)

// snapshotActor reads and writes the snapshots of its share of the sessions, one at a time, so that opening,
// folding and removing one session never overlap. It blocks in file I/O, and nowhere else.
type snapshotActor struct {
	store  persistence.Store
	root   *actor.RootContext
	logger *slog.Logger
}

func (s *snapshotActor) started(actor.Context) {}

func (s *snapshotActor) receive(c actor.Context, msg any) {
	ctx := context.Background() // What was begun is finished.
	switch m := msg.(type) {
	case openRequest:
		c.Send(m.from, s.open(ctx, m))
	case foldRequest:
		s.fold(ctx, m)
	case removeRequest:
		c.Send(m.from, removed{err: s.store.Delete(ctx, m.id)})
	}
}

// fold writes a snapshot. A failure loses nothing: the records stay in the journal, and the next round tries again.
func (s *snapshotActor) fold(ctx context.Context, m foldRequest) {
	if m.held && !s.store.UnfoldedOf(m.id).Holds {
		return
	}
	err := s.store.Fold(ctx, m.id)
	switch {
	case m.done != nil:
		m.done.put(struct{}{}, err)
	case err != nil && !isGone(err):
		s.logger.Error("folding a session", slog.String("session", string(m.id)), slog.Any("error", err))
	}
}

func (s *snapshotActor) open(ctx context.Context, m openRequest) opened {
	var answer opened
	if m.create {
		answer.doc = messages.NewDocument(m.id)
		answer.handle, answer.err = s.store.Create(ctx, m.id)
	}
	if !m.create || m.again && errors.Is(answer.err, persistence.ErrExists) {
		answer.handle, answer.doc, answer.err = s.store.Open(ctx, m.id)
	}
	return answer
}

func isGone(err error) bool {
	return errors.Is(err, persistence.ErrNotFound) || errors.Is(err, persistence.ErrDeleted)
}

func (s *snapshotActor) stopping(actor.Context) {}

// refuse answers a request that panicked or came too late. The session that asked to be opened fails.
func (s *snapshotActor) refuse(msg any, err error) {
	switch m := msg.(type) {
	case openRequest:
		s.root.Send(m.from, opened{err: err})
	case removeRequest:
		s.root.Send(m.from, removed{err: err})
	case foldRequest:
		if m.done != nil {
			m.done.fail(err)
		}
	}
}
