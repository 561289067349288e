package catalog

import (
	"context"
	"strings"
	"unicode/utf8"

	"agentd/providers/catalog/bounded"
)

const (
	// MaxMatches is how many places a content search cites for each session.
	MaxMatches = 3
	// MaxSnippetBytes bounds a cited text.
	MaxSnippetBytes = 320
	// maxContentRecords bounds the records of one session that a search looks at.
	maxContentRecords = 500_000
)

// Match is a place in a transcript where a word of the query stands.
type Match struct {
	// Role is who said it.
	Role Role `json:"role"`
	// TimestampMS is when, 0 when it is not known.
	TimestampMS int64 `json:"timestamp_ms"`
	// Cite names the place; [Catalog.Read] takes it.
	Cite string `json:"cite"`
	// Snippet is the text around the word, with what looks like a secret masked.
	Snippet string `json:"snippet"`
}

// searchContent returns the sessions in which all words were said, in the order of the entries. Words match as parts of
// words, without regard to case.
func (c *Catalog) searchContent(ctx context.Context, all []*entry, q *query) ([]hit, error) {
	found := make([][]Match, len(all))
	ok := make([]bool, len(all))
	inParallel(ctx, c.opts.Workers, len(all), func(i int, _ *worker) {
		if q.admits(all[i]) {
			found[i], ok[i] = c.matches(ctx, all[i], q)
		}
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var hits []hit
	for i := range all {
		if ok[i] {
			hits = append(hits, hit{index: i, matches: found[i]})
		}
	}
	return hits, nil
}

// matches looks for all words in one session. A transcript that cannot be read has none.
func (c *Catalog) matches(ctx context.Context, e *entry, q *query) (out []Match, all bool) {
	r, _ := c.reader(e.agent.ID)
	content, ok := r.(ContentReader)
	if !ok {
		return nil, false
	}
	if len(q.words) == 0 {
		return nil, true
	}
	missing := map[string]bool{}
	hints := []string{}
	for _, w := range q.words {
		missing[w.lower] = true
		if plainWord(w.lower) {
			hints = append(hints, w.lower)
		}
	}
	if len(hints) < len(q.words) {
		hints = nil // Some word may hide behind an escape in any record.
	}
	_ = guard(func() error {
		seen := 0
		for rec, err := range content.Records(ctx, ContentRequest{Env: c.env(), Session: e.clone(), Words: hints}) {
			if seen++; err != nil || seen > maxContentRecords || ctx.Err() != nil {
				return err
			}
			lower := strings.ToLower(rec.Text)
			cited := false
			for _, w := range q.words {
				at := strings.Index(lower, w.lower)
				if at < 0 {
					continue
				}
				if (missing[w.lower] || len(out) < MaxMatches) && !cited && len(out) < MaxMatches+len(q.words) {
					out = append(out, Match{rec.Role, rec.TimeMS, rec.Cite, snippet(rec.Text, lower, at)})
					cited = true
				}
				delete(missing, w.lower)
			}
			if len(missing) == 0 && len(out) >= MaxMatches {
				return nil
			}
		}
		return nil
	})
	return out[:min(len(out), MaxMatches)], len(missing) == 0
}

// plainWord reports whether no way of writing JSON can hide the word.
func plainWord(w string) bool {
	for _, r := range w {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			return false
		}
	}
	return w != ""
}

// snippet cuts the text around a place, on one line. Secrets are masked in a wider piece first, so that a cut does not
// hide what they are.
func snippet(text, lower string, at int) string {
	if len(lower) != len(text) {
		at = min(at, len(text)) // Folding changed the length; the place is only about right.
	}
	const wide = 4 << 10
	from := max(0, at-wide)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	piece := bounded.Mask(bounded.Clip(text[from:], 2*wide))
	// The place moves when something before it was masked; look for it again.
	word := lower[min(at, len(lower)):min(at+8, len(lower))]
	if again := strings.Index(strings.ToLower(piece), word); again >= 0 {
		at = min(again, len(piece))
	} else {
		at = min(at-from, len(piece))
	}
	start := max(0, at-MaxSnippetBytes/3)
	for start > 0 && start < len(piece) && !utf8.RuneStart(piece[start]) {
		start--
	}
	return bounded.Squeeze(piece[start:], MaxSnippetBytes)
}
