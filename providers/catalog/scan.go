package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"agentd/providers/catalog/bounded"
)

// futureSlack is how far a time may lie ahead of the clock.
const futureSlack = 5 * time.Minute

// store is what one scan found in one agent's store.
type store struct {
	reader   Reader
	units    []Unit
	parts    []Part
	sessions []Session
	skips    skipCounter
	seen     int  // units that there are
	failed   bool // a unit that is the whole store could not be read
	err      error
}

// job is one unit to parse.
type job struct {
	store *store
	index int
}

// wanted is what a scan looks for.
type wanted struct {
	agent          Agent  // empty is all
	exact          string // the only id, when it is not empty
	nonInteractive bool
}

// scan reads stores. The error is that of ctx.
func (c *Catalog) scan(ctx context.Context, w wanted) ([]*store, error) {
	var stores []*store
	for _, r := range c.readers {
		if w.agent == "" || w.agent == r.Agent() {
			stores = append(stores, &store{reader: r})
		}
	}
	inParallel(ctx, c.opts.Workers, len(stores), func(i int, _ *worker) { c.discover(ctx, stores[i], w) })
	c.loadCache(stores, w)
	var jobs []job
	for _, st := range stores {
		st.parts = make([]Part, len(st.units))
		for i := range st.units {
			jobs = append(jobs, job{st, i})
		}
	}
	limit := c.env().now().Add(futureSlack).UnixMilli()
	outcomes := make([]outcome, len(jobs))
	inParallel(ctx, c.opts.Workers, len(jobs), func(i int, own *worker) {
		outcomes[i] = c.parse(ctx, jobs[i], own, limit)
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	room := 0
	for _, o := range outcomes {
		if o.memoEntry != nil {
			room += len(o.sessions)
		}
	}
	flat := make([]Session, 0, room) // One piece of memory for the copies of all fragments.
	for i, o := range outcomes {
		flat = jobs[i].store.take(jobs[i].index, o, flat)
	}
	for _, st := range stores {
		c.assemble(st, w.exact)
		if w.exact == "" && st.err == nil {
			c.memo.keep(st.reader.Agent(), st.units, w.nonInteractive)
		}
	}
	if w.exact == "" { // One more session is not worth writing the file again.
		c.saveCache(stores)
	}
	return stores, nil
}

// worker is what one goroutine of inParallel has for itself.
type worker struct {
	scratch bounded.Scratch
	dirs    dirStat
}

// inParallel calls work for 0 to n-1, at most workers at once, and returns when all calls have returned. After ctx
// ended no more are made.
func inParallel(ctx context.Context, workers, n int, work func(i int, own *worker)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			var own worker
			defer own.dirs.Close()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				work(i, &own)
			}
		})
	}
	wg.Wait()
}

func (c *Catalog) discover(ctx context.Context, st *store, w wanted) {
	d := Discovery{Env: c.env(), Exact: w.exact, NonInteractive: w.nonInteractive}
	err := guard(func() error { return st.reader.Discover(ctx, &d) })
	st.units, st.skips = d.units, d.skips
	if err != nil && ctx.Err() == nil {
		st.err = err
		c.opts.Logger.Warn("store cannot be listed", slog.String("agent", string(st.reader.Agent())), slog.Any("error", err))
	}
}

// outcome is what became of one unit.
type outcome struct {
	*memoEntry
	loss   bool // the unit could not be read
	reason Reason
	absent bool // there is no such file
}

// parse reads one unit, or takes it from memory.
func (c *Catalog) parse(ctx context.Context, j job, own *worker, limit int64) outcome {
	u := j.store.units[j.index]
	file, err := own.dirs.stat(u.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_, err := os.Lstat(u.Path)
		return outcome{reason: Gone, absent: err != nil}
	case err != nil:
		return outcome{loss: true, reason: ReasonOf(err)}
	case !file.regular:
		return outcome{loss: true, reason: NotRegular}
	case file.size == 0:
		return outcome{reason: Empty}
	}
	key := memoKey{j.store.reader.Agent(), u.Kind, u.Path}
	now := stampOf(u, file)
	if e := c.memo.get(key, now); e != nil {
		return outcome{memoEntry: e}
	}
	p := Parsing{Env: c.env(), Unit: u, scratch: &own.scratch, limitMS: limit}
	err = guard(func() error { return j.store.reader.Parse(ctx, &p) })
	o := outcome{memoEntry: &memoEntry{stamp: now, sessions: p.sessions, skips: p.skips.list()}}
	switch {
	case err != nil && ctx.Err() == nil:
		o.reason = ReasonOf(err)
		o.loss = o.reason.Loss()
		c.opts.Logger.Warn("file skipped", slog.String("agent", string(key.agent)), slog.String("path", u.Path), slog.Any("error", err))
	case err == nil && !p.volatile && ctx.Err() == nil:
		c.memo.put(key, o.memoEntry)
	}
	return o
}

// take adds the outcome of a unit. Its sessions are copied behind the end of flat, which has room for them: what is
// remembered must not change. Their prompts are shared, and clipped, so that appending copies them.
func (st *store) take(index int, o outcome, flat []Session) []Session {
	u := st.units[index]
	st.parts[index] = Part{Unit: u}
	if o.absent {
		return flat
	}
	st.seen++
	if o.reason != "" {
		st.skips.add(u.Path, o.reason)
		st.failed = st.failed || (o.loss && u.Store)
	}
	if o.memoEntry == nil {
		return flat
	}
	from := len(flat)
	flat = append(flat, o.sessions...)
	st.parts[index].Sessions = flat[from:len(flat):len(flat)]
	for _, s := range o.skips {
		st.skips.merge(s)
	}
	return flat
}

// assemble joins what the units hold and checks what comes out.
func (c *Catalog) assemble(st *store, exact string) {
	a := Assembly{Env: c.env(), Exact: exact, Parts: st.parts}
	var found []Session
	err := guard(func() error {
		if asm, ok := st.reader.(Assembler); ok {
			found = asm.Assemble(&a)
			return nil
		}
		n := 0
		for _, p := range a.Parts {
			n += len(p.Sessions)
		}
		found = make([]Session, 0, n)
		for _, p := range a.Parts {
			found = append(found, p.Sessions...)
		}
		return nil
	})
	st.parts = nil
	for _, s := range a.skips.list() {
		st.skips.merge(s)
	}
	if st.err == nil && err != nil {
		st.err = err
	}
	kept := 0
	for i := range found {
		s := &found[i]
		if exact != "" && s.ID != exact {
			continue
		}
		if !ValidID(s.ID) || len(s.ProjectPath) > MaxPathBytes {
			st.skips.add(s.StoreFile, InvalidMetadata)
			continue
		}
		if kept != i { // Sessions are large, and nearly all stay where they are.
			found[kept] = *s
		}
		kept++
	}
	st.sessions = unite(found[:kept], &st.skips)
	if st.err == nil && st.failed && len(st.sessions) == 0 {
		st.err = errors.New("the store's only database cannot be read")
	}
	if st.err == nil && st.closed(c.env(), exact) {
		st.err = errClosed
	}
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
