package actors_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"agentd/actors"
	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/jsonfile"
	"agentd/persistence/memory"
)

// percentile returns the pth percentile of durations, which it sorts.
func percentile(samples []time.Duration, p float64) time.Duration {
	slices.Sort(samples)
	return samples[min(int(float64(len(samples))*p/100), len(samples)-1)]
}

func openFiles(b *testing.B, dir string) *jsonfile.Store {
	b.Helper()
	store, err := jsonfile.Open(dir, nil)
	if err != nil {
		b.Fatal(err)
	}
	return store
}

// fsyncLimit is the median of an append of size bytes and a sync, on the same disk.
func fsyncLimit(b *testing.B, dir string, size int) time.Duration {
	b.Helper()
	f, err := os.Create(filepath.Join(dir, "limit"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, size)
	samples := make([]time.Duration, 200)
	for i := range samples {
		begin := time.Now()
		if _, err := f.Write(block); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		samples[i] = time.Since(begin)
	}
	return percentile(samples, 50)
}

// BenchmarkTurnAlone is the latency of a durable turn when nothing else happens, beside the fsynced append of the same run.
func BenchmarkTurnAlone(b *testing.B) {
	dir := b.TempDir()
	rt := benchRuntime(b, openFiles(b, dir))
	id := benchIDs(b, rt, 1)[0]
	limit := fsyncLimit(b, dir, 600)
	samples := make([]time.Duration, 0, b.N)
	b.ResetTimer()
	for range b.N {
		begin := time.Now()
		h, err := rt.RunTurn(b.Context(), id, "hello", actors.RunOptions{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := h.Wait(b.Context()); err != nil {
			b.Fatal(err)
		}
		samples = append(samples, time.Since(begin))
	}
	p50 := percentile(samples, 50)
	b.ReportMetric(float64(p50.Microseconds()), "p50-µs")
	b.ReportMetric(float64(limit.Microseconds()), "fsync-p50-µs")
	b.ReportMetric(float64(p50)/float64(limit), "times-fsync")
}

// BenchmarkCancel is the time from Cancel to the durable end, for an agent that obeys.
func BenchmarkCancel(b *testing.B) {
	dir := b.TempDir()
	rt := benchRuntime(b, openFiles(b, dir))
	registerWaiting(b, rt)
	head, err := rt.CreateSession(b.Context(), "waiting", actors.CreateOptions{})
	if err != nil {
		b.Fatal(err)
	}
	limit := fsyncLimit(b, dir, 600)
	samples := make([]time.Duration, 0, b.N)
	b.ResetTimer()
	for range b.N {
		h, err := rt.RunTurn(b.Context(), head.ID, "wait", actors.RunOptions{})
		if err != nil {
			b.Fatal(err)
		}
		begin := time.Now()
		if err := h.Cancel(b.Context()); err != nil {
			b.Fatal(err)
		}
		samples = append(samples, time.Since(begin))
	}
	b.ReportMetric(float64(percentile(samples, 99).Microseconds()), "p99-µs")
	b.ReportMetric(float64(percentile(samples, 50).Microseconds()), "p50-µs")
	b.ReportMetric(float64(limit.Microseconds()), "fsync-p50-µs")
}

// registerWaiting adds an agent that waits for its cancel.
func registerWaiting(b *testing.B, rt *actors.Runtime) {
	b.Helper()
	err := rt.Agents().Register("waiting", func() (actors.Agent, error) {
		return actors.AgentFunc(func(ctx context.Context, _ *actors.TurnContext) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}), nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkIdleSession is the memory of a live session that does nothing and has no items, beside what the memory store keeps of it: that is measured
// alone, and printed too. A session with a file has nothing of it in memory.
func BenchmarkIdleSession(b *testing.B) {
	const count = 20_000
	for range b.N {
		store := storeShare(b, count)
		rt := benchRuntimeOf(b, memory.New(), &actors.Options{FoldDelay: time.Hour}) // What the store makes of them is the store's.
		before, spansBefore := heap()
		benchIDs(b, rt, count)
		after, spansAfter := heap()
		b.ReportMetric(float64(after-before)/count-store, "B/session")
		b.ReportMetric(float64(spansAfter-spansBefore)/count-store, "B-with-gaps/session")
		b.ReportMetric(store, "store-B/session")
	}
	b.ReportMetric(0, "ns/op")
}

// storeShare is what a memory store takes for each of so many new sessions, in bytes.
func storeShare(b *testing.B, count int) float64 {
	b.Helper()
	store := memory.New()
	before, _ := heap()
	for range count {
		id := messages.NewSessionID()
		handle, err := store.Create(b.Context(), id)
		if err != nil {
			b.Fatal(err)
		}
		rec, err := messages.EncodeChange(1, 1_700_000_000, messages.Created{AgentID: "instant", Epoch: handle.Epoch})
		if err != nil {
			b.Fatal(err)
		}
		if err := errors.Join(store.Commit(b.Context(), []persistence.Append{{Handle: handle, ID: 1, Records: []messages.Record{rec}}})...); err != nil {
			b.Fatal(err)
		}
	}
	after, _ := heap()
	share := float64(after-before) / float64(count)
	if err := store.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
	return share
}

// heap is what lives in the heap after a collection; and what the heap and the stacks occupy, with the gaps that the dead have left.
func heap() (live, occupied int64) {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc), int64(stats.HeapInuse + stats.StackInuse)
}

// BenchmarkWake is the time to the first answer of a session of 100 items that is not in memory.
func BenchmarkWake(b *testing.B) {
	dir := b.TempDir()
	const sessions = 500
	ids := fillSessions(b, dir, sessions, 50)
	var samples []time.Duration
	for b.Loop() {
		b.StopTimer()
		rt := benchRuntime(b, openFiles(b, dir))
		b.StartTimer()
		for _, id := range ids {
			begin := time.Now()
			sub, err := rt.Subscribe(b.Context(), id, actors.SubscribeOptions{Live: true})
			if err != nil {
				b.Fatal(err)
			}
			samples = append(samples, time.Since(begin))
			sub.Close()
		}
		b.StopTimer()
		if err := rt.Stop(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(percentile(samples, 50).Microseconds()), "p50-µs")
	b.ReportMetric(float64(percentile(samples, 99).Microseconds()), "p99-µs")
}

// fillSessions stores sessions of the given number of turns (two items each) and leaves them folded.
func fillSessions(b *testing.B, dir string, sessions, turns int) []messages.SessionID {
	b.Helper()
	rt := benchRuntime(b, openFiles(b, dir))
	ids := benchIDs(b, rt, sessions)
	var wait sync.WaitGroup
	for _, id := range ids {
		wait.Go(func() {
			for range turns {
				h, err := rt.RunTurn(b.Context(), id, "hello", actors.RunOptions{})
				if err != nil {
					b.Error(err)
					return
				}
				if _, err := h.Wait(b.Context()); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	if err := rt.Stop(context.Background()); err != nil {
		b.Fatal(err)
	}
	return ids
}

// BenchmarkRestart is a start on 10,000 stored sessions of which 100 were in mid-turn at a kill: how long until the
// runtime takes calls, and until each of the 100 is idle and usable.
func BenchmarkRestart(b *testing.B) {
	const stored, running = 10_000, 100
	image, hurt := crashImage(b, stored, running)
	for b.Loop() {
		b.StopTimer()
		dir := b.TempDir()
		if err := os.CopyFS(dir, os.DirFS(image)); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		begin := time.Now()
		rt := benchRuntime(b, openFiles(b, dir))
		ready := time.Since(begin)
		for _, id := range hurt {
			head, err := rt.Session(b.Context(), id)
			if err != nil {
				b.Fatal(err)
			}
			if head.Head.Turn == nil || head.Head.Turn.Status != messages.TurnInterrupted {
				b.Fatalf("session %q: turn %+v, want interrupted", id, head.Head.Turn)
			}
			if _, err := rt.RunTurn(b.Context(), id, "again", actors.RunOptions{}); err != nil {
				b.Fatal(err)
			}
		}
		usable := time.Since(begin)
		b.ReportMetric(float64(ready.Milliseconds()), "ready-ms")
		b.ReportMetric(float64(usable.Milliseconds()), "usable-ms")
		b.StopTimer()
		if err := rt.Stop(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// crashImage makes a data directory as a kill leaves it. The sessions in mid-turn belong to the instant agent, so that they
// can be used again.
func crashImage(b *testing.B, stored, running int) (image string, hurt []messages.SessionID) {
	b.Helper()
	dir, image := b.TempDir(), b.TempDir()
	ids := fillSessions(b, dir, stored, 1)
	store := openFiles(b, dir)
	for _, id := range ids[:running] {
		handle, doc, err := store.Open(b.Context(), id)
		if err != nil {
			b.Fatal(err)
		}
		changes := []messages.Change{
			messages.Opened{Epoch: handle.Epoch},
			messages.TurnStarted{Turn: &messages.Turn{ID: "turn-lost", Status: messages.TurnRunning}},
			messages.ItemAppended{Item: &messages.Item{ID: "itm-lost", Type: messages.ItemMessage, Role: messages.RoleUser, Content: "hello", TurnID: "turn-lost"}},
		}
		records := make([]messages.Record, len(changes))
		for i, change := range changes {
			if records[i], err = messages.EncodeChange(doc.Head.LastSeq+uint64(i)+1, 1, change); err != nil {
				b.Fatal(err)
			}
		}
		batch := []persistence.Append{{Handle: handle, ID: 1, After: doc.Head.LastSeq, Records: records}}
		if err := store.Commit(b.Context(), batch)[0]; err != nil {
			b.Fatal(err)
		}
	}
	if err := os.CopyFS(image, os.DirFS(dir)); err != nil { // What a kill leaves: nothing is closed.
		b.Fatal(err)
	}
	if err := store.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
	return image, ids[:running]
}

// BenchmarkList is a listing of 10,000 sessions by a runtime that has read none of them.
func BenchmarkList(b *testing.B) {
	const stored = 10_000
	dir := b.TempDir()
	fillSessions(b, dir, stored, 1)
	for b.Loop() {
		b.StopTimer()
		rt := benchRuntime(b, openFiles(b, dir))
		b.StartTimer()
		listing, err := rt.ListSessions(b.Context())
		if err != nil || len(listing.Sessions) != stored {
			b.Fatal(fmt.Errorf("%d sessions: %w", len(listing.Sessions), err))
		}
		b.StopTimer()
		if err := rt.Stop(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
