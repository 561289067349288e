package simdisk

import "errors"

// ErrDead is what everything answers that was opened before a kill.
var ErrDead = errors.New("the simulated process is dead")

// OpKind names an operation.
type OpKind string

// The operations.
const (
	Open     OpKind = "open"
	Create   OpKind = "create"
	Read     OpKind = "read"
	Write    OpKind = "write"
	Sync     OpKind = "sync"
	Truncate OpKind = "truncate"
	Stat     OpKind = "stat"
	Mkdir    OpKind = "mkdir"
	ReadDir  OpKind = "readdir"
	Rename   OpKind = "rename"
	Remove   OpKind = "remove"
	SyncDir  OpKind = "syncdir"
)

// Changes reports whether the operation changes the disk.
func (k OpKind) Changes() bool {
	switch k {
	case Create, Write, Sync, Truncate, Mkdir, Rename, Remove, SyncDir:
		return true
	case Open, Read, Stat, ReadDir:
		return false
	default:
		return false
	}
}

// Op is an operation that is about to happen.
type Op struct {
	Kind OpKind
	// Path is the file or folder; of a rename, the new name.
	Path string
	// Bytes is how much is to be written.
	Bytes int
}

// Fault is what happens instead of an operation.
type Fault struct {
	// Err is the error that the operation returns.
	Err error
	// Written is how many bytes of a write happen before the error.
	Written int
	// Kill ends the process at this point.
	Kill bool
}

// FaultFunc decides about an operation. Nil lets it happen. It is called by one goroutine at a time.
type FaultFunc func(op Op) *Fault

// OnNth fails the n-th operation of a kind, from 1, and no other.
func OnNth(kind OpKind, n int, fault Fault) FaultFunc {
	return func(op Op) *Fault {
		if op.Kind != kind {
			return nil
		}
		if n--; n != 0 {
			return nil
		}
		return &fault
	}
}

// Always fails every operation of some kinds.
func Always(fault Fault, kinds ...OpKind) FaultFunc {
	return func(op Op) *Fault {
		for _, kind := range kinds {
			if op.Kind == kind {
				return &fault
			}
		}
		return nil
	}
}

// KillAtChange kills the process at the n-th operation that changes the disk, from 1. Half of a write happens.
func KillAtChange(n int) FaultFunc {
	return func(op Op) *Fault {
		if !op.Kind.Changes() {
			return nil
		}
		if n--; n != 0 {
			return nil
		}
		return &Fault{Err: ErrDead, Written: op.Bytes / 2, Kill: true}
	}
}
