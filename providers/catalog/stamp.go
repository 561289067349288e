package catalog

import (
	"encoding/binary"
	"hash/fnv"
	"strings"
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

// stampOf combines what the system tells of a unit's files, and of those that it uses. settled reports whether a later change to them will be
// seen: one that comes in the same tick of the file system's clock as the last one has the same times. since is when the files were looked at first.
func stampOf(u Unit, uses string, file fileState, dirs *dirStat, since time.Time) (s stamp, settled bool) {
	s = stamp{size: file.size, modNS: file.modNS, changeNS: file.changeNS, inode: file.inode}
	settled = longAgo(file.modNS, since)
	if len(u.With) == 0 && uses == "" {
		return s, settled
	}
	h := fnv.New64a()
	var buf [40]byte
	add := func(path string) {
		clear(buf[:])
		if side, err := dirs.stat(path); err == nil {
			for i, n := range [...]uint64{1, uint64(side.size), uint64(side.modNS), uint64(side.changeNS), side.inode} {
				binary.LittleEndian.PutUint64(buf[8*i:], n)
			}
			settled = settled && longAgo(side.modNS, since)
		}
		_, _ = h.Write(append(buf[:], path...)) // A hash never fails.
	}
	for _, path := range u.With {
		add(path)
	}
	for uses != "" {
		var path string
		path, uses, _ = strings.Cut(uses, "\x00")
		add(path)
	}
	s.with = h.Sum64()
	return s, settled
}

// The ticks of file systems: most count in the ticks of the system, some in two seconds.
const (
	fineTick   = 20 * time.Millisecond
	coarseTick = 2 * time.Second
)

// longAgo reports whether a time is more than a tick before since. One that lies in the future is not of this clock, and tells nothing.
func longAgo(modNS int64, since time.Time) bool {
	tick := fineTick
	if modNS%int64(time.Second) == 0 {
		tick = coarseTick
	}
	mod := time.Unix(0, modNS)
	return mod.Before(since.Add(-tick)) || mod.After(time.Now().Add(tick))
}
