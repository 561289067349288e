package storetest

import (
	"context"
	"testing"

	"agentd/messages"
	"agentd/persistence"
)

func contextWithCancel(tb testing.TB) (context.Context, context.CancelFunc) {
	tb.Helper()
	return context.WithCancel(tb.Context())
}

// order are the promises about numbers, repeats and batches.
func order() []promise {
	return []promise{
		{"an append that does not follow is refused and kills the handle", testConflict},
		{"records are numbered in a row", testNumbering},
		{"a repeat stores nothing new", testRepeat},
		{"the appends of a batch do not touch each other", testBatch},
	}
}

func testConflict(t *trial) {
	for _, wrong := range []uint64{0, 1, 3, 1 << 62} {
		id := messages.NewSessionID()
		store := t.open(t)
		w := create(t, store, id)
		w.fill(1)
		a := w.next(messages.ItemAppended{Item: new(item(1))})
		a.After = wrong
		a.Records[0].Seq = wrong + 1
		wantError(t, "Commit(wrong After)", commit(t, store, a), persistence.ErrConflict)
		wantError(t, "Commit(dead handle)", w.try(messages.ItemAppended{Item: new(item(1))}), persistence.ErrConflict)
		w.check()
		take(t, store, id).fill(1)
		wantError(t, "Commit(dead and fenced handle)", w.try(messages.ItemAppended{Item: new(item(1))}), persistence.ErrFenced)
		if err := store.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func testNumbering(t *trial) {
	store := t.open(t)
	for name, spoil := range map[string]func([]messages.Record){
		"a gap":          func(r []messages.Record) { r[1].Seq++ },
		"a double":       func(r []messages.Record) { r[1].Seq-- },
		"a claim inside": func(r []messages.Record) { r[1].Kind, r[1].Body = messages.KindOpened, []byte(`{"epoch":1}`) },
		"after the end":  func(r []messages.Record) { r[0].Kind, r[0].Body = messages.KindDeleted, []byte(`{}`) },
	} {
		w := create(t, store, messages.NewSessionID())
		a := w.next(messages.ItemAppended{Item: new(item(0))}, messages.ItemAppended{Item: new(item(1))})
		spoil(a.Records)
		wantError(t, "Commit("+name+")", commit(t, store, a), persistence.ErrConflict)
		w.check()
	}
}

func testRepeat(t *trial) {
	store := t.open(t)
	handle, err := store.Create(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	w := &writer{tb: t, store: store, handle: handle, want: messages.NewDocument("s1")}
	for i := range 4 {
		changes := []messages.Change{messages.ItemAppended{Item: new(item(2 * i))}, messages.ItemAppended{Item: new(item(2*i + 1))}}
		if i == 0 {
			changes = append([]messages.Change{messages.Created{AgentID: "a", Epoch: 1}}, changes...)
		}
		a := w.next(changes...)
		for range 3 {
			if err := commit(t, store, a); err != nil {
				t.Fatalf("Commit(repeat) = %v", err)
			}
		}
		w.stored(a)
		w.check()
		if i%2 == 1 {
			if err := store.Fold(t.Context(), "s1"); err != nil {
				t.Fatal(err)
			}
			if err := commit(t, store, a); err != nil {
				t.Fatalf("Commit(repeat after a fold) = %v", err)
			}
			w.check()
		}
	}
	// The same id with other records is no repeat.
	a := w.next(messages.ItemAppended{Item: new(item(100))})
	if err := commit(t, store, a); err != nil {
		t.Fatal(err)
	}
	w.stored(a)
	other := a
	other.Records = []messages.Record{{Seq: a.Records[0].Seq, Kind: a.Records[0].Kind, At: a.Records[0].At, Body: []byte(`{"id":"x","type":"message"}`)}}
	wantError(t, "Commit(same id, other records)", commit(t, store, other), persistence.ErrConflict)
	w.check()
}

func testBatch(t *trial) {
	store := t.open(t)
	fenced := create(t, store, "fenced")
	take(t, store, "fenced")
	var writers []*writer
	batch := []persistence.Append{fenced.next(messages.ItemAppended{Item: new(item(0))})}
	for i := range 20 {
		w := create(t, store, messages.NewSessionID())
		a := w.next(messages.ItemAppended{Item: new(item(0))}, messages.ItemAppended{Item: new(item(1))})
		if i%5 == 2 {
			a.After = 77
		}
		writers = append(writers, w)
		batch = append(batch, a)
	}
	batch = append(batch, persistence.Append{
		Handle: persistence.Handle{Session: "unknown", Epoch: 5}, ID: 1, After: 9,
		Records: []messages.Record{{Seq: 10, Kind: messages.KindItem, Body: []byte(`{}`)}},
	})
	errs := store.Commit(t.Context(), batch)
	if len(errs) != len(batch) {
		t.Fatalf("Commit = %d errors, want %d", len(errs), len(batch))
	}
	wantError(t, "Commit(fenced)", errs[0], persistence.ErrFenced)
	if last := errs[len(errs)-1]; last == nil || !persistence.IsPermanent(last) {
		t.Errorf("Commit(unknown session) = %v, want a permanent error", last)
	}
	for i, w := range writers {
		switch {
		case i%5 == 2:
			wantError(t, "Commit(conflict)", errs[i+1], persistence.ErrConflict)
		case errs[i+1] != nil:
			t.Errorf("Commit(good one in a mixed batch) = %v", errs[i+1])
		default:
			w.stored(batch[i+1])
		}
		w.check()
	}
}
