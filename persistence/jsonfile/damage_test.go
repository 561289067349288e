package jsonfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/jsonfile"
	"agentd/testkit/storetest/simdisk"
)

const (
	journalDir  = "/data/agent-sessions/journal"
	firstLog    = journalDir + "/00000001.log"
	sessionsDir = "/data/agent-sessions"
)

// journalFixture is a journal as a kill leaves it, and what was acknowledged in it.
type journalFixture struct {
	text []byte
	// ends are the offsets at which acknowledged appends end, with what they leave of their session.
	ends []ackedAppend
}

type ackedAppend struct {
	end     int
	session messages.SessionID
	lastSeq uint64
	// batch is the number of the commit that it was part of.
	batch int
}

// makeJournal commits to two sessions, one by one and in batches.
func makeJournal(tb testing.TB) journalFixture {
	tb.Helper()
	disk := simdisk.New()
	store, err := jsonfile.Open("/data", &jsonfile.Options{FS: disk.FS(), PreallocateBytes: -1})
	if err != nil {
		tb.Fatal(err)
	}
	var f journalFixture
	after := map[messages.SessionID]uint64{}
	handles := map[messages.SessionID]persistence.Handle{}
	for i, ids := range [][]messages.SessionID{{"a"}, {"a", "b"}, {"b"}, {"b", "a"}, {"a"}} {
		var batch []persistence.Append
		for _, id := range ids {
			a := persistence.Append{ID: uint64(i + 1), After: after[id]}
			if after[id] == 0 {
				if handles[id], err = store.Create(tb.Context(), id); err != nil {
					tb.Fatal(err)
				}
				a.Records = append(a.Records, record(tb, 1, messages.Created{AgentID: "x", Epoch: 1}))
			}
			for range 2 {
				seq := a.After + uint64(len(a.Records)) + 1
				a.Records = append(a.Records, record(tb, seq, messages.ItemAppended{Item: &messages.Item{
					ID: messages.ItemID(fmt.Sprint("i", seq)), Type: messages.ItemMessage, Content: fmt.Sprint(id, seq, "\nx"),
				}}))
			}
			a.Handle = handles[id]
			after[id] += uint64(len(a.Records))
			batch = append(batch, a)
		}
		for _, err := range store.Commit(tb.Context(), batch) {
			if err != nil {
				tb.Fatal(err)
			}
		}
		text, _ := disk.Read(firstLog)
		for _, a := range batch {
			// The end of an append is that of its last line.
			last := fmt.Appendf(nil, `"session":%q,"seq":%d,`, a.Handle.Session, after[a.Handle.Session])
			at := bytes.Index(text, last)
			end := at + bytes.IndexByte(text[at:], '\n') + 1
			f.ends = append(f.ends, ackedAppend{end: end, session: a.Handle.Session, lastSeq: after[a.Handle.Session], batch: i})
		}
		f.text = text
	}
	disk.Kill()
	return f
}

// openDamaged opens a store on a damaged journal.
func (f *journalFixture) openDamaged(text []byte) (*jsonfile.Store, *simdisk.Disk, error) {
	disk := simdisk.New()
	disk.Write(firstLog, text)
	store, err := jsonfile.Open("/data", &jsonfile.Options{FS: disk.FS(), PreallocateBytes: -1})
	return store, disk, err
}

// checkPrefixes checks that each session is exactly what it was at some acknowledged append, no earlier than must says.
func checkPrefixes(t *testing.T, store *jsonfile.Store, f *journalFixture, must map[messages.SessionID]uint64) {
	t.Helper()
	for _, id := range []messages.SessionID{"a", "b"} {
		doc, err := store.Read(t.Context(), id)
		if errors.Is(err, persistence.ErrNotFound) && must[id] == 0 {
			continue
		}
		if err != nil {
			t.Fatalf("Read(%q) = %v, want at least record %d", id, err, must[id])
		}
		if doc.Head.LastSeq < must[id] {
			t.Errorf("session %q ends at %d, record %d was acknowledged before the damage", id, doc.Head.LastSeq, must[id])
		}
		if !slices.ContainsFunc(f.ends, func(a ackedAppend) bool { return a.session == id && a.lastSeq == doc.Head.LastSeq }) {
			t.Errorf("session %q ends at %d, in the middle of an append", id, doc.Head.LastSeq)
		}
		for i, item := range doc.Items {
			seq := i + 2
			if item.ID != messages.ItemID(fmt.Sprint("i", seq)) || item.Content != fmt.Sprint(id, seq, "\nx") {
				t.Errorf("session %q: item %d is %+v: a wrong record", id, i, item)
			}
		}
	}
}

// before gives what each session must have when everything before an offset is whole.
func (f *journalFixture) before(off int) map[messages.SessionID]uint64 {
	must := map[messages.SessionID]uint64{}
	for _, a := range f.ends {
		if a.end <= off {
			must[a.session] = a.lastSeq
		}
	}
	return must
}

// lastBatch is where the last commit begins.
func (f *journalFixture) lastBatch() int {
	start := 0
	for _, a := range f.ends {
		if a.batch < f.ends[len(f.ends)-1].batch {
			start = max(start, a.end)
		}
	}
	return start
}

