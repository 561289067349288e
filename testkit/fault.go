package testkit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"agentd/messages"
	"agentd/persistence"
)

// ErrInjected is the cause that every injected fault carries.
var ErrInjected = errors.New("injected fault")

// Op names a method of a store whose calls can be made to fail.
type Op string

// The operations. Commits are counted by appends, not by batches, so that the count does not depend on what was committed together.
const (
	OpCreate Op = "create"
	OpOpen   Op = "open"
	OpCommit Op = "commit"
	OpRead   Op = "read"
	OpDelete Op = "delete"
	OpFold   Op = "fold"
	OpClose  Op = "close"
)

// Fault is what happens to one call of a store. The zero value does nothing.
type Fault struct {
	// Delay is how long the call takes longer.
	Delay time.Duration
	// Err is the error that the call gives in place of its own. [ErrInjected] is joined to it.
	Err error
	// Stored says that the call was carried out although it gives Err: with [persistence.ErrUnknown], what is in doubt is there.
	Stored bool
	// Fence says that another writer opens the session just before.
	Fence bool
	// Panic makes the call panic, before anything is done.
	Panic bool
	// Wait holds the call back until the gate is open.
	Wait *Gate
}

// Faults returns the faults of an append that a session has to bear, by name.
func Faults() map[string]Fault {
	return map[string]Fault{
		"unavailable":        {Err: persistence.ErrUnavailable},
		"unknown-not-stored": {Err: persistence.ErrUnknown},
		"unknown-but-stored": {Err: persistence.ErrUnknown, Stored: true},
		"too large":          {Err: persistence.ErrTooLarge},
		"unclassified":       {Err: errors.New("input/output error")},
		"fenced":             {Fence: true},
		"conflict":           {Err: persistence.ErrConflict},
		"panic":              {Panic: true},
		"slow":               {Delay: time.Second},
	}
}

// FaultyStore is a store that fails when it is told to. It is safe for concurrent use.
type FaultyStore struct {
	persistence.Store

	mu     sync.Mutex
	calls  map[Op]int
	faults map[Op][]planned
}

// planned is a fault for the calls from one number to another.
type planned struct {
	from, to int
	session  messages.SessionID
	fault    Fault
}

var _ persistence.Store = (*FaultyStore)(nil)

// NewFaultyStore returns a store that does what another does, until it is told to fail.
func NewFaultyStore(store persistence.Store) *FaultyStore {
	return &FaultyStore{Store: store, calls: map[Op]int{}, faults: map[Op][]planned{}}
}

// Fail makes the nth call from now on fail, from 1.
func (s *FaultyStore) Fail(op Op, n int, fault Fault) { s.FailRange(op, n, n, fault) }

// FailRange makes the calls from one number to another fail, counted from now on.
func (s *FaultyStore) FailRange(op Op, from, to int, fault Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[op] = append(s.faults[op], planned{from: s.calls[op] + from, to: s.calls[op] + to, fault: fault})
}

// FailSession makes every call for one session fail from now on.
func (s *FaultyStore) FailSession(op Op, id messages.SessionID, fault Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[op] = append(s.faults[op], planned{session: id, fault: fault})
}

// Heal takes back every fault.
func (s *FaultyStore) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = map[Op][]planned{}
}

// Calls returns how often an operation was called; for [OpCommit] how many appends there were.
func (s *FaultyStore) Calls(op Op) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[op]
}

// next counts a call and returns its fault.
func (s *FaultyStore) next(op Op, id messages.SessionID) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[op]++
	n := s.calls[op]
	for _, p := range s.faults[op] {
		if p.session != "" && p.session == id || p.from <= n && n <= p.to {
			return p.fault
		}
	}
	return Fault{}
}

// before does what a fault does before the call, and reports whether the call is to be carried out.
func (s *FaultyStore) before(op Op, id messages.SessionID, fault Fault) bool {
	if fault.Panic {
		panic(fmt.Sprintf("%v: %s of %q", ErrInjected, op, id))
	}
	if fault.Wait != nil {
		fault.Wait.Pass()
	}
	if fault.Delay > 0 {
		<-time.After(fault.Delay)
	}
	if fault.Fence {
		// The handle is dropped: whoever holds it may never write.
		_, _, _ = s.Store.Open(context.Background(), id)
	}
	return fault.Err == nil || fault.Stored
}

// result is the error that a call gives.
func (f Fault) result(op Op, own error) error {
	if f.Err == nil {
		return own
	}
	return fmt.Errorf("%s: %w: %w", op, f.Err, ErrInjected)
}

// do makes a call with its fault.
func (s *FaultyStore) do(op Op, id messages.SessionID, call func() error) error {
	fault := s.next(op, id)
	var err error
	if s.before(op, id, fault) {
		err = call()
	}
	return fault.result(op, err)
}

// Create implements [persistence.Store].
func (s *FaultyStore) Create(ctx context.Context, id messages.SessionID) (handle persistence.Handle, err error) {
	err = s.do(OpCreate, id, func() (err error) { handle, err = s.Store.Create(ctx, id); return err })
	return handle, err
}

// Open implements [persistence.Store].
func (s *FaultyStore) Open(ctx context.Context, id messages.SessionID) (handle persistence.Handle, doc *messages.Document, err error) {
	err = s.do(OpOpen, id, func() (err error) { handle, doc, err = s.Store.Open(ctx, id); return err })
	return handle, doc, err
}

// Commit implements [persistence.Store]. Appends without a fault are committed together.
func (s *FaultyStore) Commit(ctx context.Context, batch []persistence.Append) []error {
	errs := make([]error, len(batch))
	faults := make([]Fault, len(batch))
	good := make([]persistence.Append, 0, len(batch))
	places := make([]int, 0, len(batch))
	for i := range batch {
		faults[i] = s.next(OpCommit, batch[i].Handle.Session)
		if s.before(OpCommit, batch[i].Handle.Session, faults[i]) {
			good, places = append(good, batch[i]), append(places, i)
		}
	}
	for i, err := range s.Store.Commit(ctx, good) {
		errs[places[i]] = err
	}
	for i := range errs {
		errs[i] = faults[i].result(OpCommit, errs[i])
	}
	return errs
}

// Read implements [persistence.Store].
func (s *FaultyStore) Read(ctx context.Context, id messages.SessionID) (doc *messages.Document, err error) {
	err = s.do(OpRead, id, func() (err error) { doc, err = s.Store.Read(ctx, id); return err })
	return doc, err
}

// Delete implements [persistence.Store].
func (s *FaultyStore) Delete(ctx context.Context, id messages.SessionID) error {
	return s.do(OpDelete, id, func() error { return s.Store.Delete(ctx, id) })
}

// Fold implements [persistence.Store].
func (s *FaultyStore) Fold(ctx context.Context, id messages.SessionID) error {
	return s.do(OpFold, id, func() error { return s.Store.Fold(ctx, id) })
}

// Close implements [persistence.Store].
func (s *FaultyStore) Close(ctx context.Context) error {
	return s.do(OpClose, "", func() error { return s.Store.Close(ctx) })
}
