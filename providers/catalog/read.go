package catalog

import (
	"context"

	"agentd/providers/catalog/bounded"
)

const (
	// DefaultReadBytes is the budget of a page of a transcript.
	DefaultReadBytes = 16 << 10
	// MaxReadBytes is the largest budget.
	MaxReadBytes = 256 << 10
)

// ReadRequest asks for a page of a transcript, most recent first.
type ReadRequest struct {
	// Agent, SessionID and Project are as in [ShowRequest].
	Agent, SessionID string
	Project          *string
	// Before is the Cite of a record; the page starts with the one before it. Empty starts at the end.
	Before string
	// MaxBytes is the budget for the texts, 1 to [MaxReadBytes]. 0 is [DefaultReadBytes].
	MaxBytes int
	// IncludeNonInteractive and IncludeArchived are as in [SearchRequest].
	IncludeNonInteractive, IncludeArchived bool
}

// ReadResult is a page of a transcript.
type ReadResult struct {
	// Session is whose.
	Session SessionView `json:"session"`
	// Records are the page, most recent first; empty, never null.
	Records []RecordView `json:"records"`
	// NextBefore is what Before must be for the next page, null when the transcript has no more.
	NextBefore *string `json:"next_before"`
	// Warnings say what may be missing; empty, never null.
	Warnings []Warning `json:"warnings"`
}

// RecordView is a record in an answer.
type RecordView struct {
	Role        Role   `json:"role"`
	TimestampMS int64  `json:"timestamp_ms"`
	Cite        string `json:"cite"`
	// Text has what looks like a secret masked.
	Text string `json:"text"`
	// Truncated is true when the text was longer.
	Truncated bool `json:"truncated"`
}

// Read returns a page of a transcript. Errors are as for [Catalog.Show]; [InvalidRequest] also when the agent's
// transcripts cannot be read, or when no record has the cite.
func (c *Catalog) Read(ctx context.Context, req ReadRequest) (*ReadResult, error) {
	if req.MaxBytes < 0 || req.MaxBytes > MaxReadBytes || len(req.Before) > MaxIDBytes {
		return nil, failf(InvalidRequest, "max_bytes must be 1 to %d, and before the next_before of an earlier page", MaxReadBytes)
	}
	budget := req.MaxBytes
	if budget == 0 {
		budget = DefaultReadBytes
	}
	e, warnings, err := c.find(ctx, ShowRequest{
		Agent: req.Agent, SessionID: req.SessionID, Project: req.Project,
		IncludeNonInteractive: req.IncludeNonInteractive, IncludeArchived: req.IncludeArchived,
	})
	if err != nil {
		return nil, err
	}
	r, _ := c.reader(e.agent.ID)
	content, ok := r.(ContentReader)
	if !ok {
		return nil, failf(InvalidRequest, "transcripts of %s cannot be read", e.agent.Name)
	}
	page := readPage{ReadResult: &ReadResult{Session: e.view(false), Records: []RecordView{}, Warnings: warnings}, budget: budget, waiting: req.Before}
	err = guard(func() error {
		for rec, err := range content.Records(ctx, ContentRequest{Env: c.env(), Session: e.clone(), NewestFirst: true}) {
			if err != nil {
				return err
			}
			if !page.add(rec) {
				return nil
			}
		}
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, failf(ScanFailed, "the transcript cannot be read")
	case page.waiting != "":
		return nil, failf(InvalidRequest, "no record of this session has that cite")
	}
	return page.ReadResult, nil
}

// readPage fills a page.
type readPage struct {
	*ReadResult
	budget  int
	waiting string
}

// add takes a record and reports whether the page has room for another.
func (p *readPage) add(rec Record) bool {
	if p.waiting != "" {
		if rec.Cite == p.waiting {
			p.waiting = ""
		}
		return true
	}
	if p.budget <= 0 {
		last := p.Records[len(p.Records)-1].Cite
		p.NextBefore = &last
		return false
	}
	text := bounded.Mask(rec.Text)
	cut := bounded.CutGraphemes(text, p.budget)
	if cut == "" && text != "" && len(p.Records) > 0 {
		p.budget = 0
		return p.add(rec)
	}
	p.budget -= max(len(cut), 1)
	p.Records = append(p.Records, RecordView{rec.Role, rec.TimeMS, rec.Cite, cut, rec.Cut || len(cut) < len(text)})
	return true
}
