package jsonfile

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"
)

// closeWorkers is how many sessions are folded at a time when the store is closed. More only lengthens the slowest.
const closeWorkers = 8

// Close implements [persistence.Store]. When the context ends, the rest stays in the journal for the next Open. The directory's
// lock is given back in any case, and closing again does nothing.
func (s *Store) Close(ctx context.Context) error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.foldAll(ctx)
	if err == nil {
		err = s.journal.drop(true)
	}
	return errors.Join(err, s.release())
}

// foldAll folds every session, and returns an error for each that it could not.
func (s *Store) foldAll(ctx context.Context) error {
	s.index.mu.Lock()
	var pending []*session
	for _, sess := range s.index.sessions {
		if len(sess.spans) > 0 {
			pending = append(pending, sess)
		}
	}
	s.index.mu.Unlock()
	errs := make([]error, len(pending))
	var group errgroup.Group
	group.SetLimit(closeWorkers)
	for i, sess := range pending {
		group.Go(func() error {
			err := ctx.Err()
			if err == nil {
				sess.folding.Lock()
				err = s.fold(sess)
				sess.folding.Unlock()
			}
			if err != nil {
				errs[i] = about("folding", sess.id, err)
			}
			return nil
		})
	}
	return errors.Join(group.Wait(), errors.Join(errs...))
}
