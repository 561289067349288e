package storetest

import (
	"testing"

	"agentd/messages"
	"agentd/persistence"
)

// folding are the promises about snapshots.
func folding() []promise {
	return []promise{
		{"folding changes nothing that is read", testFold},
		{"what is not folded is told", testUnfolded},
	}
}

func testFold(t *trial) {
	store := t.open(t)
	w := create(t, store, "s1")
	for round := range 6 {
		w.fill(round * 9)
		if round%2 == 1 {
			changed := item(round)
			changed.Content = "changed"
			w.must(messages.ItemUpdated{Item: &changed}, messages.DataSet{Key: "round", Value: []byte(`"x"`)})
		}
		for range 2 {
			if err := store.Fold(t.Context(), "s1"); err != nil {
				t.Fatalf("Fold = %v", err)
			}
			w.check()
		}
	}
	again := take(t, store, "s1")
	again.fill(3)
	again.check()
}

func testUnfolded(t *trial) {
	store := t.open(t)
	if got := store.Unfolded(); len(got) > 0 {
		t.Errorf("Unfolded(empty) = %+v", got)
	}
	w := create(t, store, "s1")
	first := store.UnfoldedOf("s1")
	if first.Session != "s1" || first.JournalBytes <= 0 || first.SnapshotBytes != 0 || first.Running {
		t.Errorf("UnfoldedOf(new) = %+v, want bytes in the journal alone", first)
	}
	w.must(messages.TurnStarted{Turn: &messages.Turn{ID: "t", Status: messages.TurnRunning}})
	running := store.UnfoldedOf("s1")
	if !running.Running || running.JournalBytes <= first.JournalBytes {
		t.Errorf("UnfoldedOf(running) = %+v, want a running turn and more bytes than %d", running, first.JournalBytes)
	}
	if err := store.Fold(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	folded := store.UnfoldedOf("s1")
	if folded.JournalBytes != 0 || folded.SnapshotBytes <= 0 || len(store.Unfolded()) > 0 {
		t.Errorf("UnfoldedOf(folded) = %+v, Unfolded = %+v, want nothing in the journal", folded, store.Unfolded())
	}
	w.must(messages.TurnEnded{Turn: &messages.Turn{ID: "t", Status: messages.TurnCompleted}})
	create(t, store, "s0")
	got := store.Unfolded()
	if len(got) != 2 || got[0].Session != "s0" || got[1].Session != "s1" || got[1].Running {
		t.Errorf("Unfolded = %+v, want s0 and s1, idle", got)
	}
	if diff := diff(got[1], store.UnfoldedOf("s1")); diff != "" {
		t.Errorf("UnfoldedOf differs from Unfolded: %s", diff)
	}
}

// deletion are the promises about tombstones.
func deletion() []promise {
	return []promise{
		{"a deletion needs its record", testDeleteUncommitted},
		{"a deleted session cannot be brought back", testTombstone},
		{"folding a deleted session deletes it", testFoldDeleted},
	}
}

func testDeleteUncommitted(t *trial) {
	store := t.open(t)
	w := create(t, store, "s1")
	if err := store.Delete(t.Context(), "s1"); err == nil || !persistence.IsPermanent(err) {
		t.Errorf("Delete(no deletion committed) = %v, want a permanent error", err)
	}
	w.fill(1)
	w.check()
}

// wantDeleted checks that nothing of a session can be reached.
func wantDeleted(tb testing.TB, store persistence.Store, id messages.SessionID) {
	tb.Helper()
	ctx := tb.Context()
	_, err := store.Create(ctx, id)
	wantError(tb, "Create(deleted)", err, persistence.ErrDeleted)
	_, _, err = store.Open(ctx, id)
	wantError(tb, "Open(deleted)", err, persistence.ErrDeleted)
	_, err = store.Read(ctx, id)
	wantError(tb, "Read(deleted)", err, persistence.ErrDeleted)
	_, err = store.Head(ctx, id)
	wantError(tb, "Head(deleted)", err, persistence.ErrDeleted)
	_, err = store.Page(ctx, id, persistence.PageQuery{})
	wantError(tb, "Page(deleted)", err, persistence.ErrDeleted)
	listing, err := store.List(ctx)
	if err != nil {
		tb.Errorf("List = %v", err)
	}
	for _, head := range listing.Sessions {
		if head.ID == id {
			tb.Errorf("List shows the deleted session %q", id)
		}
	}
}

func testTombstone(t *trial) {
	store := t.open(t)
	for _, folded := range []bool{false, true} {
		w := create(t, store, messages.NewSessionID())
		id := w.handle.Session
		w.fill(2)
		if folded {
			if err := store.Fold(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		a := w.next(messages.Deleted{})
		if err := commit(t, store, a); err != nil {
			t.Fatalf("Commit(deletion) = %v", err)
		}
		if err := commit(t, store, a); err != nil {
			t.Errorf("Commit(repeat of the deletion) = %v, want nil", err)
		}
		w.stored(a)
		wantDeleted(t, store, id)
		for range 2 {
			if err := store.Delete(t.Context(), id); err != nil {
				t.Errorf("Delete = %v", err)
			}
			wantDeleted(t, store, id)
		}
		wantError(t, "Commit(stale writer)", w.try(messages.ItemAppended{Item: new(item(9))}), persistence.ErrDeleted)
		if got := store.UnfoldedOf(id); got.JournalBytes != 0 || got.SnapshotBytes != 0 {
			t.Errorf("UnfoldedOf(deleted) = %+v, want nothing", got)
		}
		if t.Durable || t.Disk != nil {
			store = t.reopen(t, store)
			wantDeleted(t, store, id)
			if err := store.Delete(t.Context(), id); err != nil {
				t.Errorf("Delete after reopening = %v", err)
			}
		}
	}
}

func testFoldDeleted(t *trial) {
	store := t.open(t)
	w := create(t, store, "s1")
	w.fill(3)
	if err := store.Fold(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	w.must(messages.Deleted{})
	for range 2 {
		if err := store.Fold(t.Context(), "s1"); err != nil {
			t.Errorf("Fold(deleted) = %v", err)
		}
	}
	wantDeleted(t, store, "s1")
	if err := store.Delete(t.Context(), "s1"); err != nil {
		t.Errorf("Delete = %v", err)
	}
}

// listing are the promises about the list.
func listing() []promise {
	return []promise{{"the list has every session, latest first", testList}}
}

func testList(t *trial) {
	store := t.open(t)
	empty, err := store.List(t.Context())
	if err != nil || len(empty.Sessions)+len(empty.Bad) > 0 {
		t.Fatalf("List(empty) = %+v, %v", empty, err)
	}
	var want []messages.Head
	for i, id := range []messages.SessionID{"d", "c", "b", "a"} {
		w := create(t, store, id)
		w.fill(20 * (i / 2))
		if i%2 == 0 {
			if err := store.Fold(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		want = append([]messages.Head{w.want.Head}, want...)
	}
	if _, err := store.Create(t.Context(), "nothing-stored"); err != nil {
		t.Fatal(err)
	}
	got, err := store.List(t.Context())
	if err != nil || len(got.Bad) > 0 {
		t.Fatalf("List = %v, bad %+v", err, got.Bad)
	}
	sorted := persistence.Listing{Sessions: want}
	sorted.Sort()
	if diff := diff(sorted.Sessions, got.Sessions); diff != "" {
		t.Errorf("List differs (-want +got):\n%s", diff)
	}
}
