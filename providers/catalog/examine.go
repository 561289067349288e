package catalog

import (
	"context"
	"errors"
	"hash/fnv"
	"io/fs"
	"log/slog"
	"os"
)

// examine looks at one unit. same is true when it comes to the old verdict; then the outcome may lack what was found, which is as before.
func (s *scanning) examine(ctx context.Context, st *store, u Unit, old verdict, own *worker) (o outcome, same bool) {
	file, err := own.dirs.stat(u.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_, err := os.Lstat(u.Path)
		o.reason, o.absent = Gone, err != nil
		return o, o.verdict == old
	case err != nil:
		o.reason, o.loss = ReasonOf(err), true
		return o, o.verdict == old
	case !file.regular:
		o.reason, o.loss = NotRegular, true
		return o, o.verdict == old
	case file.size == 0:
		o.reason = Empty
		return o, o.verdict == old
	}
	if old.known {
		if now, _ := stampOf(u, old.uses, file, &own.dirs, s.now); now == old.stamp {
			return o, true
		}
	}
	key := looseKey{st.reader.Agent(), u.Kind, u.Path}
	if known, ok := s.memo.single(key); ok {
		if now, _ := stampOf(u, known.uses, file, &own.dirs, s.now); now == known.stamp {
			return known, false
		}
	}
	now, settled := stampOf(u, "", file, &own.dirs, s.now) // Before it is read: what changes meanwhile is read again.
	o = s.parse(ctx, st, u, own)
	if o.uses != "" { // Of these nobody knew before. The tick covers what changed in them since.
		after, quiet := stampOf(u, o.uses, file, &own.dirs, s.now)
		now.with, settled = after.with, settled && quiet
	}
	o.stamp = now
	if o.known = o.known && settled; !o.known {
		h := fnv.New64a()
		_, _ = h.Write([]byte(o.part)) // A hash never fails.
		o.verdict.part = h.Sum64()
	} else if s.exact != "" {
		s.memo.putSingle(key, o)
	}
	return o, o.verdict == old
}

// parse reads one unit.
func (s *scanning) parse(ctx context.Context, st *store, u Unit, own *worker) (o outcome) {
	p := Parsing{Unit: u, scratch: &own.scratch, limitMS: s.limit, exact: s.exact}
	err := guard(func() error { return st.reader.Parse(ctx, &p) })
	o.part = own.packer.part(p.sessions, p.skips.list(), u)
	switch {
	case err != nil && ctx.Err() == nil:
		o.reason = ReasonOf(err)
		o.loss = o.reason.Loss()
		s.opts.Logger.Warn("file skipped", slog.String("agent", string(st.reader.Agent())), slog.String("path", u.Path), slog.Any("error", err))
	case err == nil && ctx.Err() == nil:
		o.known = !p.volatile
		for _, path := range p.uses {
			o.uses += path + "\x00"
		}
	}
	return o
}
