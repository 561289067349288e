package persistence

import (
	"errors"
	"fmt"

	"agentd/messages"
)

// The errors of a store. They come wrapped in errors that name the session or the file.
var (
	// ErrConflict means that the append does not follow the last stored number. The handle is dead.
	ErrConflict = errors.New("sequence conflict")
	// ErrFenced means that another writer has opened the session since. The handle is dead.
	ErrFenced = errors.New("fenced by a newer writer")
	// ErrUnknown means that the append may or may not be stored. Repeat the same append.
	ErrUnknown = errors.New("outcome unknown")
	// ErrUnavailable means that the append is certainly not stored. It may be tried again.
	ErrUnavailable = errors.New("store unavailable")
	// ErrNotFound means that there is no such session.
	ErrNotFound = errors.New("session not found")
	// ErrExists means that the session that should be created is there already.
	ErrExists = errors.New("session exists already")
	// ErrDeleted means that the session was deleted.
	ErrDeleted = errors.New("session was deleted")
	// ErrTooLarge means that a record or an append is over the limit.
	ErrTooLarge = errors.New("too large for the store")
	// ErrCorrupt means that stored bytes are not what was written. It comes as a [CorruptError].
	ErrCorrupt = errors.New("corrupt")
	// ErrSchema means that a file was written by another version. It is left untouched.
	ErrSchema = errors.New("unknown schema")
	// ErrLocked means that another process owns the data directory.
	ErrLocked = errors.New("data directory is in use by another process")
	// ErrClosed means that the store was closed.
	ErrClosed = errors.New("store is closed")
)

// IsPermanent reports whether trying the same call again cannot help.
func IsPermanent(err error) bool {
	for _, transient := range []error{ErrUnknown, ErrUnavailable} {
		if errors.Is(err, transient) {
			return false
		}
	}
	return err != nil
}

// CorruptError says where stored bytes are wrong.
type CorruptError struct {
	// Session is the session concerned, if it is known.
	Session messages.SessionID
	// File is the file's path.
	File string
	// Line is the line in it, from 1, or 0 when the fault has no line.
	Line int
	// Reason says what is wrong, and what a person can do.
	Reason string
}

// Error implements error.
func (e *CorruptError) Error() string {
	where := e.File
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	return fmt.Sprintf("%s: corrupt: %s", where, e.Reason)
}

// Is makes errors.Is(err, ErrCorrupt) true.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }
