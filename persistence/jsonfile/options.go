package jsonfile

import (
	"fmt"

	"agentd/persistence/jsonfile/diskfs"
)

// Defaults of [Options].
const (
	// DefaultSegmentBytes is the size at which a journal segment is closed and a new one begun.
	DefaultSegmentBytes = 64 << 20
	// DefaultPreallocateBytes is how far zeros are written ahead of the journal's end. Overwriting them and
	// fdatasync took 0.28 ms where growing the file took 0.47 ms (ext4, 600 bytes, p50).
	DefaultPreallocateBytes = 1 << 20
	// DefaultHeldSegments is how many full segments the journal may have before sessions are asked to be folded for the sake of the oldest. With 1,000
	// sessions that are never at rest, folding took 37 of 100 parts of the time with none held, and a fourth of that with three; a start
	// after a crash reads about 900 MB a second.
	DefaultHeldSegments = 3
	// DefaultIdleSessions is how many sessions with nothing in the journal are remembered.
	DefaultIdleSessions = 4096
)

const maxSegmentBytes = 1 << 30

// Options are the settings of a [Store]. Nil and the zero value mean the defaults.
type Options struct {
	// FS is the disk, for tests. Nil means [diskfs.OS].
	FS diskfs.FS
	// SegmentBytes is the size of a journal segment, from 1 to 1 GiB; a segment may be longer by one batch. 0 means [DefaultSegmentBytes].
	SegmentBytes int64
	// PreallocateBytes is how far the journal is filled with zeros ahead. 0 means [DefaultPreallocateBytes], a
	// negative number means not at all.
	PreallocateBytes int64
	// HeldSegments is how many full segments sessions may hold back before [persistence.Unfolded] says so of those that need the oldest. More of
	// them mean that busy sessions are folded less often, and that a start after a crash reads more. 0 means [DefaultHeldSegments], a
	// negative number none.
	HeldSegments int
	// IdleSessions is how many sessions that are wholly folded are remembered, at about 150 bytes each, so that their
	// writers go on without a look at the disk. 0 means [DefaultIdleSessions].
	IdleSessions int
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.FS == nil {
		out.FS = diskfs.OS{}
	}
	if out.SegmentBytes == 0 {
		out.SegmentBytes = DefaultSegmentBytes
	}
	if out.PreallocateBytes == 0 {
		out.PreallocateBytes = DefaultPreallocateBytes
	}
	if out.HeldSegments == 0 {
		out.HeldSegments = DefaultHeldSegments
	}
	if out.IdleSessions == 0 {
		out.IdleSessions = DefaultIdleSessions
	}
	return out
}

func (o *Options) validate() error {
	if o.SegmentBytes < 1 || o.SegmentBytes > maxSegmentBytes {
		return fmt.Errorf("invalid Options.SegmentBytes is %d, want 1 to %d", o.SegmentBytes, maxSegmentBytes)
	}
	if o.PreallocateBytes > o.SegmentBytes && o.PreallocateBytes != DefaultPreallocateBytes {
		return fmt.Errorf("invalid Options.PreallocateBytes is %d, want at most SegmentBytes, %d", o.PreallocateBytes, o.SegmentBytes)
	}
	if o.IdleSessions < 0 {
		return fmt.Errorf("invalid Options.IdleSessions is %d, want 0 or more", o.IdleSessions)
	}
	return nil
}
