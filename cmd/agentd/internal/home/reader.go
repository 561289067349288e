package home

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/jsonfile"
	"agentd/persistence/jsonfile/diskfs"
)

// readAttempts is how often a picture of the directory is taken anew, when the owner changed it while it was taken.
const readAttempts = 5

// Reader is a picture of the sessions as they were durable when [Dir.Read] was called. It keeps nobody from writing.
type Reader struct {
	dir   Dir
	store *jsonfile.Store
	// owned is whether somebody runs the sessions; nil when nobody has looked yet.
	owned *bool
}

// Read opens the directory for reading. One that does not exist has no sessions. Close it at the end.
func (d Dir) Read() (*Reader, error) {
	var err error
	for range readAttempts {
		var store *jsonfile.Store
		store, err = jsonfile.Open(string(d), &jsonfile.Options{FS: spectator{}})
		if err == nil {
			return &Reader{dir: d, store: store}, nil
		}
		// The owner may be in the middle of a write, or have removed a file that was just listed.
		if !errors.Is(err, persistence.ErrCorrupt) && !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return nil, err
}

// Close lets go of the files.
func (r *Reader) Close() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()               // So that it does not even try to fold.
	_ = r.store.Close(ctx) // It says that nothing was folded, which is what was wanted.
}

// List returns the heads of all sessions, the latest first, and the bad ones by name.
func (r *Reader) List(ctx context.Context) (persistence.Listing, error) {
	listing, err := r.store.List(ctx)
	for i := range listing.Sessions {
		r.rest(&listing.Sessions[i])
	}
	return listing, err
}

// Head returns a session without its items.
func (r *Reader) Head(ctx context.Context, id messages.SessionID) (messages.Head, error) {
	head, err := r.store.Head(ctx, id)
	if err != nil {
		return head, about(id, err)
	}
	r.rest(&head)
	return head, nil
}

// Page returns items from the end of a session.
func (r *Reader) Page(ctx context.Context, id messages.SessionID, query persistence.PageQuery) (persistence.Page, error) {
	page, err := r.store.Page(ctx, id, query)
	if err != nil {
		return page, about(id, err)
	}
	r.rest(&page.Head)
	return page, nil
}

// Document returns a whole session.
func (r *Reader) Document(ctx context.Context, id messages.SessionID) (*messages.Document, error) {
	doc, err := r.store.Read(ctx, id)
	if err != nil {
		return nil, about(id, err)
	}
	r.rest(&doc.Head)
	return doc, nil
}

func about(id messages.SessionID, err error) error {
	return fmt.Errorf("reading session %q: %w", id, err)
}

// rest makes a head say interrupted when it says running and nobody is there to run it.
func (r *Reader) rest(head *messages.Head) {
	if head.Status == messages.SessionRunning && !r.isOwned() {
		*head = head.Interrupted()
	}
}

func (r *Reader) isOwned() bool {
	if r.owned == nil {
		owned := r.dir.owned()
		r.owned = &owned
	}
	return *r.owned
}

// owned reports whether a process holds the directory. It takes the lock for a moment when nobody does, so it is asked only when a
// turn seems to run.
func (d Dir) owned() bool {
	_, owned := d.Owner()
	return owned
}

// Owner reports whether a process holds the directory, and its number, which is 0 if it is not known. When nobody holds it, it takes the lock
// for a moment, in which another process that starts is refused; so it is for questions that people ask.
func (d Dir) Owner() (pid int, owned bool) {
	if _, err := os.Stat(d.lock()); err != nil {
		return 0, false
	}
	lock, err := diskfs.OS{}.Lock(d.lock())
	if err != nil {
		var held *diskfs.HeldError
		if errors.As(err, &held) {
			pid = held.PID
		}
		return pid, errors.Is(err, diskfs.ErrHeld)
	}
	_ = lock.Close() // It was taken to see that it could be.
	return 0, false
}

// Stamp is a text that changes when something is written to the journal or to the file of a session. It is cheap: it reads no file.
func (d Dir) Stamp(id messages.SessionID) string {
	var stamp strings.Builder
	note := func(info fs.FileInfo, err error) {
		if err == nil {
			fmt.Fprintf(&stamp, "%s %d %d\n", info.Name(), info.Size(), info.ModTime().UnixNano())
		}
	}
	note(os.Stat(d.Session(id)))
	segments, err := os.ReadDir(filepath.Join(d.Sessions(), "journal"))
	if err != nil {
		return stamp.String()
	}
	for _, segment := range segments {
		note(segment.Info())
	}
	return stamp.String()
}
