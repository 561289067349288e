package actors_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"agentd/actors"
	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/jsonfile"
	"agentd/persistence/memory"
	"agentd/presets"
)

// benchSessions is how many sessions are busy at once in the throughput benchmarks.
const benchSessions = 1000

// instant is an agent that answers at once.
func instant(_ context.Context, t *actors.TurnContext) error {
	return t.Turn.Finish("ok", messages.Item{Type: messages.ItemMessage, Role: messages.RoleAssistant, Content: "Done."})
}

func benchRuntime(b *testing.B, store persistence.Store) *actors.Runtime {
	b.Helper()
	return benchRuntimeOf(b, store, nil)
}

func benchRuntimeOf(b *testing.B, store persistence.Store, opts *actors.Options) *actors.Runtime {
	b.Helper()
	agents := &actors.Agents{}
	if err := agents.Register("instant", func() (actors.Agent, error) { return actors.AgentFunc(instant), nil }); err != nil {
		b.Fatal(err)
	}
	manager, err := presets.NewManager(nil)
	if err != nil {
		b.Fatal(err)
	}
	rt, err := actors.Start(actors.Deps{Store: store, Agents: agents, Presets: manager}, opts)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := rt.Stop(context.Background()); err != nil {
			b.Error(err)
		}
	})
	return rt
}

func benchIDs(b *testing.B, rt *actors.Runtime, count int) []messages.SessionID {
	b.Helper()
	ids := make([]messages.SessionID, count)
	var next atomic.Int64
	var wait sync.WaitGroup
	for range 256 { // One for each would leave its bookkeeping in the heap.
		wait.Go(func() {
			for i := next.Add(1) - 1; i < int64(count); i = next.Add(1) - 1 {
				head, err := rt.CreateSession(b.Context(), "instant", actors.CreateOptions{})
				if err != nil {
					b.Error(err)
					return
				}
				ids[i] = head.ID
			}
		})
	}
	wait.Wait()
	return ids
}

// runTurns runs b.N turns over the sessions and reports how fast, and how much of it the system took for memory that was touched for the first time.
func runTurns(b *testing.B, rt *actors.Runtime, ids []messages.SessionID) {
	b.Helper()
	before, faults := cpuTime(b), pageFaults(b)
	runTurnsOf(b, rt, ids, b.N)
	b.StopTimer()
	used := cpuTime(b) - before
	faults = pageFaults(b) - faults
	b.ReportMetric(float64(faults)/float64(b.N)*float64(faultTime(b).Nanoseconds())/1000, "page-fault-µs/turn")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
	b.ReportMetric(float64(used.Microseconds())/float64(b.N), "cpu-µs/turn")
}

// runTurnsOf runs count turns over the sessions, one caller for each session.
func runTurnsOf(b *testing.B, rt *actors.Runtime, ids []messages.SessionID, count int) {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(count))
	var wait sync.WaitGroup
	for _, id := range ids {
		wait.Go(func() {
			ctx, cancel := context.WithCancel(b.Context()) // As requests have: one for all of them would be a lock for all of them.
			defer cancel()
			for left.Add(-1) >= 0 {
				h, err := rt.RunTurn(ctx, id, "hello", actors.RunOptions{})
				if err != nil {
					b.Error(err)
					return
				}
				if _, err := h.Wait(ctx); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
}

// benchTurns is the throughput with a store, in a process that grows with each turn, since all that is said stays in memory, and in one that has reached
// its size, where what others left is used again. Beside it stands what the system took for memory that was touched for the first time.
func benchTurns(b *testing.B, open func(*testing.B) persistence.Store) {
	b.Run("growing", func(b *testing.B) {
		rt := benchRuntime(b, open(b))
		ids := benchIDs(b, rt, benchSessions)
		b.ReportAllocs()
		b.ResetTimer()
		runTurns(b, rt, ids)
	})
	b.Run("steady", func(b *testing.B) {
		rt := benchRuntime(b, open(b))
		before := benchIDs(b, rt, benchSessions)
		runTurnsOf(b, rt, before, b.N)
		for _, id := range before {
			if err := rt.DeleteSession(b.Context(), id); err != nil {
				b.Fatal(err)
			}
		}
		ids := benchIDs(b, rt, benchSessions)
		b.ReportAllocs()
		b.ResetTimer()
		runTurns(b, rt, ids)
	})
}

func BenchmarkTurnsMemory(b *testing.B) {
	benchTurns(b, func(*testing.B) persistence.Store { return memory.New() })
}

// BenchmarkTurnsDurable is the throughput with each turn's input durable before its agent is called, and its end before anybody is told. BenchmarkTurnsBare is
// the machine's limit for it.
func BenchmarkTurnsDurable(b *testing.B) {
	benchTurns(b, func(b *testing.B) persistence.Store {
		store, err := jsonfile.Open(b.TempDir(), nil)
		if err != nil {
			b.Fatal(err)
		}
		return store
	})
}
