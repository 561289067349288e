package actors_test

import (
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"agentd/messages"
)

// bareWriter is the limit of the machine for durable turns: goroutines make the records of turns and append them through one writer that
// frames and commits whatever is queued with one write and one sync. It has no sessions, no actors, no rules, no memory of anything and no recovery.
type bareWriter struct {
	file  *os.File
	table *crc32.Table
	queue chan bareAppend
	done  chan struct{}
	err   error
}

type bareAppend struct {
	session messages.SessionID
	records [2]messages.Record
	ready   chan struct{}
}

func newBareWriter(b *testing.B, name string) *bareWriter {
	b.Helper()
	file, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	w := &bareWriter{file: file, table: crc32.MakeTable(crc32.Castagnoli), queue: make(chan bareAppend, benchSessions), done: make(chan struct{})}
	go w.run()
	return w
}

func (w *bareWriter) run() {
	defer close(w.done)
	var buffer []byte
	var waiting []chan struct{}
	for first := range w.queue {
		buffer, waiting = w.frame(buffer[:0], &first), append(waiting[:0], first.ready)
		for more := true; more; {
			select {
			case next, ok := <-w.queue:
				if more = ok; ok {
					buffer, waiting = w.frame(buffer, &next), append(waiting, next.ready)
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

// frame appends the lines of two records, each behind its checksum.
func (w *bareWriter) frame(dst []byte, a *bareAppend) []byte {
	for i := range a.records {
		rec, start := &a.records[i], len(dst)
		dst = append(append(append(dst, `00000000 {"session":"`...), a.session...), `","seq":`...)
		dst = append(append(strconv.AppendUint(dst, rec.Seq, 10), `,"kind":"`...), rec.Kind...)
		dst = append(strconv.AppendInt(append(dst, `","at":`...), rec.At, 10), `,"body":`...)
		dst = append(append(dst, rec.Body...), '}')
		var sum [4]byte
		binary.BigEndian.PutUint32(sum[:], crc32.Checksum(dst[start+9:], w.table))
		hex.Encode(dst[start:], sum[:])
		dst = append(dst, '\n')
	}
	return dst
}

// BenchmarkTurnsBare is the bare loop beside BenchmarkTurnsDurable: as many goroutines, the same records, two commits for each turn.
func BenchmarkTurnsBare(b *testing.B) {
	w := newBareWriter(b, filepath.Join(b.TempDir(), "bare.log"))
	before := cpuTime(b)
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ResetTimer()
	var wait sync.WaitGroup
	for range benchSessions {
		wait.Go(func() {
			id, ready := messages.NewSessionID(), make(chan struct{}, 1)
			for seq := uint64(1); left.Add(-1) >= 0; seq += 4 {
				for _, records := range bareTurn(b, seq) {
					w.queue <- bareAppend{session: id, records: records, ready: ready}
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

// bareTurn makes the records of the two commits of a turn of the instant agent.
func bareTurn(b *testing.B, seq uint64) [2][2]messages.Record {
	const now = 1_700_000_000
	turn := &messages.Turn{ID: messages.NewTurnID(), Status: messages.TurnRunning, StartedAt: now}
	ended := new(*turn)
	ended.Status, ended.Result, ended.EndedAt = messages.TurnCompleted, "ok", now
	var records [4]messages.Record
	for i, change := range [...]messages.Change{
		messages.TurnStarted{Turn: turn},
		messages.ItemAppended{Item: &messages.Item{ID: messages.NewItemID(), Type: messages.ItemMessage, Role: messages.RoleUser, Content: "hello", TurnID: turn.ID, CreatedAt: now}},
		messages.ItemAppended{Item: &messages.Item{ID: messages.NewItemID(), Type: messages.ItemMessage, Role: messages.RoleAssistant, Content: "Done.", TurnID: turn.ID, CreatedAt: now}},
		messages.TurnEnded{Turn: ended},
	} {
		var err error
		if records[i], err = messages.EncodeChange(seq+uint64(i), now, change); err != nil {
			b.Error(err)
		}
	}
	return [2][2]messages.Record{{records[0], records[1]}, {records[2], records[3]}}
}
