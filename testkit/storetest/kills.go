package storetest

import (
	"errors"
	"fmt"
	"testing"

	"agentd/messages"
	"agentd/persistence"
	"agentd/testkit/storetest/simdisk"
)

// kills are the promises about a process that ends at any point.
func kills() []promise {
	return []promise{
		{"a kill at every change of the disk", func(t *trial) { testKills(t, false) }},
		{"a power cut at every change of the disk", func(t *trial) { testKills(t, true) }},
	}
}

// testKills lives the same life again and again on fresh names, and ends it one change of the disk later each time.
func testKills(t *trial, cutPower bool) {
	for n := 1; ; n++ {
		life := &life{t: t.T, prefix: fmt.Sprintf("n%d-", n), acked: map[messages.SessionID]*messages.Document{}, asked: map[messages.SessionID]persistence.Append{}}
		t.Disk.Inject(simdisk.KillAtChange(n))
		finished := life.live(t.Backend)
		if cutPower {
			t.Disk.PowerCut(uint64(n % 4))
		} else {
			t.Disk.Kill()
		}
		store, err := t.Open()
		if err != nil {
			t.Fatalf("opening after a kill at change %d: %v", n, err)
		}
		life.check(store, n)
		// What was found, acknowledged or not, was shown, and stays.
		t.Disk.PowerCut(uint64(n % 3))
		if store, err = t.Open(); err != nil {
			t.Fatalf("opening after a power cut that followed a kill at change %d: %v", n, err)
		}
		life.check(store, n)
		if err := store.Close(t.Context()); err != nil {
			t.Fatalf("Close after a kill at change %d: %v", n, err)
		}
		// What the last life left is still there after a clean stop, even if the power goes then, and after the next life has begun.
		t.Disk.PowerCut(uint64(n % 3))
		if store, err = t.Open(); err != nil {
			t.Fatalf("opening again after a kill at change %d: %v", n, err)
		}
		life.check(store, n)
		t.Disk.Kill()
		if finished {
			return
		}
		if n > 2000 {
			t.Fatal("the life does not end")
		}
	}
}

// life is what one process does until it is killed, and what it was told.
type life struct {
	t      *testing.T
	prefix string
	// acked is what was acknowledged, asked the append that was not.
	acked map[messages.SessionID]*messages.Document
	asked map[messages.SessionID]persistence.Append
	// deleting is set when the deletion was asked for.
	deleting messages.SessionID
}

// live does a bit of everything. It reports whether it came to its end.
func (l *life) live(b *Backend) bool {
	store, err := b.Open()
	if err != nil {
		return false
	}
	var handles []*writer
	for i := range 3 {
		id := messages.SessionID(fmt.Sprintf("%s%d", l.prefix, i))
		handle, err := store.Create(l.t.Context(), id)
		if err != nil {
			return false
		}
		w := &writer{tb: l.t, store: store, handle: handle, want: messages.NewDocument(id)}
		handles = append(handles, w)
		l.acked[id] = w.want
		if !l.commit(w, messages.Created{AgentID: "a", Epoch: 1}, messages.ItemAppended{Item: new(item(0))}) {
			return false
		}
	}
	for round := 1; round < 4; round++ {
		for i, w := range handles {
			changed := item(round - 1)
			changed.Content = "changed"
			if !l.commit(w, messages.ItemAppended{Item: new(item(round))}, messages.ItemUpdated{Item: &changed}, messages.ItemAppended{Item: new(item(100 + round))}) {
				return false
			}
			if i == round%3 && store.Fold(l.t.Context(), w.handle.Session) != nil {
				return false
			}
		}
	}
	l.deleting = handles[0].handle.Session
	if !l.commit(handles[0], messages.Deleted{}) || store.Delete(l.t.Context(), l.deleting) != nil {
		return false
	}
	return store.Close(l.t.Context()) == nil
}

func (l *life) commit(w *writer, changes ...messages.Change) bool {
	a := w.next(changes...)
	l.asked[w.handle.Session] = a
	if commit(l.t, w.store, a) != nil {
		return false
	}
	w.stored(a)
	delete(l.asked, w.handle.Session)
	return true
}

// check compares a store with what was acknowledged.
func (l *life) check(store persistence.Store, n int) {
	l.t.Helper()
	for id, acked := range l.acked {
		got, err := store.Read(l.t.Context(), id)
		asked, open := l.asked[id]
		with := clone(acked)
		if open {
			apply(l.t, with, asked)
		}
		switch {
		case errors.Is(err, persistence.ErrDeleted) && id == l.deleting:
		case errors.Is(err, persistence.ErrNotFound) && acked.Head.LastSeq == 0:
		case err != nil:
			l.t.Fatalf("kill at change %d: Read(%q) = %v", n, id, err)
		case id == l.deleting && !open:
			l.t.Fatalf("kill at change %d: the deleted session is there", n)
		case diff(acked, got) == "":
		case open && diff(with, got) == "":
			// It was stored whole without an answer. From now on it must stay.
			l.acked[id] = with
			delete(l.asked, id)
		default:
			l.t.Fatalf("kill at change %d: Read(%q) is neither what was acknowledged nor that and the last append:\n%s", n, id, diff(acked, got))
		}
	}
	listing, err := store.List(l.t.Context())
	if err != nil || len(listing.Bad) > 0 {
		l.t.Fatalf("kill at change %d: List = %v, bad %+v", n, err, listing.Bad)
	}
}

func clone(doc *messages.Document) *messages.Document {
	return doc.Clone()
}
