package catalog

import (
	"errors"
	"io/fs"

	"agentd/providers/catalog/bounded"
)

// Reason says why something that was seen is not listed. Nothing is left out without one.
type Reason string

// Reasons that are in the nature of a store. They are counted and give no warning.
const (
	// Empty is a file of no bytes.
	Empty Reason = "empty"
	// NoConversation is a session in which nothing was said.
	NoConversation Reason = "no_conversation"
	// NotASession is something else that lies where sessions lie.
	NotASession Reason = "not_a_session"
	// Gone is a session that an index names and whose transcript does not exist any more.
	Gone Reason = "gone"
	// Duplicate is a further file of a session that is listed.
	Duplicate Reason = "duplicate"
	// PartOfSession is a file of a session that is listed by another one, such as a sub-agent's log that has no id of
	// its own to resume.
	PartOfSession Reason = "part_of_a_session"
	// Unresumable is a session that its agent refuses to resume.
	Unresumable Reason = "unresumable"
)

// Reasons that mean a loss. They are counted and give a warning.
const (
	// Unreadable is a file or folder that the system does not let us read.
	Unreadable Reason = "unreadable"
	// NotRegular is a pipe, a device or a folder where a file is expected.
	NotRegular Reason = "not_a_regular_file"
	// Corrupt is a file whose content is damaged.
	Corrupt Reason = "corrupt"
	// TooLarge is a file that is larger than its bound, or in which nothing was found within the bound.
	TooLarge Reason = "too_large"
	// Unresolved is a session whose project cannot be told.
	Unresolved Reason = "unresolved_project"
	// Unsupported is a format that no reader knows.
	Unsupported Reason = "unsupported_format"
	// Fault is an error in the reader itself.
	Fault Reason = "reader_fault"
	// InvalidMetadata is a session whose id or project path no answer can hold.
	InvalidMetadata Reason = "invalid_metadata"
)

// Loss reports whether the reason means that a session may be missing. A loss gives a warning.
func (r Reason) Loss() bool {
	switch r {
	case Empty, NoConversation, NotASession, Gone, Duplicate, PartOfSession, Unresumable:
		return false
	default:
		return true
	}
}

// ReasonOf tells the reason behind an error from package bounded, from package database or from the system.
func ReasonOf(err error) Reason {
	switch {
	case errors.Is(err, bounded.ErrNotRegular):
		return NotRegular
	case errors.Is(err, bounded.ErrTooLarge):
		return TooLarge
	case errors.Is(err, bounded.ErrEmpty):
		return Empty
	case errors.Is(err, bounded.ErrCorrupt):
		return Corrupt
	case errors.Is(err, fs.ErrNotExist):
		return Gone
	case errors.Is(err, errFault):
		return Fault
	default:
		return Unreadable
	}
}

var errFault = errors.New("fault in the reader")
