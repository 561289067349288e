package jsonfile

import (
	"context"
	"fmt"

	"agentd/messages"
	"agentd/persistence"
)

// Delete implements [persistence.Store]. What stays is a small file in the folder of tombstones, one for
// each deleted session: it is made before the snapshot goes, so that no crash brings the session back.
func (s *Store) Delete(ctx context.Context, id messages.SessionID) error {
	return s.alone(ctx, "deleting", id, s.delete)
}

// delete buries a session whose deletion was committed. The folding lock is held.
func (s *Store) delete(sess *session) error {
	s.index.mu.Lock()
	for sess.committing {
		s.index.settled.Wait()
	}
	exists, deleted, bad := sess.ledger.Exists(), sess.ledger.Deleted, sess.bad
	s.index.mu.Unlock()
	switch {
	case bad != nil:
		return bad
	case !exists:
		return persistence.ErrNotFound
	case !deleted:
		return fmt.Errorf("%w: no deletion was committed", persistence.ErrConflict)
	}
	return s.bury(sess)
}

// bury puts the tombstone up, and then removes the snapshot. The folding lock is held.
func (s *Store) bury(sess *session) error {
	s.index.mu.Lock()
	buried := len(sess.spans) == 0
	s.index.mu.Unlock()
	if buried {
		return nil
	}
	path := s.paths.tombstone(sess.id)
	if err := writeTemp(s.fsys, path, tombstone(sess.id)); err != nil {
		return unavailable("putting up a tombstone", err)
	}
	if err := s.fsys.SyncDir(s.paths.tombstones); err != nil {
		return unavailable("putting up a tombstone", err)
	}
	if err := removeTemp(s.fsys, s.paths.snapshot(sess.id)); err != nil {
		return unavailable("removing a snapshot", err)
	}
	if err := s.fsys.SyncDir(s.paths.sessions); err != nil {
		return unavailable("removing a snapshot", err)
	}
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	sess.forget(sess.ledger.LastSeq)
	sess.snapshotBytes = 0
	return nil
}

// tombstone is the content of a tombstone. That the file is there is what counts.
func tombstone(id messages.SessionID) []byte { return fmt.Appendf(nil, "{\"id\":%q}\n", id) }
