package jsonfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/jsonfile"
	"agentd/testkit/storetest/simdisk"
)

func TestOpenIsExclusive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := open(t, dir, nil)
	_, err := jsonfile.Open(dir, nil)
	if !errors.Is(err, persistence.ErrLocked) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("Open of an open directory = %v, want ErrLocked with its name", err)
	}
	if runtime.GOOS != "windows" && !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("Open of an open directory = %v, want the holder's process id", err)
	}
	if _, err := jsonfile.Repair(dir); !errors.Is(err, persistence.ErrLocked) {
		t.Errorf("Repair of an open directory = %v, want ErrLocked", err)
	}
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	open(t, dir, nil)
}

func TestModes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Log("the system has no such modes")
		return
	}
	dir := filepath.Join(t.TempDir(), "data")
	store := open(t, dir, nil)
	begin(t, store, "s1")
	begin(t, store, "s2")
	if err := store.Fold(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		want := os.FileMode(0o600)
		if entry.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode().Perm(), want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for field, opts := range map[string]jsonfile.Options{
		"SegmentBytes":     {SegmentBytes: -1},
		"PreallocateBytes": {SegmentBytes: 100, PreallocateBytes: 200},
		"IdleSessions":     {IdleSessions: -1},
	} {
		if _, err := jsonfile.Open(t.TempDir(), &opts); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("Open(%+v) = %v, want an error that names %s", opts, err, field)
		}
	}
}

func TestDeviceNamesAreRefused(t *testing.T) {
	t.Parallel()
	store := open(t, t.TempDir(), nil)
	for _, id := range []messages.SessionID{"con", "NUL", "aux.x", "com1", "LPT9.json"} {
		var invalid *messages.InvalidIDError
		if _, err := store.Create(t.Context(), id); !errors.As(err, &invalid) {
			t.Errorf("Create(%q) = %v, want an invalid id", id, err)
		}
	}
	for _, id := range []messages.SessionID{"console", "com10", "comx", "journal", "deleted", "tmp", "a.json"} {
		begin(t, store, id)
	}
	listing, err := store.List(t.Context())
	if err != nil || len(listing.Sessions) != 7 || len(listing.Bad) > 0 {
		t.Errorf("List = %+v, %v, want 7 sessions", listing, err)
	}
}

