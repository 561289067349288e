package catalog

import (
	"cmp"
	"log/slog"
	"slices"
)

// build joins what the units hold, those that did not change included, and remembers it. It reports false when the earlier scan cannot be
// read any more: then it is dropped, and the scan is to be made again.
func (s *scanning) build(st *store) bool {
	verdicts, parts, err := st.outcomes()
	if err != nil {
		s.opts.Logger.Info("cache not used", slog.String("agent", string(st.reader.Agent())), slog.Any("error", err))
		s.memo.put(s.key(st), nil)
		s.memo.put(shelfKey{st.reader.Agent(), !s.nonInteractive}, nil)
		st.stale = true
		return false
	}
	found := newestFirst(s.assemble(st, st.join(verdicts, parts)))
	packed := packParts(parts)
	st.shelf, err = newShelf(packUnits(st, verdicts), packFound(found, st.units), func() (string, error) { return packed, nil })
	if err != nil {
		panic(err) // It was packed a line above.
	}
	for _, skip := range st.later.list() {
		st.skips.merge(skip)
	}
	if s.exact == "" && st.err == nil {
		s.memo.put(s.key(st), st.shelf)
		s.saveCache(s.key(st), st.shelf)
	}
	return true
}

// newestFirst sorts sessions; equals by project and id. It moves no sessions, which are large.
func newestFirst(all []Session) []*Session {
	out := make([]*Session, len(all))
	for i := range all {
		out[i] = &all[i]
	}
	slices.SortFunc(out, func(a, b *Session) int {
		if byTime := cmp.Compare(b.TimeMS, a.TimeMS); byTime != 0 {
			return byTime // Nearly always; the texts are not worth comparing for nothing.
		}
		return cmp.Or(cmp.Compare(a.ProjectPath, b.ProjectPath), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// outcomes returns what became of each unit, and what was found in it.
func (st *store) outcomes() ([]verdict, []string, error) {
	verdicts, parts := make([]verdict, len(st.units)), make([]string, len(st.units))
	if len(st.changes) < len(st.units) {
		old, err := st.base.allParts()
		if err != nil {
			return nil, nil, err
		}
		for i, at := range st.places {
			if at != (place{}) {
				verdicts[i], parts[i] = st.base.verdict(at), old[at.number-1]
			}
		}
	}
	for _, c := range st.changes {
		verdicts[c.unit], parts[c.unit] = c.verdict, c.part
	}
	return verdicts, parts, nil
}

// join unpacks what was found in all units and counts what was not.
func (st *store) join(verdicts []verdict, parts []string) []Part {
	n := 0
	for _, part := range parts {
		n += (&unpacker{s: part}).count()
	}
	all := make([]Session, 0, n) // One piece of memory for the sessions of all units.
	out := make([]Part, len(st.units))
	for i, u := range st.units {
		out[i].Unit = u
		v := &verdicts[i]
		if v.absent {
			continue
		}
		st.seen++
		if v.reason != "" {
			st.later.add(u.Path, v.reason)
			st.failed = st.failed || (v.loss && u.Store)
		}
		from := len(all)
		var skips []Skipped
		all, skips = unpackPart(parts[i], u, all)
		out[i].Sessions = all[from:len(all):len(all)]
		for _, skip := range skips {
			st.later.merge(skip)
		}
	}
	return out
}

// assemble joins the fragments and checks what comes out.
func (s *scanning) assemble(st *store, parts []Part) []Session {
	a := Assembly{Exact: s.exact, Parts: parts}
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
	for _, skip := range a.skips.list() {
		st.later.merge(skip)
	}
	if st.err == nil && err != nil {
		st.err = err
	}
	kept := 0
	for i := range found {
		f := &found[i]
		if s.exact != "" && f.ID != s.exact {
			continue
		}
		if !ValidID(f.ID) || len(f.ProjectPath) > MaxPathBytes {
			st.later.add(f.StoreFile, InvalidMetadata)
			continue
		}
		if kept != i { // Sessions are large, and nearly all stay where they are.
			found[kept] = *f
		}
		kept++
	}
	return unite(found[:kept], &st.later)
}
