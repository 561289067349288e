package catalog

import (
	"encoding/binary"
	"hash/fnv"
	"time"
)

// stamp tells whether the files of a unit are the ones that were parsed.
type stamp struct {
	size, modNS int64
	// changeNS and inode see what a program does that restores the time of what it changed or replaced. They are 0 where the system does not
	// tell them.
	changeNS int64
	inode    uint64
	with     uint64 // hash of the paths and states of Unit.With
}

// fileState is what the system tells of a file.
type fileState struct {
	size, modNS, changeNS int64
	inode                 uint64
	regular               bool
}

// stampOf combines what the system tells of a unit's files. settled reports whether a later change to them will be seen: one that comes
// in the same tick of the file system's clock as the last one has the same times.
func stampOf(u Unit, file fileState, dirs *dirStat, now time.Time) (s stamp, settled bool) {
	s = stamp{size: file.size, modNS: file.modNS, changeNS: file.changeNS, inode: file.inode}
	settled = longAgo(file.modNS, now)
	if len(u.With) == 0 {
		return s, settled
	}
	h := fnv.New64a()
	var buf [40]byte
	for _, path := range u.With {
		clear(buf[:])
		if side, err := dirs.stat(path); err == nil {
			for i, n := range [...]uint64{1, uint64(side.size), uint64(side.modNS), uint64(side.changeNS), side.inode} {
				binary.LittleEndian.PutUint64(buf[8*i:], n)
			}
			settled = settled && longAgo(side.modNS, now)
		}
		_, _ = h.Write(append(buf[:], path...)) // A hash never fails.
	}
	s.with = h.Sum64()
	return s, settled
}

// The ticks of file systems: most count in the ticks of the system, some in two seconds.
const (
	fineTick   = 20 * time.Millisecond
	coarseTick = 2 * time.Second
)

// longAgo reports whether a time is more than a tick away from now.
func longAgo(modNS int64, now time.Time) bool {
	tick := fineTick
	if modNS%int64(time.Second) == 0 {
		tick = coarseTick
	}
	age := now.Sub(time.Unix(0, modNS))
	return age > tick || age < -tick
}
