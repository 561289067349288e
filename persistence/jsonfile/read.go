package jsonfile

import (
	"context"
	"errors"

	"agentd/messages"
	"agentd/persistence"
)

// Create implements [persistence.Store]. Where the file system does not tell "A" from "a", an id that differs from a stored one in
// that alone exists.
func (s *Store) Create(ctx context.Context, id messages.SessionID) (persistence.Handle, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return persistence.Handle{}, err
	}
	defer leave()
	handle, err := s.create(id)
	if err != nil {
		return persistence.Handle{}, about("creating", id, err)
	}
	return handle, nil
}

func (s *Store) create(id messages.SessionID) (persistence.Handle, error) {
	_, err := s.find(id)
	if err != nil && !isNotFound(err) {
		return persistence.Handle{}, err
	}
	if err != nil {
		if _, err := s.fsys.Stat(s.paths.snapshot(id)); err == nil {
			return persistence.Handle{}, caseClash(id, s.paths.key(id))
		}
	}
	for {
		sess, err := s.remember(&session{id: id})
		if err != nil {
			return persistence.Handle{}, err
		}
		s.index.mu.Lock()
		if s.known(id) != sess {
			s.index.mu.Unlock()
			continue
		}
		for sess.committing {
			s.index.settled.Wait()
		}
		defer s.index.mu.Unlock()
		switch {
		case sess.bad != nil:
			return persistence.Handle{}, sess.bad
		case sess.ledger.Deleted:
			return persistence.Handle{}, persistence.ErrDeleted
		case sess.ledger.Exists():
			return persistence.Handle{}, persistence.ErrExists
		}
		return sess.ledger.Claim(id), nil
	}
}

// Open implements [persistence.Store].
func (s *Store) Open(ctx context.Context, id messages.SessionID) (persistence.Handle, *messages.Document, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return persistence.Handle{}, nil, err
	}
	defer leave()
	handle, err := s.claim(id)
	if err != nil {
		return persistence.Handle{}, nil, about("opening", id, err)
	}
	doc, err := s.document(id)
	if err != nil {
		return persistence.Handle{}, nil, about("opening", id, err)
	}
	return handle, doc, nil
}

// claim fences the older handles of a session, and waits until none of them writes.
func (s *Store) claim(id messages.SessionID) (persistence.Handle, error) {
	for {
		sess, err := s.find(id)
		if err != nil {
			return persistence.Handle{}, err
		}
		s.index.mu.Lock()
		if s.known(id) != sess {
			s.index.mu.Unlock()
			continue
		}
		defer s.index.mu.Unlock()
		switch {
		case sess.bad != nil:
			return persistence.Handle{}, sess.bad
		case sess.ledger.Deleted:
			return persistence.Handle{}, persistence.ErrDeleted
		case !sess.ledger.Exists() && !sess.committing:
			return persistence.Handle{}, persistence.ErrNotFound
		}
		handle := sess.ledger.Claim(id)
		for sess.committing {
			s.index.settled.Wait()
		}
		switch {
		case sess.ledger.Deleted:
			return persistence.Handle{}, persistence.ErrDeleted
		case !sess.ledger.Exists():
			return persistence.Handle{}, persistence.ErrNotFound
		}
		return handle, nil
	}
}

// Read implements [persistence.Store].
func (s *Store) Read(ctx context.Context, id messages.SessionID) (*messages.Document, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	doc, err := s.document(id)
	if err != nil {
		return nil, about("reading", id, err)
	}
	return doc, nil
}

func (s *Store) document(id messages.SessionID) (*messages.Document, error) {
	r, err := s.openReading(id)
	if err != nil {
		return nil, err
	}
	defer s.done(r)
	doc := messages.NewDocument(id)
	if r.snap != nil {
		if doc, err = r.snap.document(); err != nil {
			return nil, err
		}
	}
	err = s.records(r, nil, func(_ *span, f frame) error {
		change, err := messages.DecodeRecord(f.record())
		if err == nil {
			err = doc.Apply(f.seq, f.at, change)
		}
		if err != nil {
			return unreadable(id, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return doc, nil
}

// Head implements [persistence.Store].
func (s *Store) Head(ctx context.Context, id messages.SessionID) (messages.Head, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return messages.Head{}, err
	}
	defer leave()
	head, err := s.head(id)
	if err != nil {
		return messages.Head{}, about("reading", id, err)
	}
	return head, nil
}

func (s *Store) head(id messages.SessionID) (messages.Head, error) {
	r, err := s.openReading(id)
	if err != nil {
		return messages.Head{}, err
	}
	defer s.done(r)
	head := r.head()
	walk := headWalk{head: &head}
	err = s.records(r, nil, func(_ *span, f frame) error { return walk.add(f) })
	if err == nil {
		err = walk.finish()
	}
	return head, err
}

// isNotFound reports whether there is no such session.
func isNotFound(err error) bool { return errors.Is(err, persistence.ErrNotFound) }
