package storetest

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"agentd/messages"
	"agentd/persistence"
	"agentd/testkit/storetest/simdisk"
)

// fault is a way in which a disk fails.
type fault struct {
	name   string
	inject simdisk.FaultFunc
	cause  error
}

// diskFaults are the ways that a commit is tested against.
func diskFaults() []fault {
	all := []simdisk.OpKind{simdisk.Create, simdisk.Write, simdisk.Sync, simdisk.Truncate, simdisk.Mkdir, simdisk.Rename, simdisk.Remove, simdisk.SyncDir}
	return []fault{
		{"short write on a full disk", simdisk.Always(simdisk.Fault{Err: syscall.ENOSPC, Written: 11}, simdisk.Write), syscall.ENOSPC},
		{"a write that the disk refuses", simdisk.Always(simdisk.Fault{Err: syscall.EIO}, simdisk.Write), syscall.EIO},
		{"a write that does most of it", simdisk.Always(simdisk.Fault{Err: syscall.EIO, Written: 1 << 20}, simdisk.Write), syscall.EIO},
		{"no sync works", simdisk.Always(simdisk.Fault{Err: syscall.EIO}, simdisk.Sync), syscall.EIO},
		{"no sync and no new file", simdisk.Always(simdisk.Fault{Err: syscall.ENOSPC}, simdisk.Sync, simdisk.Create), syscall.ENOSPC},
		{"no sync and no rename", simdisk.Always(simdisk.Fault{Err: syscall.EIO}, simdisk.Sync, simdisk.Rename), syscall.EIO},
		{"no sync of files or folders", simdisk.Always(simdisk.Fault{Err: syscall.EIO}, simdisk.Sync, simdisk.SyncDir), syscall.EIO},
		{"a write and no way back", simdisk.Always(simdisk.Fault{Err: syscall.EIO, Written: 200}, simdisk.Write, simdisk.Truncate), syscall.EIO},
		{"a disk that turns read-only", simdisk.Always(simdisk.Fault{Err: syscall.EROFS}, all...), syscall.EROFS},
		{"a first sync that fails", simdisk.OnNth(simdisk.Sync, 1, simdisk.Fault{Err: syscall.EIO}), nil},
	}
}

// faults are the promises about a disk that fails.
func faults() []promise {
	var list []promise
	for _, f := range diskFaults() {
		list = append(list,
			promise{"commit: " + f.name, func(t *trial) { testCommitFault(t, f) }},
			promise{"fold: " + f.name, func(t *trial) { testFoldFault(t, f) }},
			promise{"delete: " + f.name, func(t *trial) { testDeleteFault(t, f) }},
		)
	}
	return append(list, promise{"reading from a disk that fails", testReadFault})
}

// wantTransient checks that an error may go away, and says why it is there.
func wantTransient(tb testing.TB, call string, err, cause error) {
	tb.Helper()
	if cause == nil {
		if err != nil {
			tb.Errorf("%s = %v, want that the store gets over it", call, err)
		}
		return
	}
	if err == nil || persistence.IsPermanent(err) || !errors.Is(err, cause) {
		tb.Errorf("%s = %v, want a passing error that wraps %v", call, err, cause)
	}
}

func testCommitFault(t *trial, f fault) {
	for _, seed := range []uint64{0, 1, 2, 3} {
		store := t.open(t)
		w, other := create(t, store, messages.NewSessionID()), create(t, store, messages.NewSessionID())
		w.fill(3)
		other.fill(3)
		t.Disk.Inject(f.inject)
		a := w.next(messages.ItemAppended{Item: new(item(3))}, messages.ItemAppended{Item: new(item(4))})
		err := commit(t, store, a)
		wantTransient(t, "Commit", err, f.cause)
		again := commit(t, store, a)
		wantTransient(t, "Commit again", again, f.cause)
		t.Disk.Inject(nil)
		other.check()
		if errors.Is(again, persistence.ErrUnavailable) || err == nil {
			if err == nil {
				w.stored(a)
			}
			w.check()
		}
		other.fill(2)
		other.check()
		if err != nil {
			if err := commit(t, store, a); err != nil {
				t.Fatalf("Commit after the fault = %v, want that it is not sticky", err)
			}
			w.stored(a)
		}
		w.fill(2)
		w.check()
		t.Disk.PowerCut(seed)
		store = t.open(t)
		w.store, other.store = store, store
		w.check()
		other.check()
		t.reopen(t, store)
		t.Disk.Kill()
	}
}

func testFoldFault(t *trial, f fault) {
	store := t.open(t)
	w := create(t, store, "s1")
	w.fill(3)
	if err := store.Fold(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	w.fill(5)
	t.Disk.Inject(f.inject)
	err := store.Fold(t.Context(), "s1")
	if f.cause != nil {
		wantTransient(t, "Fold", err, f.cause)
	}
	t.Disk.Inject(nil)
	w.check()
	if err := store.Fold(t.Context(), "s1"); err != nil {
		t.Fatalf("Fold after the fault = %v", err)
	}
	w.check()
	w.fill(1)
	t.Disk.PowerCut(7)
	w.store = t.open(t)
	w.check()
}

func testDeleteFault(t *trial, f fault) {
	store := t.open(t)
	w := create(t, store, "s1")
	w.fill(3)
	if err := store.Fold(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	w.must(messages.Deleted{})
	t.Disk.Inject(f.inject)
	if err := store.Delete(t.Context(), "s1"); f.cause != nil {
		wantTransient(t, "Delete", err, f.cause)
	}
	t.Disk.Inject(nil)
	wantDeleted(t, store, "s1")
	t.Disk.PowerCut(3)
	store = t.open(t)
	wantDeleted(t, store, "s1")
	if err := store.Delete(t.Context(), "s1"); err != nil {
		t.Errorf("Delete after the fault = %v", err)
	}
	wantDeleted(t, t.reopen(t, store), "s1")
}

func testReadFault(t *trial) {
	store := t.open(t)
	w := create(t, store, "s1")
	w.fill(3)
	if err := store.Fold(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	w.fill(3)
	for _, kinds := range [][]simdisk.OpKind{{simdisk.Read}, {simdisk.Open}} {
		t.Disk.Inject(simdisk.Always(simdisk.Fault{Err: syscall.EIO}, kinds...))
		_, err := store.Read(t.Context(), "s1")
		wantTransient(t, "Read", err, syscall.EIO)
		_, err = store.Page(t.Context(), "s1", persistence.PageQuery{})
		wantTransient(t, "Page", err, syscall.EIO)
		listing, err := store.List(t.Context())
		if err != nil || len(listing.Bad) != 1 || listing.Bad[0].ID != "s1" {
			t.Errorf("List = %+v, %v, want s1 among the bad", listing, err)
		}
		t.Disk.Inject(nil)
		w.check()
	}
	t.Disk.Inject(simdisk.Always(simdisk.Fault{Err: fs.ErrPermission}, simdisk.ReadDir))
	if _, err := store.List(t.Context()); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("List = %v, want why", err)
	}
	t.Disk.Inject(nil)
	w.check()
}
