package actors_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"agentd/messages"
)

// bareWriter is the limit of the machine for durable turns: goroutines that append the same bytes through one writer that
// commits whatever is queued with one write and one sync. It has no sessions, no actors, no rules and no recovery.
type bareWriter struct {
	file  *os.File
	queue chan bareAppend
	done  chan struct{}
	err   error
}

type bareAppend struct {
	body  []byte
	ready chan struct{}
}

func newBareWriter(b *testing.B, name string) *bareWriter {
	b.Helper()
	file, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	w := &bareWriter{file: file, queue: make(chan bareAppend, benchSessions), done: make(chan struct{})}
	go w.run()
	return w
}

func (w *bareWriter) run() {
	defer close(w.done)
	var buffer []byte
	var waiting []chan struct{}
	for first := range w.queue {
		buffer, waiting = append(buffer[:0], first.body...), append(waiting[:0], first.ready)
		for more := true; more; {
			select {
			case next, ok := <-w.queue:
				if more = ok; ok {
					buffer, waiting = append(buffer, next.body...), append(waiting, next.ready)
				}
			default:
				more = false
			}
		}
		if _, err := w.file.Write(buffer); err != nil {
			w.err = err
		}
		if err := w.file.Sync(); err != nil {
			w.err = err
		}
		for _, ready := range waiting {
			ready <- struct{}{}
		}
	}
}

// BenchmarkTurnsBare is the bare loop beside BenchmarkTurnsDurable: as many goroutines, the same records, two commits for each turn.
func BenchmarkTurnsBare(b *testing.B) {
	begin, end := bareRecords(b)
	w := newBareWriter(b, filepath.Join(b.TempDir(), "bare.log"))
	before := cpuTime(b)
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ResetTimer()
	var wait sync.WaitGroup
	for range benchSessions {
		wait.Go(func() {
			ready := make(chan struct{}, 1)
			for left.Add(-1) >= 0 {
				for _, body := range [][]byte{begin, end} {
					w.queue <- bareAppend{body: body, ready: ready}
					<-ready
				}
			}
		})
	}
	wait.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/turn")
	close(w.queue)
	<-w.done
	if w.err != nil || w.file.Close() != nil {
		b.Fatal(w.err)
	}
}

// bareRecords are the bytes that the journal writes for the beginning and for the end of a turn of the instant agent.
func bareRecords(b *testing.B) (begin, end []byte) {
	b.Helper()
	dir := b.TempDir()
	store := openFiles(b, dir)
	rt := benchRuntime(b, store)
	runTurnsOf(b, rt, benchIDs(b, rt, 1), 1)
	page, err := rt.Session(context.Background(), onlySession(b, rt))
	if err != nil {
		b.Fatal(err)
	}
	records := func(changes ...messages.Change) []byte {
		var out []byte
		for i, change := range changes {
			rec, err := messages.EncodeChange(uint64(i+1), 1_700_000_000, change)
			if err != nil {
				b.Fatal(err)
			}
			frame := `00000000 {"session":"` + string(page.Head.ID) + `","seq":1,"kind":"` + string(rec.Kind) + `","at":1700000000,"body":` + string(rec.Body) + "}\n"
			out = append(out, frame...)
		}
		return out
	}
	turn := *page.Head.Turn
	return records(messages.TurnStarted{Turn: turn}, messages.ItemAppended{Item: &page.Items[0]}),
		records(messages.ItemAppended{Item: &page.Items[1]}, messages.TurnEnded{Turn: turn})
}
