package catalog

import (
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
func (q *query) admits(e *entry) bool {
	return (q.agent == "" || q.agent == e.agent.ID) && e.TimeMS >= q.since &&
		(q.branch == "" || strings.Contains(strings.ToLower(e.Branch), q.branch))
}

// rankPiece is how many sessions one goroutine ranks at a time.
const rankPiece = 512

// rank returns the matching sessions, best first. A word matches fuzzily in the original's haystack, which alone
// gives a score, or it is the start of the id, the agent, or a part of the worktree.
func (q *query) rank(ctx context.Context, all []*entry, texts bool) ([]hit, error) {
	pieces := make([][]hit, (len(all)+rankPiece-1)/rankPiece)
	inParallel(ctx, runtime.GOMAXPROCS(0), len(pieces), func(i int, _ *worker) {
		from := i * rankPiece
		pieces[i] = q.rankSome(all[from:min(from+rankPiece, len(all))], from, texts)
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	hits := slices.Concat(pieces...)
	sortHits(hits)
	return hits, nil
}

// rankSome returns the matches among sessions of which the first has the index from.
func (q *query) rankSome(some []*entry, from int, texts bool) []hit {
	m := matcher{}
	hits := make([]hit, 0, len(some))
	for i, e := range some {
		if !q.admits(e) {
			continue
		}
		if len(q.words) == 0 {
			hits = append(hits, hit{index: from + i})
			continue
		}
		m.setHaystack(e.haystack(texts))
		score, ok := 0, true
		for _, w := range q.words {
			n, matched := m.score(w.pattern)
			if !matched && !w.names(e) {
				ok = false
				break
			}
			score += n
		}
		if ok {
			hits = append(hits, hit{index: from + i, score: score})
		}
	}
	return hits
}

// names reports whether the word names the session otherwise than by its haystack.
func (w word) names(e *entry) bool {
	if n := len(w.lower); n >= minPrefix && len(e.ID) >= n && (e.ID[0]|0x20 == w.lower[0]|0x20 || e.ID[0] >= utf8.RuneSelf) &&
		strings.HasPrefix(strings.ToLower(e.ID), w.lower) { // Few ids begin alike: the first byte spares most of the copies.
		return true
	}
	if e.Worktree != "" && strings.Contains(strings.ToLower(e.Worktree), w.lower) {
		return true
	}
	return w.agent != "" && w.agent == e.agent.ID
}
