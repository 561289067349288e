package actors

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"agentd/actors/internal/session"
	"agentd/messages"
	"agentd/persistence"
)

// commitRequest asks the journal for one append on behalf of a session. It is sent as a pointer, and comes back as the answer. Then it is used again for
// another one, with the memory of its bodies, which is most of what a commit needs.
type commitRequest struct {
	from   *actor.PID
	append persistence.Append
	// few are the records of most appends, and bodies is where the bodies lie.
	few    [2]messages.Record
	bodies []byte
	// outcome is the answer.
	outcome session.Committed
}

// committed tells a session how its append went.
type committed struct{ request *commitRequest }

// keptBodies is the most memory of bodies that a request keeps for the next one.
const keptBodies = 16 << 10

// commitRequests are those that wait to be used again.
type commitRequests struct{ idle sync.Pool }

func (r *commitRequests) get() *commitRequest {
	if request, ok := r.idle.Get().(*commitRequest); ok {
		return request
	}
	return &commitRequest{}
}

// put takes a request back that was answered. Nobody may hold it any more.
func (r *commitRequests) put(request *commitRequest) {
	bodies := request.bodies[:0]
	if cap(bodies) > keptBodies {
		bodies = nil
	}
	*request = commitRequest{bodies: bodies}
	r.idle.Put(request)
}

// commitNow makes the journal commit what it has taken. It comes to it behind everything that was queued before: that
// is how one commit holds all that waits, and how a lone append does not wait for others.
type commitNow struct{}

// encode makes the records of a commit. Their bodies lie in one piece of memory.
func (r *commitRequest) encode(e *session.Commit) error {
	size := 0
	for _, change := range e.Changes {
		size += messages.BodySize(change)
	}
	records, bodies := r.few[:0], slices.Grow(r.bodies[:0], size)
	for i, change := range e.Changes {
		start := len(bodies)
		var err error
		if bodies, err = messages.AppendBody(bodies, change); err != nil {
			return err
		}
		records = append(records, messages.Record{
			Seq: e.After + uint64(i) + 1, Kind: change.Kind(), At: e.At, Body: bodies[start:len(bodies):len(bodies)],
		})
	}
	r.append.Records, r.bodies = records, bodies
	return nil
}

// journalDesk is what the journal has taken and not answered. It outlives an incarnation, so that a panic
// loses nothing: the next one commits it again, and a repeat is harmless.
type journalDesk struct {
	requests []*commitRequest
	// appends are theirs.
	appends []persistence.Append
	// answered is how many in front were answered. They belong to their sessions again.
	answered int
}

// clear takes those off that were answered.
func (d *journalDesk) clear() {
	d.requests, d.appends = slices.Delete(d.requests, 0, d.answered), slices.Delete(d.appends, 0, d.answered)
	d.answered = 0
}

// journalActor group-commits the appends of all sessions. It blocks in write and fsync, and nowhere else.
type journalActor struct {
	store persistence.Store
	desk  *journalDesk
	// marked says that a commitNow is in the mailbox.
	marked bool
}

func (j *journalActor) started(c actor.Context) {
	j.desk.clear()
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
		desk.answered++
		request.outcome = outcomeOf(request.append.ID, errs[i])
		c.Send(request.from, committed{request: request})
	}
	desk.clear()
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
