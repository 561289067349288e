package folder

import (
	"hash/maphash"
	"sync"
)

// Locks lets one tool at a time change the files of a folder, for folders without number. Two folders may share a lock. The zero
// value is not ready: use [NewLocks].
type Locks struct {
	seed    maphash.Seed
	stripes [64]sync.Mutex
}

// NewLocks returns locks that nobody holds.
func NewLocks() *Locks { return &Locks{seed: maphash.MakeSeed()} }

// Lock waits for the lock of a folder and returns the function that frees it. The holder takes no second one.
func (l *Locks) Lock(path string) (unlock func()) {
	mu := &l.stripes[maphash.String(l.seed, path)%uint64(len(l.stripes))]
	mu.Lock()
	return mu.Unlock
}
