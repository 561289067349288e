package jsonfile_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/jsonfile"
	"agentd/persistence/jsonfile/diskfs"
)

// turnRecords are the records of half a turn, as one append.
func turnRecords(tb testing.TB, after uint64) []messages.Record {
	tb.Helper()
	return []messages.Record{
		record(tb, after+1, messages.ItemAppended{Item: new(message(int(after + 1)))}),
		record(tb, after+2, messages.ItemAppended{Item: new(message(int(after + 2)))}),
	}
}

// renumber gives records the numbers that follow, so that a benchmark measures the store and not the encoder.
func renumber(records []messages.Record, after uint64) []messages.Record {
	out := slices.Clone(records)
	for i := range out {
		out[i].Seq = after + 1 + uint64(i)
	}
	return out
}

// nth returns a percentile of durations.
func nth(times []time.Duration, percent int) time.Duration {
	slices.Sort(times)
	return times[min(len(times)-1, len(times)*percent/100)]
}

// countingFS counts what is written.
type countingFS struct {
	diskfs.FS
	bytes int64
}

type countingFile struct {
	diskfs.File
	fs *countingFS
}

func (f *countingFS) OpenFile(path string, flag int, perm os.FileMode) (diskfs.File, error) {
	file, err := f.FS.OpenFile(path, flag, perm)
	return countingFile{file, f}, err
}

func (f countingFile) WriteAt(p []byte, off int64) (int, error) {
	f.fs.bytes += int64(len(p))
	return f.File.WriteAt(p, off)
}

// BenchmarkAppend is a lone durable append to sessions of different lengths. The figures must not depend on the length.
func BenchmarkAppend(b *testing.B) {
	for _, items := range []int{100, 100_000} {
		b.Run(fmt.Sprintf("items=%d", items), func(b *testing.B) {
			dir := b.TempDir()
			writeSnapshot(b, dir, "long", items)
			disk := &countingFS{FS: diskfs.OS{}}
			store := open(b, dir, &jsonfile.Options{FS: disk})
			handle, _, err := store.Open(b.Context(), "long")
			if err != nil {
				b.Fatal(err)
			}
			after := uint64(items + 1)
			mustCommit(b, store, persistence.Append{Handle: handle, ID: 1, After: after, Records: []messages.Record{
				record(b, after+1, messages.Opened{Epoch: handle.Epoch}),
			}})
			after++
			records := turnRecords(b, 0)
			disk.bytes = 0
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				mustCommit(b, store, persistence.Append{Handle: handle, ID: uint64(i + 2), After: after, Records: renumber(records, after)})
				after += 2
			}
			b.ReportMetric(float64(disk.bytes)/float64(b.N), "written-B/op")
		})
	}
}

