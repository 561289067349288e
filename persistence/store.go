package persistence

import (
	"context"

	"agentd/messages"
)

// Limits of every store.
const (
	// MaxRecordBytes is the largest body of one record. It holds the largest item
	// ([messages.MaxItemBytes]) when every byte of it needs an escape.
	MaxRecordBytes = 6*messages.MaxItemBytes + 1<<20
	// MaxAppendBytes is the most that the bodies of one append hold together.
	MaxAppendBytes = 4 * MaxRecordBytes
	// MaxPageItems is the most items that one page holds.
	MaxPageItems = 1000
)

// Handle is the right to write one session. It is a plain value: it may cross a
// mailbox or a wire. It is dead after [ErrConflict] or [ErrFenced].
type Handle struct {
	Session messages.SessionID
	// Epoch is one more than that of the writer before.
	Epoch uint64
}

// Append is what [Store.Commit] stores as one.
type Append struct {
	Handle Handle
	// ID tells a repeat of this append from another one. It is unique among the appends of its handle.
	ID uint64
	// After is the sequence number that the first record follows.
	After uint64
	// Records are numbered After+1, After+2, ... The first append of a handle begins with
	// the record that claims its epoch. The store keeps neither the slice nor the bodies: when Commit has returned, their memory is the caller's again.
	Records []messages.Record
}

// PageQuery asks for items from the end of a session.
type PageQuery struct {
	// Before is the position (from 0) that the page ends before. 0 or less means the end.
	Before int
	// Limit is the most items wanted. 0 means [MaxPageItems], which is also the most.
	Limit int
}

// Page is a run of items in their order.
type Page struct {
	Head  messages.Head
	Items []messages.Item
	// Start is the position of the first item, from 0. A page before this one is asked for with Before: Start.
	Start int
}

// BadSession is a stored session that cannot be read.
type BadSession struct {
	// ID is the session's id, or the file's name where it gives none.
	ID  messages.SessionID
	Err error
}

// Listing is the good sessions, latest change first and then by id, and, by name, the bad ones.
type Listing struct {
	Sessions []messages.Head
	Bad      []BadSession
}

// Unfolded tells what a session has in the journal that its snapshot lacks.
type Unfolded struct {
	Session messages.SessionID
	// Running says whether a turn runs, as far as the records tell.
	Running bool
	// JournalBytes is the size of its unfolded records.
	JournalBytes int64
	// SnapshotBytes is the size of its snapshot, 0 when there is none.
	SnapshotBytes int64
	// Holds says that it keeps an old part of the journal from being dropped: it should be folded.
	Holds bool
}

// Store keeps sessions. The package comment lists what every store promises. Errors about one session name it.
type Store interface {
	// Create returns the handle for a new session. Nothing is stored until the first
	// append, which begins with [messages.Created]. Errors: [ErrExists], [ErrDeleted], an invalid id.
	Create(ctx context.Context, id messages.SessionID) (Handle, error)
	// Open returns the handle for a stored session, and the session. Nothing is
	// stored until the first append, which begins with [messages.Opened]; older
	// handles are fenced at once within this process. Errors: [ErrNotFound], [ErrDeleted], [ErrCorrupt], [ErrSchema].
	Open(ctx context.Context, id messages.SessionID) (Handle, *messages.Document, error)
	// Commit stores a batch of appends of different handles, makes it durable once, and
	// returns one error (or nil) for each append. A fault of one append does not touch the others.
	// It is called by one goroutine at a time. The context is looked at before anything is written, not
	// after. Errors: [ErrConflict], [ErrFenced], [ErrDeleted], [ErrTooLarge], [ErrUnknown], [ErrUnavailable], [ErrClosed].
	Commit(ctx context.Context, batch []Append) []error
	// Read returns the whole session without claiming it. The caller owns the document.
	Read(ctx context.Context, id messages.SessionID) (*messages.Document, error)
	// Page reads items backwards from the end, with the memory of one page.
	Page(ctx context.Context, id messages.SessionID, query PageQuery) (Page, error)
	// Head returns a session without its items.
	Head(ctx context.Context, id messages.SessionID) (messages.Head, error)
	// List returns the heads of all sessions. A bad session never fails the listing.
	List(ctx context.Context) (Listing, error)
	// Delete removes a session for which a [messages.Deleted] record was committed, and keeps a tombstone.
	// Deleting again is harmless. Errors: [ErrNotFound], [ErrConflict] without that record, [ErrUnavailable].
	Delete(ctx context.Context, id messages.SessionID) error
	// Fold writes the snapshot of one session from its snapshot and its journal. Folding what is folded does nothing. Calls
	// for one session do not overlap.
	Fold(ctx context.Context, id messages.SessionID) error
	// Unfolded lists the sessions that have records in the journal, and tells how much. It reads no file.
	Unfolded() []Unfolded
	// UnfoldedOf is Unfolded for one session. It is cheap and never blocks in I/O.
	UnfoldedOf(id messages.SessionID) Unfolded
	// Close folds every session, so that the snapshots alone are complete, and releases the store. An error says what could not be folded; nothing is lost by it.
	Close(ctx context.Context) error
}
