package storetest

import (
	"agentd/messages"
	"agentd/persistence"
)

// epochs are the promises about handles.
func epochs() []promise {
	return []promise{
		{"a session is created once", testCreateOnce},
		{"opening fences the older handle at once", testFencing},
		{"a handle's first record claims its epoch", testClaim},
		{"an opening without an append changes nothing stored", testSilentOpen},
	}
}

func testCreateOnce(t *trial) {
	store := t.open(t)
	first, err := store.Create(t.Context(), "s1")
	if err != nil || first.Session != "s1" || first.Epoch != 1 {
		t.Fatalf("Create = %+v, %v, want epoch 1", first, err)
	}
	// Nobody has stored anything: the second one takes over.
	second, err := store.Create(t.Context(), "s1")
	if err != nil {
		t.Fatalf("Create again before the first append = %v", err)
	}
	late := &writer{tb: t, store: store, handle: first, want: messages.NewDocument("s1")}
	wantError(t, "Commit(older handle)", late.try(messages.Created{AgentID: "late", Epoch: first.Epoch}), persistence.ErrFenced)
	w := &writer{tb: t, store: store, handle: second, want: messages.NewDocument("s1")}
	w.must(messages.Created{AgentID: "a", Epoch: second.Epoch})
	_, err = store.Create(t.Context(), "s1")
	wantError(t, "Create(stored)", err, persistence.ErrExists)
	if err := store.Fold(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	_, err = store.Create(t.Context(), "s1")
	wantError(t, "Create(folded)", err, persistence.ErrExists)
	w.fill(1)
	w.check()
}

func testFencing(t *trial) {
	store := t.open(t)
	first := create(t, store, "s1")
	first.fill(3)
	second := take(t, store, "s1")
	if second.handle.Epoch != first.handle.Epoch+1 {
		t.Errorf("epoch = %d after %d, want one more", second.handle.Epoch, first.handle.Epoch)
	}
	wantError(t, "Commit(fenced)", first.try(messages.ItemAppended{Item: new(item(9))}), persistence.ErrFenced)
	second.fill(2)
	// An opening that has stored nothing fences as well.
	third, _, err := store.Open(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, "Commit(fenced by a silent handle)", second.try(messages.ItemAppended{Item: new(item(9))}), persistence.ErrFenced)
	if err := store.Fold(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	wantError(t, "Commit(fenced, after a fold)", second.try(messages.ItemAppended{Item: new(item(9))}), persistence.ErrFenced)
	second.check()
	w := &writer{tb: t, store: store, handle: third, want: second.want}
	w.must(messages.Opened{Epoch: third.Epoch}, messages.ItemAppended{Item: new(item(9))})
	w.check()
}

func testClaim(t *trial) {
	store := t.open(t)
	create(t, store, "s1").fill(1)
	for name, changes := range map[string][]messages.Change{
		"no claim":        {messages.ItemAppended{Item: new(item(5))}},
		"the wrong epoch": {messages.Opened{Epoch: 99}},
		"a creation":      {messages.Created{AgentID: "x", Epoch: 2}},
		"the claim late":  {messages.ItemAppended{Item: new(item(5))}, messages.Opened{Epoch: 2}},
	} {
		handle, doc, err := store.Open(t.Context(), "s1")
		if err != nil {
			t.Fatal(err)
		}
		w := &writer{tb: t, store: store, handle: handle, want: doc}
		a := w.next(changes...)
		wantError(t, "Commit("+name+")", commit(t, store, a), persistence.ErrConflict)
		w.check()
	}
	handle, err := store.Create(t.Context(), "s2")
	if err != nil {
		t.Fatal(err)
	}
	w := &writer{tb: t, store: store, handle: handle, want: messages.NewDocument("s2")}
	wantError(t, "Commit(opened before created)", commit(t, store, w.next(messages.Opened{Epoch: handle.Epoch})), persistence.ErrConflict)
	_, err = store.Read(t.Context(), "s2")
	wantError(t, "Read(nothing stored)", err, persistence.ErrNotFound)
}

func testSilentOpen(t *trial) {
	store := t.open(t)
	w := create(t, store, "s1")
	w.fill(2)
	for range 3 {
		if _, _, err := store.Open(t.Context(), "s1"); err != nil {
			t.Fatal(err)
		}
	}
	w.check()
	take(t, store, "s1").check()
}
