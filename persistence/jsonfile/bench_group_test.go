package jsonfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/jsonfile/diskfs"
)

// groupSessions is how many sessions append at the same time.
const groupSessions = 1000

// commitRequest is an append that waits for its batch.
type commitRequest struct {
	append persistence.Append
	done   chan error
}

// batches takes whatever waits, hands it over at once, and answers all of it, until in is closed.
func batches(in <-chan commitRequest, commit func([]persistence.Append) []error) {
	var waiting []commitRequest
	var batch []persistence.Append
	for first := range in {
		waiting = append(waiting[:0], first)
		for more := true; more && len(waiting) < groupSessions; {
			select {
			case next, open := <-in:
				if more = open; open {
					waiting = append(waiting, next)
				}
			default:
				more = false
			}
		}
		batch = batch[:0]
		for i := range waiting {
			batch = append(batch, waiting[i].append)
		}
		for i, err := range commit(batch) {
			waiting[i].done <- err
		}
	}
}

// runGroup lets every session append b.N/groupSessions times, two records at a time.
func runGroup(b *testing.B, handles []persistence.Handle, commit func([]persistence.Append) []error) {
	b.Helper()
	requests := make(chan commitRequest, groupSessions)
	var writer, sessions sync.WaitGroup
	writer.Go(func() { batches(requests, commit) })
	records := turnRecords(b, 0)
	rounds := max(1, b.N/groupSessions)
	b.ResetTimer()
	for _, handle := range handles {
		sessions.Go(func() {
			done := make(chan error, 1)
			for round := range rounds {
				after := uint64(1 + 2*round)
				requests <- commitRequest{persistence.Append{
					Handle: handle, ID: uint64(round + 2), After: after, Records: renumber(records, after),
				}, done}
				if err := <-done; err != nil {
					b.Errorf("append = %v", err)
				}
			}
		})
	}
	sessions.Wait()
	b.StopTimer()
	close(requests)
	writer.Wait()
	total := float64(rounds * len(handles))
	b.ReportMetric(total/b.Elapsed().Seconds(), "appends/s")
	b.ReportMetric(2*total/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkGroupCommit is the throughput of the store with many sessions. Beside it stands BenchmarkBareGroupCommit.
func BenchmarkGroupCommit(b *testing.B) {
	store := open(b, b.TempDir(), nil)
	var handles []persistence.Handle
	for i := range groupSessions {
		handles = append(handles, begin(b, store, messages.SessionID(fmt.Sprintf("agt-ses-%05d", i))))
	}
	b.ReportAllocs()
	runGroup(b, handles, func(batch []persistence.Append) []error { return store.Commit(b.Context(), batch) })
}

// BenchmarkBareGroupCommit is the limit of the machine: the same goroutines, and a writer that does nothing but put the bodies
// in a row, write and sync.
func BenchmarkBareGroupCommit(b *testing.B) {
	file, err := diskfs.OS{}.OpenFile(filepath.Join(b.TempDir(), "bare"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	handles := make([]persistence.Handle, groupSessions)
	var buf []byte
	var off int64
	runGroup(b, handles, func(batch []persistence.Append) []error {
		buf = buf[:0]
		errs := make([]error, len(batch))
		for i := range batch {
			for _, rec := range batch[i].Records {
				buf = append(append(buf, rec.Body...), '\n')
			}
		}
		_, err := file.WriteAt(buf, off)
		if err == nil {
			err = file.Sync()
		}
		off += int64(len(buf))
		for i := range errs {
			errs[i] = err
		}
		return errs
	})
}
