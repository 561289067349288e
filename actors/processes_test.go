package actors

import (
	"log/slog"
	"strconv"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
)

// An engine with a small register finds what it had in it before, and everything that comes.
func TestShrinkRegister(t *testing.T) {
	t.Parallel()
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }))
	defer system.Shutdown()
	shrinkRegister(system)
	shrinkRegister(system) // Again is harmless.
	if got := len(system.ProcessRegistry.LocalPIDs.LocalPIDs); got != processBuckets {
		t.Fatalf("the register has %d buckets, want %d", got, processBuckets)
	}
	for _, own := range []string{"eventstream", "deadletter"} {
		if process, found := system.ProcessRegistry.Get(system.NewLocalPID(own)); !found || process == nil {
			t.Errorf("the engine's process %q is not found any more", own)
		}
	}
	answers := make(chan string, 100)
	props := actor.PropsFromFunc(func(c actor.Context) {
		if name, ok := c.Message().(string); ok {
			answers <- name
		}
	})
	for i := range cap(answers) {
		name := "child-" + strconv.Itoa(i)
		pid, err := system.Root.SpawnNamed(props, name)
		if err != nil {
			t.Fatalf("SpawnNamed(%s) = %v", name, err)
		}
		if _, err := system.Root.SpawnNamed(props, name); err == nil {
			t.Errorf("SpawnNamed(%s) a second time succeeded", name)
		}
		system.Root.Send(system.NewLocalPID(pid.Id), name)
		if got := <-answers; got != name {
			t.Errorf("the actor %s was told %q", name, got)
		}
		if err := system.Root.StopFuture(pid).Wait(); err != nil {
			t.Errorf("stopping %s: %v", name, err)
		}
		if _, found := system.ProcessRegistry.Get(system.NewLocalPID(pid.Id)); found {
			t.Errorf("the actor %s is found after its end", name)
		}
	}
}
