package actors

import (
	"hash/maphash"

	"github.com/asynkron/protoactor-go/actor"

	"agentd/messages"
)

// strand is one goroutine that runs the actors of some sessions, and of their turns. There are as many as processors. A session stays with its
// strand, so that what it has in memory is mostly near the processor that needs it next; none of these actors blocks, so that it waits for another
// session for microseconds.
type strand struct {
	dispatcher *dispatcher
	// session and turn describe the actors. There is one description for all: a session's actor finds its entry by its name, so that an idle session has
	// none of its own.
	session, turn *actor.Props
}

func newStrands(rt *Runtime, count int) []*strand {
	strands := make([]*strand, count)
	for i := range strands {
		d := newDispatcher(1)
		on := actor.WithDispatcher(d)
		strands[i] = &strand{
			dispatcher: d,
			// A turns' actor is not restarted: its agent would run twice.
			session: guard("session", rt.logger, func() behaviour { return &sessionActor{runtime: rt} }, on, actor.WithSupervisor(&restartWithin{logger: rt.logger})),
			turn:    guard("turn", rt.logger, func() behaviour { return &turnActor{runtime: rt} }, on),
		}
	}
	return strands
}

// strandOf returns the strand of a session: always the same one.
func (rt *Runtime) strandOf(id messages.SessionID) *strand {
	return rt.strands[rt.spread.place(id, len(rt.strands))]
}

// spread gives sessions places, evenly, whatever their ids look like, and each the same one every time.
type spread struct{ seed maphash.Seed }

func newSpread() spread { return spread{seed: maphash.MakeSeed()} }

func (s spread) place(id messages.SessionID, places int) int {
	return int(maphash.String(s.seed, string(id)) % uint64(places)) //nolint:gosec // It is below places.
}
