package catalog

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"agentd/providers/catalog/bounded"
)

// query is a parsed query: words that must all match, and filters.
//
// A word of the form "agent:NAME", "branch:TEXT" or "since:WHEN" is a filter: the agent by name or alias; a branch that
// contains the text, without regard to case; sessions active at or after WHEN, which is a date (2026-11-30), a time (RFC 3339),
// or an age (90m, 12h, 7d, 2w). A filter that makes no sense is matched as an ordinary word.
type query struct {
	words  []word
	agent  Agent
	branch string
	since  int64
}

// word is one word of a query.
type word struct {
	pattern pattern
	lower   string
	agent   Agent // the one that the word names, if it names one
}

func newWord(text string) word {
	w := word{pattern: newPattern(text), lower: strings.ToLower(text)}
	w.agent, _ = ParseAgent(w.lower)
	return w
}

// minPrefix is how much of an id must be given for it to be found by its start.
const minPrefix = 4

func (c *Catalog) parseQuery(text string) (*query, error) {
	if len(text) > MaxQueryBytes {
		return nil, failf(InvalidRequest, "query has more than %d bytes", MaxQueryBytes)
	}
	q := &query{}
	for w := range strings.FieldsSeq(bounded.Clean([]byte(text))) {
		if !q.filter(w, c.env().now()) {
			q.words = append(q.words, newWord(w))
		}
	}
	return q, nil
}

// filter takes a word as a filter when it is one.
func (q *query) filter(w string, now time.Time) bool {
	name, value, ok := strings.Cut(w, ":")
	if !ok || value == "" {
		return false
	}
	switch strings.ToLower(name) {
	case "agent":
		if q.agent, ok = ParseAgent(value); !ok {
			return false
		}
	case "branch":
		q.branch = strings.ToLower(value)
	case "since":
		at := sinceMillis(value, now)
		if at == 0 {
			return false
		}
		q.since = at
	default:
		return false
	}
	return true
}

// Misread returns the words of a query that look like filters and make no sense as such, so that they are matched as ordinary words: a person
// who wrote one hardly meant that.
func (c *Catalog) Misread(text string) []string {
	var out []string
	for w := range strings.FieldsSeq(bounded.Clean([]byte(text))) {
		name, _, ok := strings.Cut(w, ":")
		known := ok && slices.Contains([]string{"agent", "branch", "since"}, strings.ToLower(name))
		if known && !(&query{}).filter(w, c.env().now()) {
			out = append(out, w)
		}
	}
	return out
}

// sinceMillis returns a time in Unix milliseconds, or 0.
func sinceMillis(value string, now time.Time) int64 {
	if t, err := time.ParseInLocation(time.DateOnly, value, now.Location()); err == nil {
		return t.UnixMilli()
	}
	if len(value) > 10 {
		return bounded.ParseTime(value)
	}
	units := map[byte]time.Duration{'m': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	unit := units[value[len(value)-1]|0x20]
	n, err := strconv.ParseUint(value[:len(value)-1], 10, 16)
	if unit == 0 || err != nil {
		return 0
	}
	return now.Add(-time.Duration(n) * unit).UnixMilli()
}

// admits reports whether a session passes the filters.
func (q *query) admits(agent Agent, s *Session) bool {
	return (q.agent == "" || q.agent == agent) && s.TimeMS >= q.since &&
		(q.branch == "" || strings.Contains(strings.ToLower(s.Branch), q.branch))
}

// rankPiece is how many sessions one goroutine ranks at a time.
const rankPiece = 512

// rank returns the matching sessions, best first, and among equals newest first. A word matches fuzzily in the original's haystack, which alone
// gives a score, or it is the start of the id, the agent, or a part of the worktree.
func (q *query) rank(ctx context.Context, stores []*store, keep func(*Session) bool, texts bool) ([]hit, error) {
	type run struct {
		store    *store
		from, to int
	}
	var runs []run
	for _, st := range stores {
		for from, n := 0, st.shelf.len(); from < n; from += rankPiece {
			runs = append(runs, run{st, from, min(from+rankPiece, n)})
		}
	}
	pieces := make([][]hit, len(runs))
	inParallel(ctx, runtime.GOMAXPROCS(0), len(runs), func(i int) {
		pieces[i] = q.rankSome(runs[i].store, runs[i].from, runs[i].to, keep, texts)
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	hits := slices.Concat(pieces...)
	sortHits(hits)
	if len(q.words) > 0 {
		slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	}
	return hits, nil
}

// rankSome returns the matches among some sessions of a store.
func (q *query) rankSome(st *store, from, to int, keep func(*Session) bool, texts bool) []hit {
	agent, m := st.reader.Agent(), matcher{}
	var hits []hit
	for number, s := range st.some(from, to) {
		if !keep(s) || !q.admits(agent, s) {
			continue
		}
		if score, ok := q.score(agent, s, texts, &m); ok {
			hits = append(hits, hit{store: st, number: number, timeMS: s.TimeMS, score: score})
		}
	}
	return hits
}

// score matches all words against a session.
func (q *query) score(agent Agent, s *Session, texts bool, m *matcher) (total int, ok bool) {
	if len(q.words) == 0 {
		return 0, true
	}
	m.setHaystack(s.haystack(texts, m.parts[:0]))
	for _, w := range q.words {
		n, matched := m.score(w.pattern)
		if !matched && !w.names(agent, s) {
			return 0, false
		}
		total += n
	}
	return total, true
}

// names reports whether the word names the session otherwise than by its haystack.
func (w word) names(agent Agent, s *Session) bool {
	if n := len(w.lower); n >= minPrefix && len(s.ID) >= n && (s.ID[0]|0x20 == w.lower[0]|0x20 || s.ID[0] >= utf8.RuneSelf) &&
		strings.HasPrefix(strings.ToLower(s.ID), w.lower) { // Few ids begin alike: the first byte spares most of the copies.
		return true
	}
	if s.Worktree != "" && strings.Contains(strings.ToLower(s.Worktree), w.lower) {
		return true
	}
	return w.agent != "" && w.agent == agent
}
