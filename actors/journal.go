package actors

import (
	"context"
	"errors"

	"github.com/asynkron/protoactor-go/actor"

	"agentd/actors/internal/session"
	"agentd/messages"
	"agentd/persistence"
)

// commitRequest asks the journal for one append on behalf of a session. It is sent as a pointer, and its answer comes back in the same piece of memory.
type commitRequest struct {
	from   *actor.PID
	append persistence.Append
	// few are the records of most appends.
	few    [2]messages.Record
	answer committed
}

// committed tells a session how its append went. The epoch keeps the answer to an older incarnation apart.
type committed struct {
	epoch   uint64
	outcome session.Committed
}

// commitNow makes the journal commit what it has taken. It comes to it behind everything that was queued before: that
// is how one commit holds all that waits, and how a lone append does not wait for others.
type commitNow struct{}

// journalDesk is what the journal has taken and not answered. It outlives an incarnation, so that a panic
// loses nothing: the next one commits it again, and a repeat is harmless.
type journalDesk struct {
	requests []*commitRequest
	// appends are theirs.
	appends []persistence.Append
}

// journalActor group-commits the appends of all sessions. It blocks in write and fsync, and nowhere else.
type journalActor struct {
	store persistence.Store
	desk  *journalDesk
	// marked says that a commitNow is in the mailbox.
	marked bool
}

func (j *journalActor) started(c actor.Context) {
	if len(j.desk.appends) > 0 {
		j.mark(c)
	}
}

func (j *journalActor) receive(c actor.Context, msg any) {
	switch m := msg.(type) {
	case *commitRequest:
		j.desk.requests = append(j.desk.requests, m)
		j.desk.appends = append(j.desk.appends, m.append)
		j.mark(c)
	case commitNow:
		j.marked = false
		j.commit(c)
	}
}

func (j *journalActor) mark(c actor.Context) {
	if !j.marked {
		j.marked = true
		c.Send(c.Self(), commitNow{})
	}
}

func (j *journalActor) commit(c actor.Context) {
	desk := j.desk
	// No deadline and no cancel: an append that was begun is answered.
	errs := j.store.Commit(context.Background(), desk.appends)
	for i, request := range desk.requests {
		request.answer = committed{epoch: request.append.Handle.Epoch, outcome: outcomeOf(request.append.ID, errs[i])}
		c.Send(request.from, &request.answer)
	}
	clear(desk.requests)
	clear(desk.appends)
	desk.requests, desk.appends = desk.requests[:0], desk.appends[:0]
}

// outcomeOf classifies the error of an append for the session.
func outcomeOf(id uint64, err error) session.Committed {
	if err == nil {
		return session.Committed{ID: id}
	}
	return session.Committed{ID: id, Err: err, Dead: isDead(err), Unknown: errors.Is(err, persistence.ErrUnknown)}
}

// isDead reports whether the writer that got the error can write no more.
func isDead(err error) bool {
	for _, final := range []error{persistence.ErrConflict, persistence.ErrFenced, persistence.ErrDeleted, persistence.ErrClosed} {
		if errors.Is(err, final) {
			return true
		}
	}
	return false
}

func (j *journalActor) stopping(actor.Context) {}

// refuse has nothing to answer: the sessions are gone before the journal stops, and a request whose commit panicked is on the desk.
func (j *journalActor) refuse(any, error) {}