// checkDamage opens a damaged journal. Damage before the last commit must be told, by Open or of a session; afterwards a repair saves
// everything before it.
func checkDamage(t *testing.T, f *journalFixture, text []byte, off int, mustTell bool) {
	t.Helper()
	store, disk, err := f.openDamaged(text)
	switch {
	case err != nil:
		wantDamaged(t, err)
	case len(store.Report().Bad) > 0:
		for _, bad := range store.Report().Bad {
			wantDamaged(t, bad.Err)
		}
	default:
		if mustTell {
			t.Errorf("Open = nil, want the damage told")
		}
		checkPrefixes(t, store, f, f.before(off))
		disk.Kill()
		return
	}
	disk.Kill()
	if got, _ := disk.Read(firstLog); !bytes.Equal(got, text) {
		t.Error("Open changed a damaged journal")
	}
	report, err := jsonfile.RepairOn(disk.FS(), "/data")
	if err != nil || !report.Damaged() {
		t.Fatalf("Repair = %+v, %v, want a report of the damage", report, err)
	}
	if kept, _ := disk.Read(filepath.Join(report.Quarantine, "00000001.log")); !bytes.Equal(kept, text) {
		t.Error("Repair did not keep the damaged segment")
	}
	store, err = jsonfile.Open("/data", &jsonfile.Options{FS: disk.FS(), PreallocateBytes: -1})
	if err != nil {
		t.Fatalf("Open after Repair = %v", err)
	}
	checkPrefixes(t, store, f, f.before(off))
	disk.Kill()
}

// damages are the ways in which a byte offset is damaged.
func damages(text []byte, off int) map[string][]byte {
	flip := func(bit byte) []byte {
		out := bytes.Clone(text)
		out[off] ^= bit
		return out
	}
	return map[string][]byte{
		"flip low bit":    flip(1),
		"flip high bit":   flip(0x80),
		"zero":            slices.Concat(text[:off], []byte{0}, text[off+1:]),
		"line end":        slices.Concat(text[:off], []byte("\n"), text[off+1:]),
		"insert a byte":   slices.Concat(text[:off], []byte("0"), text[off:]),
		"insert a line":   slices.Concat(text[:off], []byte("\n\n"), text[off:]),
		"remove a byte":   slices.Concat(text[:off], text[off+1:]),
		"double the rest": slices.Concat(text[:off], text[off/2:]),
	}
}

// TestJournalDamage damages the journal at every byte offset.
func TestJournalDamage(t *testing.T) {
	t.Parallel()
	f := makeJournal(t)
	for off := range f.text {
		for name, text := range damages(f.text, off) {
			if bytes.Equal(text, f.text) {
				continue
			}
			t.Run(fmt.Sprintf("%s at %d", name, off), func(t *testing.T) {
				checkDamage(t, &f, text, off, off < f.lastBatch() && name != "double the rest")
			})
		}
		t.Run(fmt.Sprintf("cut at %d", off), func(t *testing.T) { checkCut(t, &f, off) })
	}
}

// TestJournalLines takes out, doubles and swaps whole lines, of which each is good.
func TestJournalLines(t *testing.T) {
	t.Parallel()
	f := makeJournal(t)
	lines := bytes.SplitAfter(f.text, []byte("\n"))
	lines = lines[:len(lines)-1]
	for i := range lines {
		off := len(bytes.Join(lines[:i], nil))
		t.Run(fmt.Sprintf("without line %d", i+1), func(t *testing.T) {
			text := bytes.Join(slices.Delete(slices.Clone(lines), i, i+1), nil)
			checkDamage(t, &f, text, off, off < f.lastBatch())
		})
		t.Run(fmt.Sprintf("line %d twice", i+1), func(t *testing.T) {
			text := bytes.Join(slices.Insert(slices.Clone(lines), i, lines[i]), nil)
			checkDamage(t, &f, text, off, false)
		})
		t.Run(fmt.Sprintf("line %d one too late", i+1), func(t *testing.T) {
			swapped := slices.Clone(lines)
			if i+1 < len(lines) {
				swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
			}
			checkDamage(t, &f, bytes.Join(swapped, nil), off, false)
		})
	}
}

