package jsonfile_test

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/jsonfile"
	"agentd/persistence/jsonfile/diskfs"
	"agentd/testkit/storetest/simdisk"
)

// gate is a disk on which syncs, or the next read of the journal, wait until they are let through.
type gate struct {
	diskfs.FS
	closed bool
	// holdRead makes the next read of a segment wait.
	holdRead bool
	pass     chan struct{}
}

type gateFile struct {
	diskfs.File
	gate *gate
	path string
}

func (g *gate) OpenFile(path string, flag int, perm os.FileMode) (diskfs.File, error) {
	file, err := g.FS.OpenFile(path, flag, perm)
	if err != nil {
		return nil, err
	}
	return gateFile{file, g, path}, nil
}

func (f gateFile) Sync() error {
	if f.gate.closed {
		<-f.gate.pass
	}
	return f.File.Sync()
}

func (f gateFile) ReadAt(p []byte, off int64) (int, error) {
	if f.gate.holdRead && strings.HasPrefix(f.path, journalDir) {
		f.gate.holdRead = false
		<-f.gate.pass
	}
	return f.File.ReadAt(p, off)
}

// TestReadersKeepSegments holds a reader in the middle of the journal, while everything is folded and the segment that it reads
// could go.
func TestReadersKeepSegments(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := &gate{FS: simdisk.New().FS(), pass: make(chan struct{})}
		store, err := jsonfile.Open("/data", &jsonfile.Options{FS: disk, SegmentBytes: 1, PreallocateBytes: -1})
		if err != nil {
			t.Fatal(err)
		}
		handle := begin(t, store, "s1")
		mustCommit(t, store, persistence.Append{Handle: handle, ID: 2, After: 1, Records: turnRecords(t, 1)})
		var doc *messages.Document
		disk.holdRead = true
		go func() { doc, err = store.Read(t.Context(), "s1") }()
		synctest.Wait()
		begin(t, store, "s2")
		for _, id := range []messages.SessionID{"s1", "s2", "s1"} {
			if err := store.Fold(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		close(disk.pass)
		synctest.Wait()
		if err != nil || doc == nil || len(doc.Items) != 2 {
			t.Errorf("Read = %+v, %v, want what was there when it began", doc, err)
		}
		if err := store.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// TestOpenWaitsForTheWriter opens a session while the older writer's append is on its way to the disk: the new writer must see it, and nobody
// may see it before.
func TestOpenWaitsForTheWriter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := &gate{FS: simdisk.New().FS(), pass: make(chan struct{})}
		store, err := jsonfile.Open("/data", &jsonfile.Options{FS: disk, PreallocateBytes: -1})
		if err != nil {
			t.Fatal(err)
		}
		old := begin(t, store, "s1")
		disk.closed = true
		late := persistence.Append{Handle: old, ID: 2, After: 1, Records: turnRecords(t, 1)}
		go func() {
			if err := store.Commit(t.Context(), []persistence.Append{late})[0]; err != nil {
				t.Errorf("Commit = %v", err)
			}
		}()
		synctest.Wait()
		doc, err := store.Read(t.Context(), "s1")
		if err != nil || len(doc.Items) != 0 {
			t.Errorf("Read during the sync = %+v, %v, want nothing that is not durable", doc, err)
		}
		var handle persistence.Handle
		opened := false
		go func() {
			handle, doc, err = store.Open(t.Context(), "s1")
			opened = true
		}()
		synctest.Wait()
		if opened {
			t.Error("Open returned while the older writer was writing")
		}
		close(disk.pass)
		synctest.Wait()
		if !opened || err != nil || len(doc.Items) != 2 {
			t.Fatalf("Open = %+v, %v, want the two items of the older writer", doc, err)
		}
		mustCommit(t, store, persistence.Append{Handle: handle, ID: 1, After: 3, Records: []messages.Record{record(t, 4, messages.Opened{Epoch: 2})}})
		if err := store.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}
