package jsonfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/jsonfile"
	"agentd/persistence/jsonfile/diskfs"
)

// TestFullDisk fills a real file system until the kernel refuses, and then makes room. Where it may not mount one, writes go to /dev/full,
// which refuses in the same way. The log says which of the two was run.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m,mode=0700"); err != nil {
		t.Logf("run with /dev/full: mounting a small tmpfs was refused: %v", err)
		testDevFull(t, dir)
		return
	}
	t.Log("run on a tmpfs of 1 MiB")
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Errorf("Unmount = %v", err)
		}
	})
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 600<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	fillUp(t, dir, &jsonfile.Options{PreallocateBytes: 64 << 10}, nil, func() {
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	})
}

// fillUp appends until the disk is full, checks what still holds, makes room and goes on.
func fillUp(t *testing.T, dir string, opts *jsonfile.Options, full, room func()) {
	t.Helper()
	store := open(t, dir, opts)
	handle := begin(t, store, "s1")
	after, id := uint64(1), uint64(1)
	var refused persistence.Append
	for i := 0; refused.ID == 0; i++ {
		if i == 20 && full != nil {
			full()
		}
		if i > 10_000 {
			t.Fatal("the disk does not fill up")
		}
		id++
		a := persistence.Append{Handle: handle, ID: id, After: after, Records: renumber(turnRecords(t, after), after)}
		err := store.Commit(t.Context(), []persistence.Append{a})[0]
		if err == nil {
			after += 2
			continue
		}
		if !errors.Is(err, syscall.ENOSPC) || !errors.Is(err, persistence.ErrUnavailable) {
			t.Fatalf("Commit on a full disk = %v, want ErrUnavailable and ENOSPC", err)
		}
		refused = a
	}
	wantItems := func(when string, n uint64) {
		t.Helper()
		doc, err := store.Read(t.Context(), "s1")
		if err != nil || uint64(len(doc.Items)) != n {
			t.Fatalf("%s: Read = %v, want %d items", when, err, n)
		}
	}
	wantItems("on the full disk", after-1)
	if err := store.Fold(t.Context(), "s1"); !errors.Is(err, syscall.ENOSPC) || persistence.IsPermanent(err) {
		t.Errorf("Fold on a full disk = %v, want ENOSPC that may pass", err)
	}
	wantItems("after the fold that failed", after-1)
	room()
	mustCommit(t, store, refused)
	after += 2
	wantItems("with room again", after-1)
	if err := store.Fold(t.Context(), "s1"); err != nil {
		t.Errorf("Fold with room again = %v", err)
	}
	if err := store.Close(t.Context()); err != nil {
		t.Fatalf("Close = %v", err)
	}
	store = open(t, dir, opts)
	wantItems("after reopening", after-1)
	if entries, err := os.ReadDir(filepath.Join(dir, "agent-sessions", "tmp")); err != nil || len(entries) > 0 {
		t.Errorf("temporary files = %v, %v, want none", entries, err)
	}
	if _, err := store.Create(t.Context(), messages.NewSessionID()); err != nil {
		t.Errorf("Create = %v", err)
	}
}

// devFull is the real file system, whose writes go to /dev/full while it is full.
type devFull struct {
	diskfs.OS
	full *atomic.Bool
}

type devFullFile struct {
	diskfs.File
	full *atomic.Bool
}

func (d devFull) OpenFile(path string, flag int, perm os.FileMode) (diskfs.File, error) {
	file, err := d.OS.OpenFile(path, flag, perm)
	if err != nil {
		return nil, err
	}
	return devFullFile{file, d.full}, nil
}

func (f devFullFile) WriteAt(p []byte, off int64) (int, error) {
	if !f.full.Load() {
		return f.File.WriteAt(p, off)
	}
	device, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	defer device.Close()
	return device.Write(p)
}

func testDevFull(t *testing.T, dir string) {
	t.Helper()
	disk := devFull{full: new(atomic.Bool)}
	fillUp(t, dir, &jsonfile.Options{FS: disk, PreallocateBytes: -1}, func() { disk.full.Store(true) }, func() { disk.full.Store(false) })
}

// TestDevFull runs the fallback of TestFullDisk where that one may mount.
func TestDevFull(t *testing.T) {
	t.Parallel()
	testDevFull(t, t.TempDir())
}