func TestCaseFoldingDisk(t *testing.T) {
	t.Parallel()
	disk := simdisk.New()
	disk.FoldCase()
	store, err := jsonfile.Open("/data", &jsonfile.Options{FS: disk.FS()})
	if err != nil {
		t.Fatal(err)
	}
	for _, folded := range []bool{false, true} {
		lower, upper := messages.SessionID(fmt.Sprintf("s-%v", folded)), messages.SessionID(fmt.Sprintf("S-%v", folded))
		begin(t, store, lower)
		if folded {
			if err := store.Fold(t.Context(), lower); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := store.Create(t.Context(), upper); !errors.Is(err, persistence.ErrExists) {
			t.Errorf("Create(%q) beside %q = %v, want ErrExists", upper, lower, err)
		}
		if _, err := store.Read(t.Context(), upper); !errors.Is(err, persistence.ErrNotFound) {
			t.Errorf("Read(%q) = %v, want ErrNotFound", upper, err)
		}
		if _, err := store.Read(t.Context(), lower); err != nil {
			t.Errorf("Read(%q) = %v", lower, err)
		}
	}
	if err := store.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestOtherSchemas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeSnapshot(t, dir, "good", 2)
	writeSnapshot(t, dir, "newer", 2)
	path := filepath.Join(dir, "agent-sessions", "newer.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(messages.Schema), []byte("agentd.session/9"), 1)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	store := open(t, dir, nil)
	if _, _, err := store.Open(t.Context(), "newer"); !errors.Is(err, persistence.ErrSchema) || !strings.Contains(err.Error(), "agentd.session/9") {
		t.Errorf("Open(newer) = %v, want ErrSchema with its name", err)
	}
	listing, err := store.List(t.Context())
	if err != nil || len(listing.Sessions) != 1 || len(listing.Bad) != 1 || listing.Bad[0].ID != "newer" {
		t.Errorf("List = %+v, %v, want good, and newer among the bad", listing, err)
	}
	if err := store.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	report, err := jsonfile.Repair(dir)
	if err != nil || len(report.Untouched) != 1 || report.Quarantine != "" {
		t.Errorf("Repair = %+v, %v, want the newer file untouched", report, err)
	}
	if kept, err := os.ReadFile(path); err != nil || !bytes.Equal(kept, text) {
		t.Error("the newer file was changed")
	}
}

func TestJournalOfAnotherSchema(t *testing.T) {
	t.Parallel()
	f := makeJournal(t)
	text := jsonfile.Reseal(bytes.Replace(f.text, []byte("agentd.journal/1"), []byte("agentd.journal/2"), 1))
	store, disk, err := f.openDamaged(text)
	if !errors.Is(err, persistence.ErrSchema) {
		t.Fatalf("Open = %v, %v, want ErrSchema", store, err)
	}
	if _, err := jsonfile.RepairOn(disk.FS(), "/data"); !errors.Is(err, persistence.ErrSchema) {
		t.Errorf("Repair = %v, want ErrSchema", err)
	}
	if kept, _ := disk.Read(firstLog); !bytes.Equal(kept, text) {
		t.Error("the journal was changed")
	}
}

func TestRecordOfAnotherVersion(t *testing.T) {
	t.Parallel()
	disk := simdisk.New()
	store, err := jsonfile.Open("/data", &jsonfile.Options{FS: disk.FS()})
	if err != nil {
		t.Fatal(err)
	}
	handle := begin(t, store, "newer")
	begin(t, store, "good")
	mustCommit(t, store, persistence.Append{Handle: handle, ID: 2, After: 1, Records: []messages.Record{
		{Seq: 2, Kind: "of-a-later-version", At: testTime, Body: []byte(`{}`)},
	}})
	disk.Kill()
	store, err = jsonfile.Open("/data", &jsonfile.Options{FS: disk.FS()})
	if err != nil {
		t.Fatalf("Open = %v, want the other session usable", err)
	}
	if _, err := store.Read(t.Context(), "newer"); !errors.Is(err, persistence.ErrSchema) {
		t.Errorf("Read(newer) = %v, want ErrSchema", err)
	}
	if _, err := store.Read(t.Context(), "good"); err != nil {
		t.Errorf("Read(good) = %v", err)
	}
	if bad := store.Report().Bad; len(bad) != 1 || bad[0].ID != "newer" {
		t.Errorf("Report.Bad = %+v, want newer", bad)
	}
	if err := store.Close(t.Context()); !errors.Is(err, persistence.ErrSchema) {
		t.Errorf("Close = %v, want what could not be folded", err)
	}
	if _, there := disk.Read(firstLog); !there {
		t.Error("Close dropped records that no snapshot has")
	}
}

func TestMisnamedSnapshot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeSnapshot(t, dir, "right", 1)
	sessions := filepath.Join(dir, "agent-sessions")
	if err := os.Rename(filepath.Join(sessions, "right.json"), filepath.Join(sessions, "wrong.json")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".wrong.json.123.tmp", "notes.txt", "bad name.json"} {
		if err := os.WriteFile(filepath.Join(sessions, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	store := open(t, dir, nil)
	if _, err := store.Read(t.Context(), "wrong"); !errors.Is(err, persistence.ErrCorrupt) || !strings.Contains(err.Error(), "right") {
		t.Errorf("Read(wrong) = %v, want ErrCorrupt that names the session in the file", err)
	}
	listing, err := store.List(t.Context())
	if err != nil || len(listing.Sessions) > 0 || len(listing.Bad) != 2 || listing.Bad[0].ID != "bad name" || listing.Bad[1].ID != "wrong" {
		t.Errorf("List = %+v, %v, want two bad ones by name", listing, err)
	}
}

// TestOpenReadsLittle holds Open to the journal and the heads that it names. What it finds at the end of the journal it makes durable, once.
func TestOpenReadsLittle(t *testing.T) {
	t.Parallel()
	disk := simdisk.New()
	opts := func() *jsonfile.Options { return &jsonfile.Options{FS: disk.FS(), PreallocateBytes: -1} }
	store, err := jsonfile.Open("/data", opts())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		begin(t, store, messages.SessionID(fmt.Sprint("s", i)))
	}
	if err := store.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if store, err = jsonfile.Open("/data", opts()); err != nil {
		t.Fatal(err)
	}
	handle, _, err := store.Open(t.Context(), "s7")
	if err != nil {
		t.Fatal(err)
	}
	mustCommit(t, store, persistence.Append{Handle: handle, ID: 1, After: 1, Records: []messages.Record{record(t, 2, messages.Opened{Epoch: 2})}})
	disk.Kill()
	for _, written := range []int{1, 0} {
		files, changed := map[string]bool{}, map[string]bool{}
		disk.Inject(func(op simdisk.Op) *simdisk.Fault {
			name := filepath.Base(op.Path)
			switch {
			case op.Kind == simdisk.Open:
				files[name] = true
			case op.Kind.Changes() && op.Kind != simdisk.Mkdir && op.Kind != simdisk.SyncDir:
				changed[name] = true
			}
			return nil
		})
		if _, err = jsonfile.Open("/data", opts()); err != nil {
			t.Fatal(err)
		}
		delete(files, "s7.json")
		maps.DeleteFunc(files, func(name string, _ bool) bool { return strings.HasSuffix(name, ".log") })
		if len(files) > 0 || len(changed) != written {
			t.Errorf("Open read %v and wrote %v, want one snapshot's head and %d new segments", files, changed, written)
		}
		disk.Kill()
	}
}

func TestStaleFilesAreCleaned(t *testing.T) {
	t.Parallel()
	disk := simdisk.New()
	disk.Write(sessionsDir+"/tmp/s1.json", []byte("half a snap"))
	store, err := jsonfile.Open("/data", &jsonfile.Options{FS: disk.FS()})
	if err != nil {
		t.Fatal(err)
	}
	if cleaned := store.Report().Cleaned; len(cleaned) != 1 || filepath.Base(cleaned[0]) != "s1.json" {
		t.Errorf("Report.Cleaned = %q, want the stale file", cleaned)
	}
	if err := store.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, path := range disk.Paths() {
		t.Errorf("%s is left in an empty directory", path)
	}
}

// TestSegmentsGo writes through many segments and folds: old ones go, a session that holds one is told, and at rest none is left.
func TestSegmentsGo(t *testing.T) {
	t.Parallel()
	disk := simdisk.New()
	store, err := jsonfile.Open("/data", &jsonfile.Options{FS: disk.FS(), SegmentBytes: 4000, PreallocateBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	begin(t, store, "holder")
	busy := begin(t, store, "busy")
	for i := range 60 {
		commitNth(t, store, busy, i)
		if err := store.Fold(t.Context(), "busy"); err != nil {
			t.Fatal(err)
		}
	}
	if !store.UnfoldedOf("holder").Holds || store.UnfoldedOf("busy").Holds {
		t.Errorf("Unfolded = %+v, want that holder holds an old segment", store.Unfolded())
	}
	if n := segmentCount(disk); n < 5 {
		t.Errorf("there are %d segments, want many", n)
	}
	if err := store.Fold(t.Context(), "holder"); err != nil {
		t.Fatal(err)
	}
	if n := segmentCount(disk); n != 1 {
		t.Errorf("after folding the holder there are %d segments, want the last", n)
	}
	if err := store.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := segmentCount(disk); n != 0 {
		t.Errorf("after Close there are %d segments", n)
	}
}

// TestHolding tells when a session is said to hold the journal back: when more full segments than are allowed follow the one that it needs.
func TestHolding(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ setting, held int }{{-1, 0}, {1, 1}, {0, jsonfile.DefaultHeldSegments}, {5, 5}} {
		t.Run(fmt.Sprint(tc.held), func(t *testing.T) {
			t.Parallel()
			disk := simdisk.New()
			store, err := jsonfile.Open("/data", &jsonfile.Options{FS: disk.FS(), SegmentBytes: 4000, PreallocateBytes: -1, HeldSegments: tc.setting})
			if err != nil {
				t.Fatal(err)
			}
			begin(t, store, "holder")
			busy := begin(t, store, "busy")
			for i := range 150 {
				commitNth(t, store, busy, i)
				for _, id := range []messages.SessionID{"holder", "busy"} {
					if got, want := store.UnfoldedOf(id).Holds, segmentCount(disk)-1 > tc.held; got != want {
						t.Fatalf("with %d segments, %s holds the journal back: %v, want %v", segmentCount(disk), id, got, want)
					}
				}
			}
			if n := segmentCount(disk); n < 8 {
				t.Fatalf("there are %d segments, want more than any case allows", n)
			}
			for _, id := range []messages.SessionID{"holder", "busy"} {
				if err := store.Fold(t.Context(), id); err != nil {
					t.Fatal(err)
				}
			}
			if n := segmentCount(disk); n != 1 || store.UnfoldedOf("busy").Holds {
				t.Errorf("after folding there are %d segments, want the last", n)
			}
			if err := store.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// commitNth commits the n-th append, from 0, of two items to a session that begin has made.
func commitNth(t *testing.T, store persistence.Store, handle persistence.Handle, n int) {
	t.Helper()
	after := uint64(1 + 2*n)
	mustCommit(t, store, persistence.Append{Handle: handle, ID: uint64(n + 2), After: after, Records: turnRecords(t, after)})
}

func segmentCount(disk *simdisk.Disk) int {
	n := 0
	for _, path := range disk.Paths() {
		if strings.HasPrefix(path, journalDir) {
			n++
		}
	}
	return n
}

// TestTombstonesAtRest looks at what a deleted session leaves behind.
func TestTombstonesAtRest(t *testing.T) {
	t.Parallel()
	disk := simdisk.New()
	store, err := jsonfile.Open("/data", &jsonfile.Options{FS: disk.FS()})
	if err != nil {
		t.Fatal(err)
	}
	handle := begin(t, store, "gone")
	if err := store.Fold(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	mustCommit(t, store, persistence.Append{Handle: handle, ID: 2, After: 1, Records: []messages.Record{record(t, 2, messages.Deleted{})}})
	if err := store.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	paths := disk.Paths()
	if len(paths) != 1 || paths[0] != sessionsDir+"/deleted/gone.json" {
		t.Errorf("files = %q, want the tombstone alone", paths)
	}
}

// TestMemoryOfFoldedSessions holds the store to forgetting sessions that are folded.
func TestMemoryOfFoldedSessions(t *testing.T) {
	t.Parallel()
	store, err := jsonfile.Open("/data", &jsonfile.Options{FS: simdisk.New().FS(), IdleSessions: 10, PreallocateBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		id := messages.SessionID(fmt.Sprint("s", i))
		begin(t, store, id)
		if err := store.Fold(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if n := store.Remembered(); n > 25 {
		t.Errorf("%d folded sessions are remembered, want about 10", n)
	}
	if err := store.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestUnprovenEndIsWrittenAgain recovers a commit whose sync failed as the process died. The page cache has it, the disk does not: what
// is built on it must bring it along.
func TestUnprovenEndIsWrittenAgain(t *testing.T) {
	t.Parallel()
	disk := simdisk.New()
	opts := func() *jsonfile.Options { return &jsonfile.Options{FS: disk.FS(), PreallocateBytes: -1} }
	store, err := jsonfile.Open("/data", opts())
	if err != nil {
		t.Fatal(err)
	}
	handle := begin(t, store, "s1")
	// Every sync fails and nothing can be cut: the append is in doubt, and lost to a power cut.
	disk.Inject(simdisk.Always(simdisk.Fault{Err: errors.New("i/o error")}, simdisk.Sync, simdisk.Truncate, simdisk.Create))
	doubtful := persistence.Append{Handle: handle, ID: 2, After: 1, Records: turnRecords(t, 1)}
	if err := store.Commit(t.Context(), []persistence.Append{doubtful})[0]; !errors.Is(err, persistence.ErrUnknown) {
		t.Fatalf("Commit = %v, want ErrUnknown", err)
	}
	disk.Kill()
	if store, err = jsonfile.Open("/data", opts()); err != nil {
		t.Fatal(err)
	}
	handle, doc, err := store.Open(t.Context(), "s1")
	if err != nil || len(doc.Items) != 2 {
		t.Fatalf("Open = %v, want the two items that the page cache has", err)
	}
	mustCommit(t, store, persistence.Append{Handle: handle, ID: 1, After: 3, Records: []messages.Record{record(t, 4, messages.Opened{Epoch: 2})}})
	disk.PowerCut(0)
	if store, err = jsonfile.Open("/data", opts()); err != nil {
		t.Fatalf("Open after the power cut = %v", err)
	}
	if doc, err = store.Read(t.Context(), "s1"); err != nil || len(doc.Items) != 2 || doc.Head.Epoch != 2 {
		t.Errorf("Read after the power cut = %+v, %v, want both items and the claim on them", doc, err)
	}
	disk.Kill()
}
