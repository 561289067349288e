package atomicfile_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"agentd/persistence/jsonfile/atomicfile"
	"agentd/testkit/storetest/simdisk"
)

// TestWriteFaults fails each step: the old content stays, no temporary file is left, and the cause is told.
func TestWriteFaults(t *testing.T) {
	t.Parallel()
	for _, kind := range []simdisk.OpKind{simdisk.Mkdir, simdisk.Create, simdisk.Write, simdisk.Sync, simdisk.Rename} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			disk := simdisk.New()
			disk.Write("/d/c.json", []byte("old"))
			disk.Inject(simdisk.OnNth(kind, 1, simdisk.Fault{Err: syscall.ENOSPC, Written: 1}))
			err := atomicfile.WriteOn(disk.FS(), "/d/c.json", []byte("new"))
			if !errors.Is(err, syscall.ENOSPC) || errors.Is(err, atomicfile.ErrUnconfirmed) {
				t.Errorf("WriteOn = %v, want ENOSPC", err)
			}
			if text, _ := disk.Read("/d/c.json"); string(text) != "old" || len(disk.Paths()) != 1 {
				t.Errorf("content = %q, files %q, want the old one alone", text, disk.Paths())
			}
		})
	}
}

func TestWriteUnconfirmed(t *testing.T) {
	t.Parallel()
	disk := simdisk.New()
	disk.Inject(simdisk.OnNth(simdisk.SyncDir, 1, simdisk.Fault{Err: syscall.EIO}))
	err := atomicfile.WriteOn(disk.FS(), "/d/c.json", []byte("new"))
	if !errors.Is(err, atomicfile.ErrUnconfirmed) || !errors.Is(err, syscall.EIO) {
		t.Errorf("WriteOn = %v, want ErrUnconfirmed and its cause", err)
	}
}

// TestWriteKills ends the process at every change, and cuts the power: the content is the old or the new.
func TestWriteKills(t *testing.T) {
	t.Parallel()
	for n := 1; n < 12; n++ {
		for seed := range uint64(6) {
			t.Run(fmt.Sprintf("change %d, seed %d", n, seed), func(t *testing.T) {
				t.Parallel()
				disk := simdisk.New()
				disk.Write("/d/c.json", []byte("old"))
				disk.Inject(simdisk.KillAtChange(n))
				err := atomicfile.WriteOn(disk.FS(), "/d/c.json", []byte("new"))
				disk.PowerCut(seed)
				text, _ := disk.Read("/d/c.json")
				if err == nil && string(text) != "new" || string(text) != "new" && string(text) != "old" {
					t.Errorf("content = %q after WriteOn = %v", text, err)
				}
			})
		}
	}
}