// checkCut opens a journal that ends early, as a crash leaves it: with and without zeros behind.
func checkCut(t *testing.T, f *journalFixture, off int) {
	t.Helper()
	header := bytes.IndexByte(f.text, '\n') + 1
	for _, zeros := range []int{0, 5000} {
		text := slices.Concat(f.text[:off], make([]byte, zeros))
		store, disk, err := f.openDamaged(text)
		if off < header {
			wantDamaged(t, err)
			continue
		}
		if err != nil {
			t.Fatalf("Open(cut at %d) = %v", off, err)
		}
		checkPrefixes(t, store, f, f.before(off))
		whole := header
		for _, a := range f.ends {
			if a.end <= off {
				whole = max(whole, a.end)
			}
		}
		if report := store.Report(); report.TornBytes != int64(off-whole) {
			t.Errorf("torn bytes = %d, want %d", report.TornBytes, off-whole)
		}
		// What was cut off stays away when the store goes on.
		handle, err := store.Create(t.Context(), "next")
		if err != nil {
			t.Fatal(err)
		}
		mustCommit(t, store, persistence.Append{Handle: handle, ID: 1, Records: []messages.Record{record(t, 1, messages.Created{AgentID: "x", Epoch: 1})}})
		disk.Kill()
		again, err := jsonfile.Open("/data", &jsonfile.Options{FS: disk.FS(), PreallocateBytes: -1})
		if err != nil {
			t.Fatalf("Open again = %v", err)
		}
		checkPrefixes(t, again, f, f.before(off))
		if _, err := again.Read(t.Context(), "next"); err != nil {
			t.Errorf("Read(next) = %v", err)
		}
		disk.Kill()
	}
}

// wantDamaged checks that an error names a place.
func wantDamaged(t *testing.T, err error) {
	t.Helper()
	var corrupt *persistence.CorruptError
	if !errors.As(err, &corrupt) || corrupt.File == "" || corrupt.File == firstLog && corrupt.Line == 0 {
		t.Errorf("error = %v, want a CorruptError with file and line", err)
	}
}

// TestSnapshotDamage cuts and spoils a snapshot at every byte offset: never a panic, never another session's
// content, and the other session stays usable.
func TestSnapshotDamage(t *testing.T) {
	t.Parallel()
	disk := simdisk.New()
	store, err := jsonfile.Open("/data", &jsonfile.Options{FS: disk.FS(), PreallocateBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []messages.SessionID{"a", "b"} {
		handle := begin(t, store, id)
		mustCommit(t, store, persistence.Append{Handle: handle, ID: 2, After: 1, Records: turnRecords(t, 1)})
	}
	if err := store.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	path := sessionsDir + "/a.json"
	whole, _ := disk.Read(path)
	good, _ := disk.Read(sessionsDir + "/b.json")
	for off := range whole {
		t.Run(fmt.Sprint("cut at ", off), func(t *testing.T) { checkBadSnapshot(t, path, whole[:off], good) })
		if off%7 == 0 {
			spoilt := slices.Concat(whole[:off], []byte("\n\x00{"), whole[off:])
			t.Run(fmt.Sprint("spoilt at ", off), func(t *testing.T) { checkBadSnapshot(t, path, spoilt, good) })
		}
	}
}

func checkBadSnapshot(t *testing.T, path string, text, good []byte) {
	t.Helper()
	disk := simdisk.New()
	disk.Write(path, text)
	disk.Write(sessionsDir+"/b.json", good)
	store, err := jsonfile.Open("/data", &jsonfile.Options{FS: disk.FS(), PreallocateBytes: -1})
	if err != nil {
		t.Fatalf("Open = %v", err)
	}
	_, err = store.Read(t.Context(), "a")
	var corrupt *persistence.CorruptError
	if !errors.As(err, &corrupt) || corrupt.Session != "a" || !strings.HasSuffix(corrupt.File, "a.json") {
		t.Fatalf("Read(bad) = %v, want a CorruptError that names the session and the file", err)
	}
	if _, err := store.Create(t.Context(), "a"); err == nil {
		t.Error("Create(bad) = nil: it would overwrite the file")
	}
	if _, err := store.Read(t.Context(), "b"); err != nil {
		t.Errorf("Read(good) = %v", err)
	}
	listing, err := store.List(t.Context())
	if err != nil || len(listing.Sessions)+len(listing.Bad) != 2 {
		t.Errorf("List = %+v, %v, want both sessions", listing, err)
	}
	if err := store.Close(t.Context()); err != nil {
		t.Errorf("Close = %v", err)
	}
	if kept, _ := disk.Read(path); !bytes.Equal(kept, text) {
		t.Error("the bad file was changed")
	}
	report, err := jsonfile.RepairOn(disk.FS(), "/data")
	if err != nil || len(report.Sessions) != 1 || report.Sessions[0].ID != "a" || report.Quarantine == "" {
		t.Fatalf("Repair = %+v, %v, want session a repaired", report, err)
	}
	if kept, _ := disk.Read(filepath.Join(report.Quarantine, "a.json")); !bytes.Equal(kept, text) {
		t.Error("Repair did not keep the bad file")
	}
	store, err = jsonfile.Open("/data", &jsonfile.Options{FS: disk.FS(), PreallocateBytes: -1})
	if err != nil {
		t.Fatalf("Open after Repair = %v", err)
	}
	doc, err := store.Read(t.Context(), "a")
	if report.Sessions[0].LastSeq == 0 {
		if !errors.Is(err, persistence.ErrNotFound) {
			t.Errorf("Read after Repair = %v, want ErrNotFound: nothing could be saved", err)
		}
	} else if err != nil || len(doc.Items) != report.Sessions[0].Items {
		t.Errorf("Read after Repair = %v, want %d items", err, report.Sessions[0].Items)
	}
	disk.Kill()
}
