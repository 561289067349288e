package actors

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"
)

// processBuckets is how many maps of 32 shards each the engine's register of processes has. Its own choice is 1024, which are 3 MB of empty maps in every
// program and a cold piece of memory for each lookup; the processors that this is for are few.
const processBuckets = 8

// shrinkRegister gives an engine in which nothing runs yet a small register. What the engine itself has in it moves along.
func shrinkRegister(system *actor.ActorSystem) {
	register := system.ProcessRegistry.LocalPIDs
	old := register.LocalPIDs
	if len(old) <= processBuckets {
		return
	}
	kept := make(map[string]any)
	for _, bucket := range old {
		for id, process := range bucket.Items() {
			kept[id] = process
			bucket.Remove(id)
		}
	}
	register.LocalPIDs = slices.Clone(old[:processBuckets]) // The engine finds the bucket by their number.
	for id, process := range kept {
		register.GetBucket(id).Set(id, process)
	}
}
