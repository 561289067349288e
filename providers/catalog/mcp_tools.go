package catalog

import "context"

// The arguments of the tools, as their schemas tell them.
type (
	searchArguments struct {
		Query                 string  `json:"query"`
		Agent                 *string `json:"agent"`
		Project               *string `json:"project"`
		Limit                 int     `json:"limit"`
		Offset                int     `json:"offset"`
		IncludeSummaries      bool    `json:"include_summaries"`
		IncludeNonInteractive bool    `json:"include_non_interactive"`
		IncludeArchived       bool    `json:"include_archived"`
		Details               bool    `json:"details"`
		Content               bool    `json:"content"`
	}
	showArguments struct {
		Agent                 string `json:"agent"`
		SessionID             string `json:"session_id"`
		IncludeSummaries      bool   `json:"include_summaries"`
		IncludeNonInteractive bool   `json:"include_non_interactive"`
		IncludeArchived       bool   `json:"include_archived"`
		Details               bool   `json:"details"`
	}
	planArguments struct {
		Agent                 string  `json:"agent"`
		SessionID             string  `json:"session_id"`
		Mode                  *string `json:"mode"`
		IncludeNonInteractive bool    `json:"include_non_interactive"`
		IncludeArchived       bool    `json:"include_archived"`
	}
	capabilitiesArguments struct {
		Details bool `json:"details"`
	}
	readArguments struct {
		Agent                 string  `json:"agent"`
		SessionID             string  `json:"session_id"`
		Before                *string `json:"before"`
		MaxBytes              int     `json:"max_bytes"`
		IncludeNonInteractive bool    `json:"include_non_interactive"`
		IncludeArchived       bool    `json:"include_archived"`
	}
)

func (t *mcpTools) search(ctx context.Context, in searchArguments) (any, error) {
	return t.catalog.Search(ctx, SearchRequest{
		Query: in.Query, Agent: in.Agent, Project: in.Project, Limit: &in.Limit, Offset: in.Offset, IncludeSummaries: in.IncludeSummaries,
		IncludeNonInteractive: in.IncludeNonInteractive, IncludeArchived: in.IncludeArchived, Details: in.Details, Content: in.Content,
	})
}

func (t *mcpTools) show(ctx context.Context, in showArguments) (any, error) {
	return t.catalog.Show(ctx, ShowRequest{
		Agent: in.Agent, SessionID: in.SessionID, IncludeSummaries: in.IncludeSummaries,
		IncludeNonInteractive: in.IncludeNonInteractive, IncludeArchived: in.IncludeArchived, Details: in.Details,
	})
}

func (t *mcpTools) plan(ctx context.Context, in planArguments) (any, error) {
	return t.catalog.ResumePlan(ctx, PlanRequest{
		Agent: in.Agent, SessionID: in.SessionID, Mode: in.Mode,
		IncludeNonInteractive: in.IncludeNonInteractive, IncludeArchived: in.IncludeArchived,
	})
}

func (t *mcpTools) capabilities(ctx context.Context, in capabilitiesArguments) (any, error) {
	return t.catalog.Capabilities(ctx, in.Details)
}

func (t *mcpTools) read(ctx context.Context, in readArguments) (any, error) {
	req := ReadRequest{
		Agent: in.Agent, SessionID: in.SessionID, MaxBytes: in.MaxBytes,
		IncludeNonInteractive: in.IncludeNonInteractive, IncludeArchived: in.IncludeArchived,
	}
	if in.Before != nil {
		req.Before = *in.Before
	}
	return t.catalog.Read(ctx, req)
}
