package storetest

import (
	"testing"

	"agentd/persistence"
	"agentd/testkit/storetest/simdisk"
)

// Backend is a storage, and the way to open a store on it.
type Backend struct {
	// Open opens the store, for the first time or again after it was closed or killed.
	Open func() (persistence.Store, error)
	// Durable says that what was stored is there again after the store was closed and opened.
	Durable bool
	// Disk is what the storage stands on, when it can be made to fail and to forget. It implies Durable.
	Disk *simdisk.Disk
}

// Factory makes an empty backend.
type Factory func(tb testing.TB) *Backend

// promise is a test of the suite.
type promise struct {
	name string
	test func(t *trial)
}

// trial is one run of a promise's test.
type trial struct {
	*testing.T
	*Backend
}

// Run checks every promise of package persistence.
func Run(t *testing.T, factory Factory) {
	t.Helper()
	probe := factory(t)
	groups := [][]promise{contents(), order(), epochs(), folding(), deletion(), listing(), concurrency()}
	if probe.Durable || probe.Disk != nil {
		groups = append(groups, reopening())
	} else {
		t.Log("the store is not durable: reopening is not tested")
	}
	if probe.Disk != nil {
		groups = append(groups, faults(), kills())
	} else {
		t.Log("the store has no disk that fails: faults and kills are not tested")
	}
	for _, group := range groups {
		for _, p := range group {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				p.test(&trial{T: t, Backend: factory(t)})
			})
		}
	}
	t.Run("model", func(t *testing.T) {
		t.Parallel()
		models(t, factory)
	})
}

// open opens the store of a backend, and closes it after the test.
func (b *Backend) open(tb testing.TB) persistence.Store {
	tb.Helper()
	store, err := b.Open()
	if err != nil {
		tb.Fatalf("opening the store: %v", err)
	}
	tb.Cleanup(func() {
		if b.Disk != nil {
			b.Disk.Kill()
		}
		_ = store.Close(tb.Context())
	})
	return store
}

// reopen closes a store cleanly and opens it again.
func (b *Backend) reopen(tb testing.TB, store persistence.Store) persistence.Store {
	tb.Helper()
	if err := store.Close(tb.Context()); err != nil {
		tb.Fatalf("Close = %v", err)
	}
	return b.open(tb)
}
