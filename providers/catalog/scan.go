package catalog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"agentd/providers/catalog/bounded"
)

// futureSlack is how far a time may lie ahead of the clock.
const futureSlack = 5 * time.Minute

// store is what one scan found in one agent's store.
type store struct {
	reader Reader
	base   *shelf // an earlier scan to compare with, if there is one
	// earlier returns what base is to be; it may read a cache file.
	earlier func() *shelf
	units   []Unit
	places  []place // of the units on base
	skips   skipCounter
	err     error

	mu      sync.Mutex
	changes []change // guarded by mu; the units of which base does not tell, or not the same

	// What came of all units.
	shelf  *shelf
	later  skipCounter // what was skipped after discovery
	seen   int         // units that there are
	failed bool        // a unit that is the whole store could not be read
	stale  bool        // base cannot be read to the end
}

// change is the outcome of a unit that is not as it was.
type change struct {
	unit int
	outcome
}

// wanted is what a scan looks for.
type wanted struct {
	agent          Agent  // empty is all
	exact          string // the only id, when it is not empty
	nonInteractive bool
}

// scanning is one scan. Units are examined while others are still looked for.
type scanning struct {
	*Catalog
	wanted
	env    Env
	now    time.Time // the system's, not the surroundings'
	limit  int64
	pieces chan piece
}

// piece is some units of a store.
type piece struct {
	store  *store
	from   int
	units  []Unit
	places []place
}

// scan reads stores. The error is that of ctx.
func (c *Catalog) scan(ctx context.Context, w wanted) ([]*store, error) {
	s := &scanning{
		Catalog: c, wanted: w, env: c.env(), now: time.Now(), limit: c.env().now().Add(futureSlack).UnixMilli(), pieces: make(chan piece),
	}
	var stores []*store
	for _, r := range c.readers {
		if w.agent == "" || w.agent == r.Agent() {
			stores = append(stores, &store{reader: r})
		}
	}
	var examining sync.WaitGroup
	for range c.opts.Workers {
		examining.Go(func() {
			var own worker
			defer own.dirs.Close()
			for p := range s.pieces { // Until discovery has ended, also after ctx has.
				s.examineAll(ctx, p, &own)
			}
		})
	}
	s.remember(stores)
	inParallel(ctx, c.opts.Workers, 2*len(stores), func(i int) {
		if st := stores[i%len(stores)]; i >= len(stores) {
			s.discover(ctx, st)
		} else if w.exact == "" {
			st.earlier() // Read while the store is listed. An exact id may not need it.
		}
	})
	close(s.pieces)
	examining.Wait()
	if ctx.Err() == nil {
		inParallel(ctx, c.opts.Workers, len(stores), func(i int) { s.finish(stores[i]) })
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, st := range stores {
		if st.stale { // The shelf of its agent was dropped, so that it is not used again.
			return c.scan(ctx, w)
		}
	}
	return stores, nil
}

// worker is what one goroutine that examines units has for itself.
type worker struct {
	scratch bounded.Scratch
	dirs    dirStat
	packer  packer
}

// inParallel calls work for 0 to n-1, at most workers at once, and returns when all calls have returned. After ctx
// ended no more are made.
func inParallel(ctx context.Context, workers, n int, work func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				work(i)
			}
		})
	}
	wg.Wait()
}

// discover lists the units of a store and has them examined.
func (s *scanning) discover(ctx context.Context, st *store) {
	d := Discovery{Env: s.env, Exact: s.exact, NonInteractive: s.nonInteractive}
	var follow follower
	found := func(from int, units []Unit) {
		if from == 0 {
			st.base = st.earlier()
			follow = newFollower(st.base)
			if st.base != nil { // Nearly always there are as many as before.
				st.places = make([]place, 0, st.base.count+1)
				d.units = slices.Grow(d.units, max(0, st.base.count+1-len(d.units)))
			}
		}
		for _, u := range units {
			st.places = append(st.places, follow.find(u))
		}
		s.pieces <- piece{st, from, units, st.places[from:len(st.places):len(st.places)]}
	}
	if s.exact == "" {
		d.found = found
	}
	err := guard(func() error { return st.reader.Discover(ctx, &d) })
	if err != nil && ctx.Err() == nil {
		st.err = err
		s.opts.Logger.Warn("store cannot be listed", slog.String("agent", string(st.reader.Agent())), slog.Any("error", err))
	}
	if s.exact != "" && few(d.units) {
		st.earlier = func() *shelf { return nil }
	}
	d.found = found
	d.tell()
	st.units, st.skips = d.units, d.skips
}

// key names the scan of a store.
func (s *scanning) key(st *store) shelfKey { return shelfKey{st.reader.Agent(), s.nonInteractive} }

// remember tells each store how to get at an earlier scan of it, which may be in a cache file.
func (s *scanning) remember(stores []*store) {
	for _, st := range stores {
		k := s.key(st)
		load := sync.OnceFunc(func() {
			if s.opts.CacheDir == "" || !s.memo.load(k) {
				return
			}
			if loaded := s.loadCache(k); loaded != nil {
				s.memo.put(k, loaded)
			}
		})
		st.earlier = func() *shelf { load(); return s.memo.shelf(k) }
	}
}

// examineAll looks at each unit of a piece.
func (s *scanning) examineAll(ctx context.Context, p piece, own *worker) {
	var changes []change
	for i, u := range p.units {
		if ctx.Err() != nil {
			return
		}
		var old verdict
		if p.places[i] != (place{}) {
			old = p.store.base.verdict(p.places[i])
		}
		now, same := s.examine(ctx, p.store, u, old, own)
		if !same || p.places[i] == (place{}) {
			changes = append(changes, change{p.from + i, now})
		}
	}
	if len(changes) > 0 {
		p.store.mu.Lock()
		defer p.store.mu.Unlock()
		p.store.changes = append(p.store.changes, changes...)
	}
}

// finish finds what came of all units of a store.
func (s *scanning) finish(st *store) {
	if len(st.changes) == 0 && st.base != nil && s.exact == "" && st.inOrder() {
		st.shelf, st.seen, st.failed = st.base, st.base.seen, st.base.failed
		for _, skip := range st.base.skips {
			st.skips.merge(skip)
		}
	} else if !s.build(st) {
		return
	}
	if st.err == nil && st.failed && st.shelf.len() == 0 {
		st.err = errors.New("the store's only database cannot be read")
	}
	if st.err == nil && st.closed(s.env, s.exact) {
		st.err = errClosed
	}
}

// inOrder reports whether the units are all those of base, in its order.
func (st *store) inOrder() bool {
	if len(st.units) != st.base.count {
		return false
	}
	for i, at := range st.places {
		if int(at.number) != i+1 {
			return false
		}
	}
	return true
}

// guard turns a panic of a reader into an error.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errFault, r)
		}
	}()
	return f()
}
