package jsonfile

import (
	"context"
	"errors"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"agentd/messages"
	"agentd/persistence"
)

// listWorkers is how many heads are read at a time.
const listWorkers = 8

// List implements [persistence.Store]. It reads the head of every snapshot and the records that some of them lack, several at a time.
func (s *Store) List(ctx context.Context) (persistence.Listing, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return persistence.Listing{}, err
	}
	defer leave()
	ids, strays, err := s.names()
	if err != nil {
		return persistence.Listing{}, err
	}
	var mu sync.Mutex
	listing := persistence.Listing{Sessions: make([]messages.Head, 0, len(ids)), Bad: strays}
	group, ctx := errgroup.WithContext(ctx)
	share := (len(ids) + listWorkers - 1) / listWorkers
	for len(ids) > 0 {
		part := ids[:min(share, len(ids))]
		ids = ids[len(part):]
		group.Go(func() error {
			heads, bad, err := s.heads(ctx, part)
			mu.Lock()
			defer mu.Unlock()
			listing.Sessions = append(listing.Sessions, heads...)
			listing.Bad = append(listing.Bad, bad...)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return persistence.Listing{}, err
	}
	listing.Sort()
	return listing, nil
}

// heads reads the heads of some sessions. One that has gone meanwhile is left out.
func (s *Store) heads(ctx context.Context, ids []messages.SessionID) (good []messages.Head, bad []persistence.BadSession, err error) {
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		head, err := s.head(id)
		switch {
		case err == nil:
			good = append(good, head)
		case !isNotFound(err) && !errors.Is(err, persistence.ErrDeleted):
			bad = append(bad, persistence.BadSession{ID: id, Err: err})
		}
	}
	return good, bad, nil
}

// names lists the sessions that have a file or records, and the files that are named as if they were sessions.
func (s *Store) names() (ids []messages.SessionID, strays []persistence.BadSession, err error) {
	// The files first: a session that is folded meanwhile is seen in memory or in its file.
	listed := make(map[messages.SessionID]bool)
	s.index.mu.Lock()
	for _, sess := range s.index.sessions {
		if sess.ledger.Exists() || sess.bad != nil {
			listed[sess.id] = true
			ids = append(ids, sess.id)
		}
	}
	s.index.mu.Unlock()
	entries, err := s.fsys.ReadDir(s.paths.sessions)
	if err != nil && !missing(err) {
		return nil, nil, unavailable("listing the sessions", err)
	}
	for _, entry := range entries {
		stem, isSnapshot := strings.CutSuffix(entry.Name(), snapshotSuffix)
		id := messages.SessionID(stem)
		if !isSnapshot || entry.IsDir() || listed[id] || strings.HasPrefix(stem, ".") {
			continue
		}
		if err := validateID(id); err != nil {
			strays = append(strays, persistence.BadSession{ID: id, Err: err})
			continue
		}
		ids = append(ids, id)
	}
	return ids, strays, nil
}
