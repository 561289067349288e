package catalog

import "sync"

// memo remembers what was found. It holds no more than the last full scans of each agent, and what lookups of single sessions read meanwhile.
type memo struct {
	mu      sync.Mutex
	shelves map[shelfKey]*shelf  // guarded by mu
	loaded  map[shelfKey]bool    // guarded by mu; those whose cache file was looked for
	loose   map[looseKey]outcome // guarded by mu; units that a lookup of one session parsed
}

// shelfKey names a full scan. One that is not of sub-agents too leaves out files.
type shelfKey struct {
	agent          Agent
	nonInteractive bool
}

type looseKey struct {
	agent      Agent
	kind, path string
}

// maxLoose bounds the units of lookups that are remembered.
const maxLoose = 1024

// shelf returns the last scan, or if there is none the one of the other kind, which has nearly the same units.
func (m *memo) shelf(k shelfKey) *shelf {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.shelves[k]; s != nil {
		return s
	}
	return m.shelves[shelfKey{k.agent, !k.nonInteractive}]
}

// put remembers a scan. Nil forgets it.
func (m *memo) put(k shelfKey, s *shelf) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.shelves == nil {
		m.shelves = map[shelfKey]*shelf{}
	}
	m.shelves[k] = s
}

// load reports whether the cache file of a scan is to be looked for, which is once.
func (m *memo) load(k shelfKey) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.loaded == nil {
		m.loaded = map[shelfKey]bool{}
	}
	first := !m.loaded[k]
	m.loaded[k] = true
	return first
}

// single returns what a lookup of one session read.
func (m *memo) single(k looseKey) (outcome, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.loose[k]
	return o, ok
}

func (m *memo) putSingle(k looseKey, o outcome) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.loose == nil || len(m.loose) >= maxLoose {
		m.loose = map[looseKey]outcome{}
	}
	m.loose[k] = o
}
