package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"agentd/messages"
	"agentd/persistence"
)

// Store keeps sessions in memory. Make one with [New].
type Store struct {
	mu       sync.RWMutex
	sessions map[messages.SessionID]*session
	closed   bool
}

var _ persistence.Store = (*Store)(nil)

// New returns an empty store.
func New() *Store { return &Store{sessions: make(map[messages.SessionID]*session)} }

// find returns a session that is known, or ErrNotFound.
func (s *Store) find(ctx context.Context, id messages.SessionID) (*session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, persistence.ErrClosed
	}
	found := s.sessions[id]
	if found != nil {
		return found, nil
	}
	if err := id.Validate(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("session %q: %w", id, persistence.ErrNotFound)
}

// Create implements [persistence.Store].
func (s *Store) Create(ctx context.Context, id messages.SessionID) (persistence.Handle, error) {
	if err := ctx.Err(); err != nil {
		return persistence.Handle{}, err
	}
	if err := id.Validate(); err != nil {
		return persistence.Handle{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return persistence.Handle{}, persistence.ErrClosed
	}
	found := s.sessions[id]
	if found == nil {
		found = &session{id: id}
		s.sessions[id] = found
	}
	found.mu.Lock()
	defer found.mu.Unlock()
	if found.state.Deleted {
		return persistence.Handle{}, fmt.Errorf("creating session %q: %w", id, persistence.ErrDeleted)
	}
	if found.state.Exists() {
		return persistence.Handle{}, fmt.Errorf("creating session %q: %w", id, persistence.ErrExists)
	}
	return found.state.Claim(id), nil
}

// Open implements [persistence.Store].
func (s *Store) Open(ctx context.Context, id messages.SessionID) (persistence.Handle, *messages.Document, error) {
	found, err := s.find(ctx, id)
	if err != nil {
		return persistence.Handle{}, nil, err
	}
	found.mu.Lock()
	defer found.mu.Unlock()
	if err := found.readable(); err != nil {
		return persistence.Handle{}, nil, err
	}
	return found.state.Claim(id), found.document(), nil
}

// Commit implements [persistence.Store].
func (s *Store) Commit(ctx context.Context, batch []persistence.Append) []error {
	errs := make([]error, len(batch))
	for i := range batch {
		found, err := s.find(ctx, batch[i].Handle.Session)
		if err != nil {
			errs[i] = err
			continue
		}
		errs[i] = found.commit(&batch[i])
	}
	return errs
}

// Read implements [persistence.Store].
func (s *Store) Read(ctx context.Context, id messages.SessionID) (doc *messages.Document, err error) {
	err = s.view(ctx, id, func(found *session) { doc = found.document() })
	return doc, err
}

// Page implements [persistence.Store].
func (s *Store) Page(ctx context.Context, id messages.SessionID, query persistence.PageQuery) (page persistence.Page, err error) {
	err = s.view(ctx, id, func(found *session) { page = found.page(query) })
	return page, err
}

// Head implements [persistence.Store].
func (s *Store) Head(ctx context.Context, id messages.SessionID) (head messages.Head, err error) {
	err = s.view(ctx, id, func(found *session) { head = found.doc.Head.Clone() })
	return head, err
}

// view calls f with a session that can be read, under its lock.
func (s *Store) view(ctx context.Context, id messages.SessionID, f func(*session)) error {
	found, err := s.find(ctx, id)
	if err != nil {
		return err
	}
	found.mu.Lock()
	defer found.mu.Unlock()
	if err := found.readable(); err != nil {
		return err
	}
	f(found)
	return nil
}

// all returns every session, in no order.
func (s *Store) all() []*session {
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := make([]*session, 0, len(s.sessions))
	for _, found := range s.sessions {
		list = append(list, found)
	}
	return list
}

// isClosed reports ErrClosed after Close.
func (s *Store) isClosed() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return persistence.ErrClosed
	}
	return nil
}

// List implements [persistence.Store].
func (s *Store) List(ctx context.Context) (persistence.Listing, error) {
	var listing persistence.Listing
	if err := cmp.Or(ctx.Err(), s.isClosed()); err != nil {
		return listing, err
	}
	for _, found := range s.all() {
		found.mu.Lock()
		if found.state.Exists() && !found.state.Deleted {
			if err := found.project(); err != nil {
				listing.Bad = append(listing.Bad, persistence.BadSession{ID: found.id, Err: err})
			} else {
				listing.Sessions = append(listing.Sessions, found.doc.Head.Clone())
			}
		}
		found.mu.Unlock()
	}
	listing.Sort()
	return listing, nil
}

// Delete implements [persistence.Store]. The tombstone is what is left of the session in memory.
func (s *Store) Delete(ctx context.Context, id messages.SessionID) error {
	found, err := s.find(ctx, id)
	if err != nil {
		return err
	}
	found.mu.Lock()
	defer found.mu.Unlock()
	switch {
	case !found.state.Exists():
		return fmt.Errorf("deleting session %q: %w", id, persistence.ErrNotFound)
	case !found.state.Deleted:
		return fmt.Errorf("deleting session %q: %w: no deletion was committed", id, persistence.ErrConflict)
	}
	found.doc, found.fresh = nil, tail{}
	found.folded, found.unfolded = 0, 0
	return nil
}

// Fold implements [persistence.Store].
func (s *Store) Fold(ctx context.Context, id messages.SessionID) error {
	found, err := s.find(ctx, id)
	if err != nil {
		return err
	}
	found.mu.Lock()
	deleted, exists := found.state.Deleted, found.state.Exists()
	if exists && !deleted {
		err = found.project()
		if err == nil {
			found.fold()
		}
	}
	found.mu.Unlock()
	switch {
	case !exists:
		return fmt.Errorf("folding session %q: %w", id, persistence.ErrNotFound)
	case deleted:
		return s.Delete(ctx, id)
	default:
		return err
	}
}

// Unfolded implements [persistence.Store].
func (s *Store) Unfolded() []persistence.Unfolded {
	var list []persistence.Unfolded
	for _, found := range s.all() {
		found.mu.Lock()
		if pending := found.pending(); pending.JournalBytes > 0 {
			list = append(list, pending)
		}
		found.mu.Unlock()
	}
	slices.SortFunc(list, func(a, b persistence.Unfolded) int { return cmp.Compare(a.Session, b.Session) })
	return list
}

// UnfoldedOf implements [persistence.Store].
func (s *Store) UnfoldedOf(id messages.SessionID) persistence.Unfolded {
	s.mu.RLock()
	found := s.sessions[id]
	s.mu.RUnlock()
	if found == nil {
		return persistence.Unfolded{Session: id}
	}
	found.mu.Lock()
	defer found.mu.Unlock()
	return found.pending()
}

// Close implements [persistence.Store]. The sessions are gone with it.
func (s *Store) Close(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.sessions = nil
	return nil
}
