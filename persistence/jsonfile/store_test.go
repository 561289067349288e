package jsonfile_test

import (
	"strings"
	"testing"

	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/jsonfile"
	"agentd/testkit/storetest"
	"agentd/testkit/storetest/simdisk"
)

// TestStore runs the suite on a simulated disk, with settings that make every rare thing happen often.
func TestStore(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]jsonfile.Options{
		"defaults":       {PreallocateBytes: 4096},
		"small segments": {SegmentBytes: 2000, PreallocateBytes: 512},
		"tiny segments":  {SegmentBytes: 1, PreallocateBytes: -1, IdleSessions: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, func(testing.TB) *storetest.Backend { return onSimdisk(opts) })
		})
	}
}

// TestStoreOnRealDisk runs the suite, without faults, on the file system that tests have.
func TestStoreOnRealDisk(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(tb testing.TB) *storetest.Backend {
		dir := tb.TempDir()
		return &storetest.Backend{
			Open:    func() (persistence.Store, error) { return jsonfile.Open(dir, nil) },
			Durable: true,
		}
	})
}

func onSimdisk(opts jsonfile.Options) *storetest.Backend {
	disk := simdisk.New()
	return &storetest.Backend{
		Open: func() (persistence.Store, error) {
			fresh := opts
			fresh.FS = disk.FS()
			return jsonfile.Open("/data", &fresh)
		},
		Disk: disk,
	}
}

// TestLongestRecord stores the longest item that there can be, of which every byte needs an escape.
func TestLongestRecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := open(t, dir, nil)
	handle := begin(t, store, "s1")
	longest := message(1)
	longest.Content = strings.Repeat("\x01", messages.MaxItemBytes-1000)
	mustCommit(t, store, persistence.Append{Handle: handle, ID: 2, After: 1, Records: []messages.Record{
		record(t, 2, messages.ItemAppended{Item: &longest}),
	}})
	for range 2 {
		page, err := store.Page(t.Context(), "s1", persistence.PageQuery{Limit: 1})
		if err != nil || len(page.Items) != 1 || page.Items[0].Content != longest.Content {
			t.Fatalf("Page = %d items, %v, want the longest one as it was written", len(page.Items), err)
		}
		if err := store.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		store = open(t, dir, nil)
	}
}
