package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"agentd/messages"
	"agentd/persistence"
)

// concurrency are the promises about calls at the same time.
func concurrency() []promise {
	return []promise{
		{"a reader sees a prefix while others write and fold", testPrefixReads},
		{"openings at the same time leave one writer", testRacingOpens},
	}
}

const (
	racingSessions = 6
	racingRounds   = 60
)

func racingID(i int) messages.SessionID { return messages.SessionID(fmt.Sprintf("race-%d", i)) }

func testPrefixReads(t *trial) {
	store := t.open(t)
	writers := make([]*writer, racingSessions)
	acked := make([]atomic.Int64, racingSessions)
	for i := range writers {
		writers[i] = create(t, store, racingID(i))
	}
	var busy, idle sync.WaitGroup
	var stop atomic.Bool
	for i := range writers {
		idle.Go(func() {
			for !stop.Load() {
				readPrefix(t, store, racingID(i), acked[i].Load())
			}
		})
		idle.Go(func() {
			for !stop.Load() {
				if err := store.Fold(t.Context(), racingID(i)); err != nil {
					t.Errorf("Fold = %v", err)
				}
				store.Unfolded()
				store.UnfoldedOf(racingID(i))
			}
		})
	}
	idle.Go(func() {
		for !stop.Load() {
			listing, err := store.List(t.Context())
			if err != nil || len(listing.Bad) > 0 || len(listing.Sessions) != racingSessions {
				t.Errorf("List = %d sessions, bad %+v, %v", len(listing.Sessions), listing.Bad, err)
			}
		}
	})
	busy.Go(func() { writeInBatches(t, store, writers, acked) })
	busy.Wait()
	stop.Store(true)
	idle.Wait()
	for _, w := range writers {
		w.check()
	}
}

// writeInBatches appends items to every session; each item is updated in the append after it.
func writeInBatches(tb testing.TB, store persistence.Store, writers []*writer, acked []atomic.Int64) {
	tb.Helper()
	for round := range racingRounds {
		var batch []persistence.Append
		for _, w := range writers {
			changes := []messages.Change{messages.ItemAppended{Item: new(item(round))}}
			if round > 0 {
				updated := item(round - 1)
				updated.Status = messages.CallCompleted
				changes = append(changes, messages.ItemUpdated{Item: &updated})
			}
			batch = append(batch, w.next(changes...))
		}
		for i, err := range store.Commit(tb.Context(), batch) {
			if err != nil {
				tb.Errorf("Commit = %v", err)
				return
			}
			writers[i].stored(batch[i])
			acked[i].Store(int64(round + 1))
		}
	}
}

// readPrefix reads a session and checks that it is what writeInBatches had written at some moment, no earlier than acked.
func readPrefix(tb testing.TB, store persistence.Store, id messages.SessionID, acked int64) {
	tb.Helper()
	doc, err := store.Read(tb.Context(), id)
	if err != nil {
		tb.Errorf("Read = %v", err)
		return
	}
	if int64(len(doc.Items)) < acked || doc.Head.ItemCount != len(doc.Items) {
		tb.Errorf("Read = %d items, head says %d, %d were acknowledged", len(doc.Items), doc.Head.ItemCount, acked)
	}
	for i := range doc.Items {
		if doc.Items[i].ID != item(i).ID || (i < len(doc.Items)-1) != (doc.Items[i].Status == messages.CallCompleted) {
			tb.Errorf("item %d of %d is %q with status %q: no prefix", i, len(doc.Items), doc.Items[i].ID, doc.Items[i].Status)
			return
		}
	}
	page, err := store.Page(tb.Context(), id, persistence.PageQuery{Limit: 5})
	if err != nil || page.Start+len(page.Items) != page.Head.ItemCount {
		tb.Errorf("Page = start %d, %d items, head says %d, %v", page.Start, len(page.Items), page.Head.ItemCount, err)
		return
	}
	for i := range page.Items {
		if page.Items[i].ID != item(page.Start+i).ID {
			tb.Errorf("page item %d is %q", page.Start+i, page.Items[i].ID)
		}
	}
	if head, err := store.Head(tb.Context(), id); err != nil || int64(head.ItemCount) < acked {
		tb.Errorf("Head = %d items, %v, %d were acknowledged", head.ItemCount, err, acked)
	}
}

// testRacingOpens opens one session from many goroutines, while a fold runs, and lets each claim and write: one after the other
// is fenced, and what was acknowledged is there.
func testRacingOpens(t *trial) {
	store := t.open(t)
	create(t, store, "s1")
	var mu sync.Mutex
	commits := func(batch []persistence.Append) error {
		mu.Lock()
		defer mu.Unlock()
		return store.Commit(t.Context(), batch)[0]
	}
	var group sync.WaitGroup
	var stored atomic.Int64
	for i := range 8 {
		group.Go(func() {
			for round := range 10 {
				handle, doc, err := store.Open(t.Context(), "s1")
				if err != nil {
					t.Errorf("Open = %v", err)
					return
				}
				w := &writer{tb: t, store: store, handle: handle, want: doc}
				unique := item(0)
				unique.ID = messages.ItemID(fmt.Sprintf("by-%d-%d", i, round))
				err = commits([]persistence.Append{w.next(messages.Opened{Epoch: handle.Epoch}, messages.ItemAppended{Item: &unique})})
				if err == nil {
					stored.Add(1)
				} else {
					wantError(t, "Commit(racing)", err, persistence.ErrFenced)
				}
				if err := store.Fold(t.Context(), "s1"); i == 0 && err != nil {
					t.Errorf("Fold = %v", err)
				}
			}
		})
	}
	group.Wait()
	doc, err := store.Read(t.Context(), "s1")
	if err != nil || int64(len(doc.Items)) != stored.Load() {
		t.Errorf("Read = %d items, %v, want the %d that were acknowledged", len(doc.Items), err, stored.Load())
	}
}
