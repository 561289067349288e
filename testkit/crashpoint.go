package testkit

import (
	"context"
	"sync"
	"sync/atomic"

	"agentd/messages"
	"agentd/persistence"
)

// CrashStore stands between a runtime and a store that outlives it. It can end the runtime's life as a killed process ends: from one moment
// on nothing of the runtime reaches the store and nothing that the store does is acknowledged. The store behind it is never closed, so that
// the next runtime finds what was stored:
//
//	disk := memory.New()
//	first := testkit.NewCrashStore(disk)
//	first.KillAt(3, testkit.BeforeStored)
//	// ... run a runtime on first until <-first.Killed()
//	// ... start the next one on testkit.NewCrashStore(disk)
//
// Call [CrashStore.Bury] before the end of the test, so that the runtime that was killed can end.
type CrashStore struct {
	inner persistence.Store
	// grave is closed by Bury: calls that hang since the kill end then.
	grave chan struct{}
	bury  sync.Once
	// killed is closed at the kill.
	killed chan struct{}
	kill   sync.Once
	closed atomic.Bool

	mu      sync.Mutex
	appends int
	at      int
	moment  Moment
}

// Moment says when a crash hits an append.
type Moment int

// The moments.
const (
	// BeforeStored means that the append is lost.
	BeforeStored Moment = iota
	// AfterStored means that the append is stored, and nobody was told.
	AfterStored
)

var _ persistence.Store = (*CrashStore)(nil)

// NewCrashStore returns a view of a store for one life of a runtime.
func NewCrashStore(inner persistence.Store) *CrashStore {
	return &CrashStore{inner: inner, grave: make(chan struct{}), killed: make(chan struct{})}
}

// KillAt kills the runtime at the nth append from now on, from 1. Appends of other sessions in the same batch are not stored.
func (s *CrashStore) KillAt(n int, moment Moment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at, s.moment = s.appends+n, moment
}

// Kill kills the runtime now.
func (s *CrashStore) Kill() { s.kill.Do(func() { close(s.killed) }) }

// Killed is closed when the runtime was killed.
func (s *CrashStore) Killed() <-chan struct{} { return s.killed }

// Appends is how many appends came.
func (s *CrashStore) Appends() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.appends
}

// Bury lets every call that hangs since the kill end, with [persistence.ErrClosed].
func (s *CrashStore) Bury() {
	s.Kill()
	s.bury.Do(func() { close(s.grave) })
}

// dead hangs until the burial if the runtime was killed, and reports whether it was.
func (s *CrashStore) dead() bool {
	select {
	case <-s.killed:
		<-s.grave
		return true
	default:
		return s.closed.Load()
	}
}

// Create implements [persistence.Store].
func (s *CrashStore) Create(ctx context.Context, id messages.SessionID) (persistence.Handle, error) {
	if s.dead() {
		return persistence.Handle{}, persistence.ErrClosed
	}
	return s.inner.Create(ctx, id)
}

// Open implements [persistence.Store].
func (s *CrashStore) Open(ctx context.Context, id messages.SessionID) (persistence.Handle, *messages.Document, error) {
	if s.dead() {
		return persistence.Handle{}, nil, persistence.ErrClosed
	}
	return s.inner.Open(ctx, id)
}

// Commit implements [persistence.Store].
func (s *CrashStore) Commit(ctx context.Context, batch []persistence.Append) []error {
	if s.dead() {
		return allClosed(len(batch))
	}
	fatal, moment := s.count(len(batch))
	switch {
	case fatal < 0:
		return s.inner.Commit(ctx, batch)
	case moment == AfterStored:
		s.inner.Commit(ctx, batch[:fatal+1])
	default:
		s.inner.Commit(ctx, batch[:fatal])
	}
	s.Kill()
	<-s.grave
	return allClosed(len(batch))
}

// count counts appends, and returns the place of the one that is fatal, or less than 0.
func (s *CrashStore) count(n int) (int, Moment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.appends
	s.appends += n
	if s.at > before && s.at <= s.appends {
		return s.at - before - 1, s.moment
	}
	return -1, s.moment
}

func allClosed(n int) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = persistence.ErrClosed
	}
	return errs
}

// Read implements [persistence.Store].
func (s *CrashStore) Read(ctx context.Context, id messages.SessionID) (*messages.Document, error) {
	if s.dead() {
		return nil, persistence.ErrClosed
	}
	return s.inner.Read(ctx, id)
}

// Page implements [persistence.Store].
func (s *CrashStore) Page(ctx context.Context, id messages.SessionID, query persistence.PageQuery) (persistence.Page, error) {
	if s.dead() {
		return persistence.Page{}, persistence.ErrClosed
	}
	return s.inner.Page(ctx, id, query)
}

// Head implements [persistence.Store].
func (s *CrashStore) Head(ctx context.Context, id messages.SessionID) (messages.Head, error) {
	if s.dead() {
		return messages.Head{}, persistence.ErrClosed
	}
	return s.inner.Head(ctx, id)
}

// List implements [persistence.Store].
func (s *CrashStore) List(ctx context.Context) (persistence.Listing, error) {
	if s.dead() {
		return persistence.Listing{}, persistence.ErrClosed
	}
	return s.inner.List(ctx)
}

// Delete implements [persistence.Store].
func (s *CrashStore) Delete(ctx context.Context, id messages.SessionID) error {
	if s.dead() {
		return persistence.ErrClosed
	}
	return s.inner.Delete(ctx, id)
}

// Fold implements [persistence.Store].
func (s *CrashStore) Fold(ctx context.Context, id messages.SessionID) error {
	if s.dead() {
		return persistence.ErrClosed
	}
	return s.inner.Fold(ctx, id)
}

// Unfolded implements [persistence.Store].
func (s *CrashStore) Unfolded() []persistence.Unfolded { return s.inner.Unfolded() }

// UnfoldedOf implements [persistence.Store].
func (s *CrashStore) UnfoldedOf(id messages.SessionID) persistence.Unfolded {
	return s.inner.UnfoldedOf(id)
}

// Close implements [persistence.Store]. The store behind stays open.
func (s *CrashStore) Close(context.Context) error {
	s.closed.Store(true)
	return nil
}
