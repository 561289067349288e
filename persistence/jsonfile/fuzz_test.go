package jsonfile_test

import (
	"errors"
	"testing"

	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/jsonfile"
	"agentd/testkit/storetest/simdisk"
)

// FuzzJournal damages a journal somewhere: it is cut, some bytes are overwritten, or some are put in.
func FuzzJournal(f *testing.F) {
	fixture := makeJournal(f)
	for _, off := range []int{0, 9, 100, 500, len(fixture.text) - 1} {
		for kind := range byte(4) {
			f.Add(kind, off, []byte("00000000 {\"synced\":"))
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, off int, piece []byte) {
		if off < 0 || off > len(fixture.text) || len(piece) > 1<<16 {
			return
		}
		head, rest := fixture.text[:off:off], fixture.text[off:]
		switch kind % 4 {
		case 0:
			checkCut(t, &fixture, off)
			return
		case 1:
			rest = rest[min(len(piece), len(rest)):]
		case 2:
		case 3:
			rest, piece = rest[min(len(piece), len(rest)):], nil
		}
		text := append(append(head, piece...), rest...)
		if string(text) == string(fixture.text) {
			return
		}
		checkDamage(t, &fixture, text, off, false)
	})
}

// FuzzSnapshot reads any bytes as a snapshot. What Read takes, Page and Head take too, and they agree.
func FuzzSnapshot(f *testing.F) {
	disk := simdisk.New()
	store, err := jsonfile.Open("/data", &jsonfile.Options{FS: disk.FS()})
	if err != nil {
		f.Fatal(err)
	}
	handle := begin(f, store, "a")
	mustCommit(f, store, persistence.Append{Handle: handle, ID: 2, After: 1, Records: turnRecords(f, 1)})
	if err := store.Close(f.Context()); err != nil {
		f.Fatal(err)
	}
	whole, _ := disk.Read(sessionsDir + "/a.json")
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte("{\"schema\":\"agentd.session/1\",\"id\":\"a\",\"last-seq\":1,\"epoch\":1,\"item-count\":2,\"items\":[\n\n]}\n"))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, text []byte) {
		disk := simdisk.New()
		disk.Write(sessionsDir+"/a.json", text)
		store, err := jsonfile.Open("/data", &jsonfile.Options{FS: disk.FS()})
		if err != nil {
			t.Fatalf("Open = %v", err)
		}
		defer disk.Kill()
		doc, err := store.Read(t.Context(), "a")
		if err != nil {
			if !errors.Is(err, persistence.ErrCorrupt) && !errors.Is(err, persistence.ErrSchema) {
				t.Errorf("Read = %v, want a damaged file or one of another version", err)
			}
			_, _ = store.Page(t.Context(), "a", persistence.PageQuery{Limit: 3})
			_, _ = store.List(t.Context())
			if _, err := jsonfile.RepairOn(disk.FS(), "/data"); !errors.Is(err, persistence.ErrLocked) {
				t.Errorf("Repair of an open store = %v, want ErrLocked", err)
			}
			return
		}
		page, err := store.Page(t.Context(), "a", persistence.PageQuery{Limit: 3})
		if err != nil || page.Start+len(page.Items) != len(doc.Items) || page.Head.LastSeq != doc.Head.LastSeq {
			t.Errorf("Page = start %d, %d items, %v, Read has %d items", page.Start, len(page.Items), err, len(doc.Items))
		}
		for i := range page.Items {
			if page.Items[i].ID != doc.Items[page.Start+i].ID {
				t.Errorf("page item %d is %q, Read has %q", i, page.Items[i].ID, doc.Items[page.Start+i].ID)
			}
		}
		if doc.Head.ID != messages.SessionID("a") {
			t.Errorf("id = %q, want that of the file", doc.Head.ID)
		}
	})
}

// FuzzRepair repairs a directory of which a segment and a snapshot hold any bytes: it never panics, keeps
// both, and leaves a directory that opens.
func FuzzRepair(f *testing.F) {
	fixture := makeJournal(f)
	f.Add(fixture.text, []byte("{}"))
	f.Add(fixture.text[40:], []byte(`{"id":"a","agent-id":"x"`))
	f.Add([]byte("x\n"), []byte(`{"schema":"agentd.session/1","id":"a","agent-id":"x","last-seq":9,"items":[`))
	f.Fuzz(func(t *testing.T, segment, snapshot []byte) {
		disk := simdisk.New()
		disk.Write(firstLog, segment)
		disk.Write(sessionsDir+"/a.json", snapshot)
		report, err := jsonfile.RepairOn(disk.FS(), "/data")
		if err != nil {
			if !errors.Is(err, persistence.ErrSchema) && !errors.Is(err, persistence.ErrCorrupt) {
				t.Errorf("Repair = %v, want success or another version", err)
			}
			return
		}
		store, err := jsonfile.Open("/data", &jsonfile.Options{FS: disk.FS()})
		if err != nil {
			t.Fatalf("Open after Repair (%+v) = %v", report, err)
		}
		if _, err := store.List(t.Context()); err != nil {
			t.Errorf("List after Repair = %v", err)
		}
		if again := store.Report(); len(again.Bad) > 0 && len(report.Untouched) == 0 {
			t.Errorf("after Repair (%+v) these are bad: %+v", report, again.Bad)
		}
		disk.Kill()
	})
}
