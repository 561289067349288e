package jsonfile_test

import (
	"testing"

	"agentd/persistence"
	"agentd/persistence/jsonfile"
	"agentd/testkit/storetest"
	"agentd/testkit/storetest/simdisk"
)

// TestStore runs the suite on a simulated disk, with settings that make every rare thing happen often.
func TestStore(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]jsonfile.Options{
		"defaults":         {PreallocateBytes: 4096},
		"small segments":   {SegmentBytes: 2000, PreallocateBytes: 512},
		"tiny segments":    {SegmentBytes: 1, PreallocateBytes: -1},
		"forgets sessions": {SegmentBytes: 4000, PreallocateBytes: -1, IdleSessions: 1},
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
