package simdisk_test

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"agentd/persistence/jsonfile/diskfs"
	"agentd/testkit/storetest/simdisk"
)

func create(t *testing.T, fsys diskfs.FS, path string) diskfs.File {
	t.Helper()
	if err := fsys.MkdirAll("/d", 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := fsys.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func write(t *testing.T, file diskfs.File, text string, off int64) {
	t.Helper()
	if _, err := file.WriteAt([]byte(text), off); err != nil {
		t.Fatal(err)
	}
}

func sync(t *testing.T, fsys diskfs.FS, file diskfs.File) {
	t.Helper()
	if err := errors.Join(file.Sync(), fsys.SyncDir("/d")); err != nil {
		t.Fatal(err)
	}
}

func TestPowerCutTakesWhatWasNotSynced(t *testing.T) {
	t.Parallel()
	disk := simdisk.New()
	file := create(t, disk.FS(), "/d/f")
	write(t, file, "synced", 0)
	sync(t, disk.FS(), file)
	write(t, file, "not synced", 6)
	create(t, disk.FS(), "/d/unnamed")
	disk.PowerCut(0)
	if text, _ := disk.Read("/d/f"); string(text) != "synced" {
		t.Errorf("content = %q, want what was synced", text)
	}
	if _, there := disk.Read("/d/unnamed"); there {
		t.Error("a name that was not synced is there")
	}
	if _, err := file.Stat(); !errors.Is(err, simdisk.ErrDead) {
		t.Errorf("Stat after the power cut = %v, want ErrDead", err)
	}
}

func TestKillKeepsWhatWasWritten(t *testing.T) {
	t.Parallel()
	disk := simdisk.New()
	fsys := disk.FS()
	write(t, create(t, fsys, "/d/f"), "written", 0)
	if _, err := fsys.Lock("/d/LOCK"); err != nil {
		t.Fatal(err)
	}
	if _, err := fsys.Lock("/d/LOCK"); !errors.Is(err, diskfs.ErrHeld) {
		t.Errorf("Lock again = %v, want ErrHeld", err)
	}
	disk.Kill()
	if text, _ := disk.Read("/d/f"); string(text) != "written" {
		t.Errorf("content = %q, want what was written", text)
	}
	if _, err := fsys.Stat("/d/f"); !errors.Is(err, simdisk.ErrDead) {
		t.Errorf("Stat by the dead process = %v, want ErrDead", err)
	}
	if _, err := disk.FS().Lock("/d/LOCK"); err != nil {
		t.Errorf("Lock after the kill = %v", err)
	}
}

func TestFailedSyncLoses(t *testing.T) {
	t.Parallel()
	disk := simdisk.New()
	file := create(t, disk.FS(), "/d/f")
	sync(t, disk.FS(), file)
	write(t, file, "lost", 0)
	disk.Inject(simdisk.OnNth(simdisk.Sync, 1, simdisk.Fault{Err: syscall.EIO}))
	if err := file.Sync(); !errors.Is(err, syscall.EIO) {
		t.Fatalf("Sync = %v, want the fault", err)
	}
	sync(t, disk.FS(), file)
	if text, _ := disk.Read("/d/f"); string(text) != "lost" {
		t.Errorf("content before the power cut = %q, want what was written", text)
	}
	disk.PowerCut(0)
	if text, _ := disk.Read("/d/f"); len(text) > 0 {
		t.Errorf("content = %q, want nothing: its sync had failed", text)
	}
}

func TestPowerCutKeepsAnyPart(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for seed := uint64(1); seed < 50; seed++ {
		disk := simdisk.New()
		file := create(t, disk.FS(), "/d/f")
		sync(t, disk.FS(), file)
		write(t, file, string(make([]byte, 3*4096)), 0)
		disk.PowerCut(seed)
		text, _ := disk.Read("/d/f")
		seen[len(text)] = true
	}
	if len(seen) != 4 {
		t.Errorf("sizes after power cuts = %v, want each of 0 to 3 pages", seen)
	}
}

func TestShortWrite(t *testing.T) {
	t.Parallel()
	disk := simdisk.New()
	file := create(t, disk.FS(), "/d/f")
	disk.Inject(simdisk.OnNth(simdisk.Write, 2, simdisk.Fault{Err: syscall.ENOSPC, Written: 2}))
	write(t, file, "abc", 0)
	if n, err := file.WriteAt([]byte("def"), 3); n != 2 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("WriteAt = %d, %v, want 2 and ENOSPC", n, err)
	}
	if text, _ := disk.Read("/d/f"); string(text) != "abcde" {
		t.Errorf("content = %q, want abcde", text)
	}
	if _, err := disk.FS().OpenFile("/d/none", os.O_RDONLY, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("OpenFile(none) = %v, want ErrNotExist", err)
	}
}
