package storetest

import (
	"context"

	"agentd/messages"
)

// reopening are the promises about a store that is opened again.
func reopening() []promise {
	return []promise{
		{"a clean stop leaves everything in snapshots", testCleanStop},
		{"a stop that could not fold loses nothing", testHastyStop},
		{"a handle of the last process is fenced by a new one", testOldHandle},
	}
}

func testCleanStop(t *trial) {
	store := t.open(t)
	var writers []*writer
	for range 5 {
		w := create(t, store, messages.NewSessionID())
		w.must(everyChange()...)
		writers = append(writers, w)
	}
	for range 3 {
		store = t.reopen(t, store)
		if got := store.Unfolded(); len(got) > 0 {
			t.Errorf("Unfolded after a clean stop = %+v", got)
		}
		for i, w := range writers {
			w.store = store
			w.check()
			again := take(t, store, w.handle.Session)
			again.must(messages.TurnStarted{Turn: &messages.Turn{ID: "next", Status: messages.TurnRunning}})
			writers[i] = again
		}
	}
}

func testHastyStop(t *trial) {
	store := t.open(t)
	w := create(t, store, "s1")
	w.fill(10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := store.Close(ctx); err == nil {
		t.Error("Close(ended context) = nil, want what could not be folded")
	}
	w.store = t.open(t)
	w.check()
	if got := w.store.UnfoldedOf("s1"); got.JournalBytes == 0 {
		t.Errorf("UnfoldedOf = %+v, want records in the journal", got)
	}
	take(t, w.store, "s1").fill(3)
}

func testOldHandle(t *trial) {
	store := t.open(t)
	old := create(t, store, "s1")
	old.fill(2)
	store = t.reopen(t, store)
	old.store = store
	take(t, store, "s1").fill(1)
	if err := old.try(messages.ItemAppended{Item: new(item(9))}); err == nil {
		t.Error("Commit(handle of the last process) = nil, want ErrFenced")
	}
}
