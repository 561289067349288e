package catalog

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// SearchRequest asks for a page of sessions. The zero value lists the newest.
type SearchRequest struct {
	// Query is matched against the metadata; empty matches all. See the package's search grammar in query.go:
	// words, and the filters agent:, branch: and since:.
	Query string
	// Agent limits the search to one agent, by name or alias. Nil is no limit.
	Agent *string
	// Project limits the search to one exact directory. Nil is no limit.
	Project *string
	// Limit is the size of the page, 1 to [MaxPage]. Nil is [DefaultPage].
	Limit *int
	// Offset is how many sessions to pass over, at most [MaxOffset].
	Offset int
	// IncludeSummaries adds titles, prompts and recaps to the answer and to what is searched.
	IncludeSummaries bool
	// IncludeNonInteractive adds sessions that no person held.
	IncludeNonInteractive bool
	// IncludeArchived adds archived sessions.
	IncludeArchived bool
	// Details adds a [DetailsView] to each session.
	Details bool
	// Content matches the query's words against what was said, instead of against the metadata, and adds [Match]es.
	Content bool
}

// SearchResult is a page.
type SearchResult struct {
	// Sessions is the page; empty, never null.
	Sessions []SessionView `json:"sessions"`
	// Total is how many sessions match.
	Total int `json:"total"`
	// Offset is that of the request.
	Offset int `json:"offset"`
	// NextOffset is that of the next page, null at the end.
	NextOffset *int `json:"next_offset"`
	// Warnings say what may be missing; empty, never null.
	Warnings []Warning `json:"warnings"`
}

// Search finds sessions. An empty answer is no error. Errors are [Error] with [InvalidRequest], [InvalidAgent],
// [OutOfScope] or [ScanFailed], or the context's cause. It blocks on the file system.
func (c *Catalog) Search(ctx context.Context, req SearchRequest) (*SearchResult, error) {
	limit := DefaultPage
	if req.Limit != nil {
		limit = *req.Limit
	}
	if limit < 1 || limit > MaxPage || req.Offset < 0 || req.Offset > MaxOffset {
		return nil, failf(InvalidRequest, "limit must be 1 to %d and offset 0 to %d", MaxPage, MaxOffset)
	}
	return c.page(ctx, req, limit)
}

// List is [Catalog.Search] with a page of any size, for a listing that a person reads: a nil Limit is no limit, and so is one
// below 1; Offset is not looked at.
func (c *Catalog) List(ctx context.Context, req SearchRequest) (*SearchResult, error) {
	limit := math.MaxInt
	if req.Limit != nil && *req.Limit > 0 {
		limit = *req.Limit
	}
	req.Offset = 0
	return c.page(ctx, req, limit)
}

// page returns the sessions from the request's offset on, at most limit of them.
func (c *Catalog) page(ctx context.Context, req SearchRequest, limit int) (*SearchResult, error) {
	q, err := c.parseQuery(req.Query)
	if err != nil {
		return nil, err
	}
	s, err := c.narrow(request{req.Agent, req.Project})
	if err != nil {
		return nil, err
	}
	stores, warnings, err := c.look(ctx, wanted{agent: s.agent, nonInteractive: req.IncludeNonInteractive})
	if err != nil {
		return nil, err
	}
	keep := c.filter(s, req.IncludeNonInteractive, req.IncludeArchived)
	found, err := c.match(ctx, stores, q, keep, req)
	if err != nil {
		return nil, err
	}
	out := &SearchResult{Sessions: []SessionView{}, Total: len(found), Offset: req.Offset, Warnings: warnings}
	from := min(req.Offset, len(found))
	shown := found[from : from+min(limit, len(found)-from)]
	if req.Content {
		if err := c.citeAll(ctx, shown, q); err != nil {
			return nil, err
		}
	}
	var moved *projects
	if req.Details {
		moved = newProjects(entries(stores, keep))
	}
	for _, h := range shown {
		e := h.entry()
		v := e.view(req.IncludeSummaries)
		if v.Matches = h.matches; req.Details {
			v.Details = e.details(moved)
		}
		out.Sessions = append(out.Sessions, v)
	}
	if next := req.Offset + len(shown); len(shown) > 0 && next < out.Total && next <= MaxOffset {
		out.NextOffset = &next
	}
	return out, nil
}

// match returns the sessions that a query finds, in the order of the answer.
func (c *Catalog) match(ctx context.Context, stores []*store, q *query, keep func(*Session) bool, req SearchRequest) ([]hit, error) {
	if req.Content {
		return c.searchContent(ctx, stores, q, keep)
	}
	return q.rank(ctx, stores, keep, req.IncludeSummaries)
}

// filter tells which sessions are in the scope and asked for.
func (c *Catalog) filter(s scope, nonInteractive, archived bool) func(*Session) bool {
	inProject := c.projectFilter(s)
	return func(session *Session) bool {
		return (nonInteractive || !session.NonInteractive) && (archived || !session.Archived) && inProject(session.ProjectPath)
	}
}

// look scans a scope and turns what went wrong into warnings; when nothing could be read, into an error.
func (c *Catalog) look(ctx context.Context, w wanted) ([]*store, []Warning, error) {
	stores, err := c.scan(ctx, w)
	if err != nil {
		return nil, nil, err
	}
	warnings := []Warning{}
	failed := 0
	for _, st := range stores {
		agent := st.reader.Agent()
		if st.err != nil {
			failed++
			warnings = append(warnings, Warning{agent, string(ScanFailed), "the store cannot be read; check its files and its configuration"})
		}
		warnings = append(warnings, missingWarnings(c.env(), st.reader)...)
		for _, skip := range st.skips.list() {
			if skip.Reason.Loss() {
				warnings = append(warnings, lossWarning(agent, skip))
			}
		}
	}
	if failed > 0 && failed == len(stores) {
		if w.agent != "" {
			return nil, nil, failf(ScanFailed, "the store of %q cannot be read; check its files and its configuration", w.agent)
		}
		return nil, nil, failf(ScanFailed, "no store can be read; check their files and their configuration")
	}
	return stores, warnings, nil
}

func lossWarning(agent Agent, s Skipped) Warning {
	what := map[Reason]string{
		Unreadable: "could not be read", NotRegular: "are not regular files", Corrupt: "are damaged", TooLarge: "are larger than their bound",
		Unresolved: "belong to a project that cannot be told", Unsupported: "have an unknown format",
		InvalidMetadata: "have an id or a project path that no answer can hold", Fault: "made the reader fail",
	}[s.Reason]
	return Warning{agent, string(s.Reason), fmt.Sprintf("%d left out that %s; the doctor names them", s.Count, cmp.Or(what, string(s.Reason)))}
}

// hit is a session that matches.
type hit struct {
	store   *store
	number  int // on its shelf
	timeMS  int64
	score   int
	matches []Match
}

// entry returns the session.
func (h *hit) entry() *entry { return h.store.entry(h.number) }

// sortHits puts the newest first and keeps the order of equals.
func sortHits(hits []hit) {
	newest := func(a, b hit) int { return cmp.Compare(b.timeMS, a.timeMS) }
	if !slices.IsSortedFunc(hits, newest) { // They come from several stores.
		slices.SortStableFunc(hits, newest)
	}
}
