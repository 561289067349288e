package jsonfile

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"sync"

	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/internal/ledger"
	"agentd/persistence/jsonfile/diskfs"
)

// Store keeps sessions in files under a data directory, which it owns from [Open] to [Store.Close].
type Store struct {
	// Set at construction.
	fsys    diskfs.FS
	paths   layout
	table   *crc32.Table
	opts    Options
	lock    io.Closer
	index   *index
	journal *journal
	report  Report
	buffers buffers

	// life is held for reading by every call, and for writing by the one that closes.
	life   sync.RWMutex
	closed bool

	// writing is held by Commit, and guards what follows it.
	writing sync.Mutex
	buf     []byte
	slots   []slot
	found   []*session
}

var _ persistence.Store = (*Store)(nil)

// Open takes a data directory, which is made if need be, and recovers what a crash left in its journal. It reads the
// journal and the heads of the snapshots that it names, and makes durable what it found at the end: what is shown stays. Errors: [persistence.ErrLocked], a
// [persistence.CorruptError] for a damaged journal, [persistence.ErrSchema] for one of another version, or what the disk
// said. A damaged snapshot is no error here: that session is bad, and [Store.Report] names it.
func Open(dataDir string, opts *Options) (*Store, error) {
	settings := opts.withDefaults()
	if err := settings.validate(); err != nil {
		return nil, err
	}
	root, err := filepath.Abs(dataDir)
	if err != nil {
		return nil, fmt.Errorf("opening the data directory %q: %w", dataDir, err)
	}
	lock, err := acquire(settings.FS, root)
	if err != nil {
		return nil, err
	}
	s := newStore(root, settings, lock)
	if err := s.recover(); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the data directory %q: %w", dataDir, err), s.release())
	}
	return s, nil
}

// acquire makes the data directory and takes its lock.
func acquire(fsys diskfs.FS, root string) (io.Closer, error) {
	if err := fsys.MkdirAll(root, dirMode); err != nil {
		return nil, fmt.Errorf("making the data directory %q: %w", root, err)
	}
	lock, err := fsys.Lock(filepath.Join(root, lockName))
	var held *diskfs.HeldError
	switch {
	case errors.As(err, &held) && held.PID > 0:
		return nil, fmt.Errorf("%w: %q is held by process %d; stop it or choose another data directory", persistence.ErrLocked, root, held.PID)
	case errors.Is(err, diskfs.ErrHeld):
		return nil, fmt.Errorf("%w: %q; stop it or choose another data directory", persistence.ErrLocked, root)
	case err != nil:
		return nil, fmt.Errorf("taking the data directory %q: %w", root, err)
	}
	return lock, nil
}

func newStore(root string, opts Options, lock io.Closer) *Store {
	s := &Store{
		fsys:  opts.FS,
		paths: newLayout(root),
		table: crc32.MakeTable(crc32.Castagnoli),
		opts:  opts,
		lock:  lock,
		index: newIndex(),
	}
	s.paths.probe(s.fsys)
	s.journal = &journal{fsys: s.fsys, paths: s.paths, table: s.table, opts: opts, index: s.index, next: 1}
	return s
}

// Report tells what Open found and did.
func (s *Store) Report() Report { return s.report }

// enter begins a call. The caller calls the result at its end.
func (s *Store) enter(ctx context.Context) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.life.RLock()
	if s.closed {
		s.life.RUnlock()
		return nil, persistence.ErrClosed
	}
	return s.life.RUnlock, nil
}

// known returns what memory has of a session, or nil. The index is locked.
func (s *Store) known(id messages.SessionID) *session {
	sess := s.index.sessions[s.paths.key(id)]
	if sess == nil || sess.id != id {
		return nil
	}
	return sess
}

// find returns the session of an id, from memory or from its files, and remembers it. The errors are those of a session
// that is not there or not readable.
func (s *Store) find(id messages.SessionID) (*session, error) {
	if err := validateID(id); err != nil {
		return nil, err
	}
	s.index.mu.Lock()
	sess := s.known(id)
	s.index.mu.Unlock()
	if sess != nil {
		return sess, nil
	}
	loaded, err := s.load(id)
	if err != nil {
		return nil, err
	}
	return s.remember(loaded)
}

// load makes what is kept of a session from its files.
func (s *Store) load(id messages.SessionID) (*session, error) {
	switch _, err := s.fsys.Stat(s.paths.tombstone(id)); {
	case err == nil:
		return nil, persistence.ErrDeleted
	case !missing(err):
		return nil, unavailable("looking for a tombstone", err)
	}
	snap, err := s.openSnapshot(id)
	if err != nil {
		return nil, err
	}
	defer snap.close()
	return &session{
		id:            id,
		snapshotBytes: snap.size,
		ledger:        ledger.Session{LastSeq: snap.head.LastSeq, Epoch: snap.head.Epoch, Claimed: snap.head.Epoch},
		running:       snap.head.Status == messages.SessionRunning,
	}, nil
}

// remember adds a session to the index, unless somebody was faster.
func (s *Store) remember(sess *session) (*session, error) {
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	key := s.paths.key(sess.id)
	if there := s.index.sessions[key]; there != nil {
		if there.id != sess.id {
			return nil, caseClash(sess.id, there.id)
		}
		return there, nil
	}
	s.index.sweep(s.opts.IdleSessions)
	s.index.sessions[key] = sess
	return sess, nil
}

// caseClash is the error for an id that would share its file with another.
func caseClash(id, other messages.SessionID) error {
	return fmt.Errorf("%w: this file system takes %q and the stored %q for one name", persistence.ErrExists, id, other)
}

// release gives back what Open took.
func (s *Store) release() error {
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	var errs []error
	for _, seg := range s.index.segs {
		errs = append(errs, seg.close())
	}
	return errors.Join(append(errs, s.lock.Close())...)
}
