package agentd

import (
	"cmp"
	"path/filepath"

	"agentd/providers/catalog"
	"agentd/providers/catalog/transcript"
)

// whole is a session as its pieces make it.
type whole struct {
	catalog.Session
	deleted, talk bool
	extents       []extent
}

// Assemble implements [catalog.Assembler]: it joins what the snapshots and the segments of the journal tell. Segments come in the order of
// their numbers, which their names have.
func (Reader) Assemble(a *catalog.Assembly) []catalog.Session {
	all := map[string]*whole{}
	var order []string
	for _, kind := range []string{kindTombstone, kindSnapshot, kindSegment} {
		for _, s := range a.All(kind) {
			if a.Exact != "" && s.ID != a.Exact {
				continue
			}
			if all[s.ID] == nil {
				all[s.ID] = &whole{}
				order = append(order, s.ID)
			}
			all[s.ID].add(s, kind)
		}
	}
	var out []catalog.Session
	for _, id := range order {
		w := all[id]
		switch {
		case w.deleted:
		case !w.talk:
			a.Skip(w.StoreFile, catalog.NoConversation)
		default:
			w.ProjectName = "agentd"
			w.Ref = extentsText(w.extents)
			out = append(out, w.Session)
		}
	}
	return out
}

// add adds a piece, which is newer than the ones before.
func (w *whole) add(s catalog.Session, kind string) {
	n := parseNote(s.Ref)
	w.deleted, w.talk = w.deleted || n.deleted, w.talk || n.talk
	if kind == kindSegment {
		w.extents = append(w.extents, extent{filepath.Base(s.StoreFile), n.from, n.to})
	}
	w.ID, w.StoreFile = s.ID, cmp.Or(w.StoreFile, s.StoreFile)
	if s.TimeMS >= w.TimeMS && s.Recap != "" {
		w.Recap = s.Recap
	}
	w.TimeMS, w.StartedMS = max(w.TimeMS, s.TimeMS), cmp.Or(w.StartedMS, s.StartedMS)
	if len(w.Prompts) == 0 {
		w.Prompts = s.Prompts
	} else if len(s.Prompts) > 0 {
		w.Prompts = transcript.Prompts(w.Prompts[0], s.Prompts[len(s.Prompts)-1])
	}
}