// BenchmarkLoneAppend is the median of one fsynced append, beside that of the bare system calls.
func BenchmarkLoneAppend(b *testing.B) {
	store := open(b, b.TempDir(), nil)
	handle := begin(b, store, "lone")
	records := turnRecords(b, 0)
	size := 2 * (len(records[0].Body) + 100)
	bare, err := diskfs.OS{}.OpenFile(filepath.Join(b.TempDir(), "bare"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	var ours, theirs []time.Duration
	after, off := uint64(1), int64(0)
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		mustCommit(b, store, persistence.Append{Handle: handle, ID: uint64(i + 2), After: after, Records: renumber(records, after)})
		ours = append(ours, time.Since(start))
		after += 2
		start = time.Now()
		if _, err := bare.WriteAt(make([]byte, size), off); err != nil {
			b.Fatal(err)
		}
		if err := bare.Sync(); err != nil {
			b.Fatal(err)
		}
		theirs = append(theirs, time.Since(start))
		off += int64(size)
	}
	b.ReportMetric(float64(nth(ours, 50).Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(nth(theirs, 50).Nanoseconds()), "machine-p50-ns")
}

// BenchmarkTailPage reads the last page of a long session from a store that has just been opened.
func BenchmarkTailPage(b *testing.B) {
	dir := b.TempDir()
	writeSnapshot(b, dir, "long", 100_000)
	store := open(b, dir, nil)
	b.ReportAllocs()
	for b.Loop() {
		page, err := store.Page(b.Context(), "long", persistence.PageQuery{Limit: 50})
		if err != nil || len(page.Items) != 50 {
			b.Fatalf("Page = %d items, %v, want 50", len(page.Items), err)
		}
	}
}

// BenchmarkRead wakes a session of 100 items.
func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	writeSnapshot(b, dir, "usual", 100)
	store := open(b, dir, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := store.Read(b.Context(), "usual"); err != nil {
			b.Fatal(err)
		}
	}
}

// stocked makes a data directory with 10,000 stored sessions, of which some have unfolded records of a running turn. A kill is
// a copy of the files as they are.
func stocked(b *testing.B, running int) string {
	b.Helper()
	dir := b.TempDir()
	for i := range 10_000 {
		writeSnapshot(b, dir, messages.SessionID(fmt.Sprintf("agt-ses-%05d", i)), 3)
	}
	store, err := jsonfile.Open(dir, nil)
	if err != nil {
		b.Fatal(err)
	}
	var batch []persistence.Append
	for i := range running {
		id := messages.SessionID(fmt.Sprintf("agt-ses-%05d", i))
		handle, _, err := store.Open(b.Context(), id)
		if err != nil {
			b.Fatal(err)
		}
		batch = append(batch, persistence.Append{Handle: handle, ID: 1, After: 4, Records: []messages.Record{
			record(b, 5, messages.Opened{Epoch: 2}),
			record(b, 6, messages.TurnStarted{Turn: &messages.Turn{ID: "turn-1", Status: messages.TurnRunning}}),
			record(b, 7, messages.ItemAppended{Item: new(message(7))}),
		}})
	}
	for _, err := range store.Commit(b.Context(), batch) {
		if err != nil {
			b.Fatal(err)
		}
	}
	killed, cancel := context.WithCancel(b.Context())
	cancel()
	if err := store.Close(killed); err == nil && running > 0 {
		b.Fatal("Close folded although its context had ended")
	}
	return dir
}

// BenchmarkOpen opens a directory of 10,000 sessions with 100 in mid-turn.
func BenchmarkOpen(b *testing.B) {
	dir := stocked(b, 100)
	killed, cancel := context.WithCancel(b.Context())
	cancel()
	for b.Loop() {
		store, err := jsonfile.Open(dir, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if got := len(store.Report().Running); got != 100 {
			b.Fatalf("running = %d, want 100", got)
		}
		if err := store.Close(killed); err == nil {
			b.Fatal("Close folded although its context had ended")
		}
		b.StartTimer()
	}
}

// BenchmarkList lists 10,000 sessions with a store that was just opened, beside reading one block of each file.
func BenchmarkList(b *testing.B) {
	dir := stocked(b, 0)
	store := open(b, dir, nil)
	for b.Loop() {
		listing, err := store.List(b.Context())
		if err != nil || len(listing.Sessions) != 10_000 {
			b.Fatalf("List = %d sessions, %v, want 10000", len(listing.Sessions), err)
		}
	}
	b.StopTimer()
	start := time.Now()
	entries, err := os.ReadDir(filepath.Join(dir, "agent-sessions"))
	if err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 4096)
	for _, entry := range entries {
		if entry.IsDir() {
			continue
		}
		file, err := os.Open(filepath.Join(dir, "agent-sessions", entry.Name()))
		if err != nil {
			b.Fatal(err)
		}
		_, _ = file.Read(buf)
		_ = file.Close()
	}
	b.ReportMetric(float64(time.Since(start).Nanoseconds()), "machine-ns")
}

// BenchmarkFold folds a session of 100 items that has got the four records of a turn.
func BenchmarkFold(b *testing.B) {
	dir := b.TempDir()
	writeSnapshot(b, dir, "usual", 100)
	store := open(b, dir, nil)
	handle, _, err := store.Open(b.Context(), "usual")
	if err != nil {
		b.Fatal(err)
	}
	mustCommit(b, store, persistence.Append{Handle: handle, ID: 1, After: 101, Records: []messages.Record{record(b, 102, messages.Opened{Epoch: 2})}})
	after, id := uint64(102), uint64(1)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		for range 2 {
			id++
			mustCommit(b, store, persistence.Append{Handle: handle, ID: id, After: after, Records: turnRecords(b, after)})
			after += 2
		}
		b.StartTimer()
		if err := store.Fold(b.Context(), "usual"); err != nil {
			b.Fatal(err)
		}
	}
}
