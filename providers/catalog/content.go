package catalog

import (
	"context"
	"strings"
	"unicode"
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

// searchContent returns the sessions in which all words were said, newest first. Words match as parts of
// words, without regard to case. It stops in a session as soon as nothing is missing; [Catalog.citeAll] finds the places, which cost
// more, of those that are shown.
func (c *Catalog) searchContent(ctx context.Context, stores []*store, q *query, keep func(*Session) bool) ([]hit, error) {
	var all []hit
	for _, st := range stores {
		for number, s := range st.all() {
			if keep(s) && q.admits(st.reader.Agent(), s) {
				all = append(all, hit{store: st, number: number, timeMS: s.TimeMS})
			}
		}
	}
	sortHits(all)
	ok := make([]bool, len(all))
	inParallel(ctx, c.opts.Workers, len(all), func(i int) { ok[i] = c.contains(ctx, all[i].entry(), q) })
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	hits := all[:0]
	for i, h := range all {
		if ok[i] {
			hits = append(hits, h)
		}
	}
	return hits, nil
}

// citeAll fills the matches of the hits of a page. A session that changed since it was searched may have none any more.
func (c *Catalog) citeAll(ctx context.Context, page []hit, q *query) error {
	if len(q.words) == 0 {
		return nil
	}
	inParallel(ctx, c.opts.Workers, len(page), func(i int) { page[i].matches = c.cite(ctx, page[i].entry(), q) })
	return context.Cause(ctx)
}

// contains reports whether all words were said in one session. In a transcript that cannot be read none was.
func (c *Catalog) contains(ctx context.Context, e *entry, q *query) bool {
	r, _ := c.reader(e.agent.ID)
	if _, ok := r.(ContentReader); !ok {
		return false
	}
	missing := q.distinct()
	if len(missing) == 0 {
		return true
	}
	c.eachRecord(ctx, e, q, func(_ *Record, lower string) bool {
		for w := range missing {
			if strings.Contains(lower, w) {
				delete(missing, w)
			}
		}
		return len(missing) > 0
	})
	return len(missing) == 0
}

// cite returns places in one session where words stand: the first ones, and for each word one if there is room.
func (c *Catalog) cite(ctx context.Context, e *entry, q *query) []Match {
	var out []Match
	missing := q.distinct()
	c.eachRecord(ctx, e, q, func(rec *Record, lower string) bool {
		place, word := -1, ""
		for _, w := range q.words {
			at := strings.Index(lower, w.lower)
			if at < 0 {
				continue
			}
			if place < 0 && (missing[w.lower] || len(out) < MaxMatches) && len(out) < MaxMatches+len(q.words) {
				place, word = at, w.lower
			}
			delete(missing, w.lower)
		}
		if place >= 0 {
			out = append(out, Match{rec.Role, rec.TimeMS, rec.Cite, snippet(rec.Text, word, place)})
		}
		return len(missing) > 0 || len(out) < MaxMatches
	})
	return out[:min(len(out), MaxMatches)]
}

// eachRecord shows the records of one session in which a word may stand, with their texts in lower case, as long as look asks for more.
// What cannot be read is left out.
func (c *Catalog) eachRecord(ctx context.Context, e *entry, q *query, look func(rec *Record, lower string) bool) {
	r, _ := c.reader(e.agent.ID)
	content, ok := r.(ContentReader)
	if !ok {
		return
	}
	_ = guard(func() error { // A fault of a reader costs the rest of this session.
		seen := 0
		for rec, err := range content.Records(ctx, ContentRequest{Env: c.env(), Session: e.clone(), Words: q.hints()}) {
			if seen++; err != nil || seen > maxContentRecords || ctx.Err() != nil {
				return err
			}
			if !look(&rec, strings.ToLower(rec.Text)) {
				return nil
			}
		}
		return nil
	})
}

// distinct returns the words, each once.
func (q *query) distinct() map[string]bool {
	out := map[string]bool{}
	for _, w := range q.words {
		out[w.lower] = true
	}
	return out
}

// hints returns the words by which a record may be passed over unread: all of them, or none when some word may hide behind an escape
// in any record.
func (q *query) hints() []string {
	out := make([]string, 0, len(q.words))
	for _, w := range q.words {
		if !plainWord(w.lower) {
			return nil
		}
		out = append(out, w.lower)
	}
	return out
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

// snippetWindow is how much on each side of a place is looked at for secrets.
const snippetWindow = 4 << 10

// snippet cuts the text around the first place of a word, on one line. at is that place in the lower-case form of the text. Secrets are masked
// in a wider piece first, so that a cut does not hide what they are.
func snippet(text, word string, at int) string {
	at = unfold(text, at)
	from := max(0, at-snippetWindow)
	if begin := strings.LastIndex(text[:from], "-----BEGIN "); begin >= 0 && !strings.Contains(text[begin:from], "-----END ") {
		from = begin // Within a key only its beginning tells what it is.
	}
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	piece := bounded.Mask(bounded.Clip(text[from:], at-from+snippetWindow))
	// The place moves when something before it was masked; look for it again.
	if again := strings.Index(strings.ToLower(piece), word); again >= 0 {
		at = unfold(piece, again)
	} else {
		at = min(at-from, len(piece))
	}
	start := max(0, at-MaxSnippetBytes/3)
	for start > 0 && start < len(piece) && !utf8.RuneStart(piece[start]) {
		start--
	}
	return bounded.Squeeze(piece[start:], MaxSnippetBytes)
}

// unfold returns the place in a text that a place in its lower-case form stands for. Some characters change their length.
func unfold(text string, at int) int {
	passed := 0
	for i, r := range text {
		if passed >= at {
			return i
		}
		passed += utf8.RuneLen(unicode.ToLower(r))
	}
	return len(text)
}
