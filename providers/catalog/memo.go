package catalog

import (
	"encoding/binary"
	"hash/fnv"
	"os"
	"sync"
)

// memo remembers what was parsed. It holds no more than the files of the last full scan of each agent.
type memo struct {
	mu      sync.Mutex
	entries map[memoKey]*memoEntry // guarded by mu; an entry is never changed
	count   map[Agent]int          // guarded by mu; entries of each agent
	loaded  map[Agent]bool         // guarded by mu; agents whose cache file was read
	dirty   map[Agent]bool         // guarded by mu; agents with entries that no cache file holds
}

type memoKey struct {
	agent      Agent
	kind, path string
}

// memoEntry is the outcome of one [Reader.Parse].
type memoEntry struct {
	stamp    stamp
	sessions []Session
	skips    []Skipped
}

// stamp tells whether the files of a unit are the ones that were parsed.
type stamp struct {
	size, modNS int64
	with        uint64 // hash of the sizes and times of Unit.With
}

// fileState is what the system tells of a file.
type fileState struct {
	size, modNS int64
	regular     bool
}

// stampOf combines what the system tells of a unit's files.
func stampOf(u Unit, file fileState) stamp {
	s := stamp{size: file.size, modNS: file.modNS}
	if len(u.With) == 0 {
		return s
	}
	h := fnv.New64a()
	var buf [16]byte
	for _, path := range u.With {
		binary.LittleEndian.PutUint64(buf[:8], ^uint64(0))
		binary.LittleEndian.PutUint64(buf[8:], 0)
		if side, err := os.Stat(path); err == nil {
			binary.LittleEndian.PutUint64(buf[:8], uint64(side.Size()))
			binary.LittleEndian.PutUint64(buf[8:], uint64(side.ModTime().UnixNano()))
		}
		_, _ = h.Write(buf[:]) // A hash never fails.
	}
	s.with = h.Sum64()
	return s
}

func (m *memo) get(k memoKey, s stamp) *memoEntry {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.entries[k]; e != nil && e.stamp == s {
		return e
	}
	return nil
}

func (m *memo) put(k memoKey, e *memoEntry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.set(k, e)
	m.mark(k.agent)
}

// set adds an entry. The caller holds mu.
func (m *memo) set(k memoKey, e *memoEntry) {
	if m.entries == nil {
		m.entries, m.count = map[memoKey]*memoEntry{}, map[Agent]int{}
	}
	if m.entries[k] == nil {
		m.count[k.agent]++
	}
	m.entries[k] = e
}

// keep drops the entries of an agent whose files were not in the last scan. A scan that was not of all files may drop
// what the next one needs, so it only does that when very many have gathered.
func (m *memo) keep(agent Agent, units []Unit, full bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	const spare = 4096
	if n := m.count[agent]; (full && n <= len(units)) || n <= 2*len(units)+spare && !full {
		return
	}
	seen := make(map[memoKey]bool, len(units))
	for _, u := range units {
		seen[memoKey{agent, u.Kind, u.Path}] = true
	}
	for k := range m.entries {
		if k.agent == agent && !seen[k] {
			delete(m.entries, k)
			m.count[agent]--
			m.mark(agent)
		}
	}
}

// mark notes that the cache file of an agent is out of date. The caller holds mu.
func (m *memo) mark(agent Agent) {
	if m.dirty == nil {
		m.dirty = map[Agent]bool{}
	}
	m.dirty[agent] = true
}
