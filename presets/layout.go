package presets

import (
	"fmt"
	"maps"
	"slices"

	"agentd/messages"
)

// everywhere is the scope of a change that may touch every session.
const everywhere messages.SessionID = ""

// layout is one state of a manager, with what follows from it.
type layout struct {
	registry  registry
	context   Context
	contexts  map[messages.SessionID]Context
	overrides Overrides
	// resolved has one entry for all sessions ("") and one for each session with a place of its own.
	resolved map[messages.SessionID]*Resolution
	// dirty says that the overrides differ from those that are stored. It is meaningful only while a change is made.
	dirty bool
}

// place returns what decides for a session.
func (l *layout) place(session messages.SessionID) place {
	p := place{context: l.context, overrides: []map[string]Override{l.overrides.Sessions[session], l.overrides.Global}}
	if own, set := l.contexts[session]; set {
		p.context = own
	}
	return p
}

// own reports whether the session has a context or overrides of its own.
func (l *layout) own(session messages.SessionID) bool {
	_, context := l.contexts[session]
	return context || len(l.overrides.Sessions[session]) > 0
}

func (l *layout) resolution(session messages.SessionID) *Resolution {
	if own, set := l.resolved[session]; set {
		return own
	}
	return l.resolved[everywhere]
}

// setOverride changes the copied maps of this layout only.
func (l *layout) setOverride(session messages.SessionID, preset string, override Override) {
	layer := l.overrides.layer(session)
	before, set := layer[preset]
	if override == before || !set && override == OverrideAuto {
		return
	}
	layer = cloneMap(layer)
	layer[preset] = override
	if override == OverrideAuto {
		delete(layer, preset)
	}
	l.setLayer(session, layer)
}

func (l *layout) dropOverrides(session messages.SessionID) {
	if len(l.overrides.layer(session)) > 0 {
		l.setLayer(session, nil)
	}
}

func (l *layout) setLayer(session messages.SessionID, layer map[string]Override) {
	l.dirty = true
	if session == everywhere {
		l.overrides.Global = layer
		return
	}
	l.overrides.Sessions = cloneMap(l.overrides.Sessions)
	l.overrides.Sessions[session] = layer
	if len(layer) == 0 {
		delete(l.overrides.Sessions, session)
	}
}

// resolve works out the places that a change in the scope may touch.
func (l *layout) resolve(scope messages.SessionID) error {
	if scope == everywhere {
		return l.resolveAll()
	}
	l.resolved = cloneMap(l.resolved)
	if !l.own(scope) {
		delete(l.resolved, scope)
		return nil
	}
	if len(l.resolved) > MaxSessionPlaces {
		return fmt.Errorf("%w: more than %d sessions with presets of their own: forget some", ErrInvalid, MaxSessionPlaces)
	}
	resolution, err := l.registry.resolve(l.place(scope))
	if err != nil {
		return fmt.Errorf("session %q: %w", scope, err)
	}
	l.resolved[scope] = resolution
	return nil
}

func (l *layout) resolveAll() error {
	global, err := l.registry.resolve(l.place(everywhere))
	if err != nil {
		return err
	}
	l.resolved = map[messages.SessionID]*Resolution{everywhere: global}
	sessions := slices.Concat(slices.Collect(maps.Keys(l.contexts)), slices.Collect(maps.Keys(l.overrides.Sessions)))
	slices.Sort(sessions) // So that the first conflict is always the same one.
	for _, id := range slices.Compact(sessions) {
		if l.resolved[id], err = l.registry.resolve(l.place(id)); err != nil {
			return fmt.Errorf("session %q: %w", id, err)
		}
	}
	return nil
}

// diff says for whom the next state differs: in what is active, or in the overrides.
func (l *layout) diff(next *layout) Change {
	change := Change{Global: !l.same(next, everywhere)}
	sessions := slices.Concat(slices.Collect(maps.Keys(l.resolved)), slices.Collect(maps.Keys(next.resolved)))
	slices.Sort(sessions)
	for _, id := range slices.Compact(sessions) {
		if id != everywhere && !l.same(next, id) {
			change.Sessions = append(change.Sessions, id)
		}
	}
	return change
}

func (l *layout) same(next *layout, session messages.SessionID) bool {
	before, after := l.resolution(session), next.resolution(session)
	return (before == after || before.equal(after)) && maps.Equal(l.overrides.layer(session), next.overrides.layer(session))
}
