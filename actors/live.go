package actors

import "github.com/asynkron/protoactor-go/actor"

// Live is what a runtime has running at one moment.
type Live struct {
	// Sessions is the number of sessions in memory.
	Sessions int
	// Actors is the number of actors of every kind, those of the sessions and turns included.
	Actors int
	// Goroutines is the number of agents, cancel hooks, callbacks and saves that have not returned.
	Goroutines int
}

// Live counts what runs now, for diagnosis and for tests that look for leaks. After [Runtime.Stop] all counts are zero, unless an
// agent, a hook or a callback was left behind. It does not block, and takes about a millisecond.
func (rt *Runtime) Live() Live {
	live := Live{Goroutines: rt.workers.count()}
	rt.live.entries.Range(func(any, any) bool {
		live.Sessions++
		return true
	})
	for _, bucket := range rt.system.ProcessRegistry.LocalPIDs.LocalPIDs {
		bucket.IterCb(func(_ string, process any) {
			if _, ok := process.(*actor.ActorProcess); ok { // The engine keeps processes of its own there, too.
				live.Actors++
			}
		})
	}
	return live
}
