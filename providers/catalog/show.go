package catalog

import "context"

// ShowRequest asks for one session.
type ShowRequest struct {
	// Agent is the agent's name or alias. Required.
	Agent string
	// SessionID is the exact id. Required.
	SessionID string
	// Project tells apart sessions of the same id. Nil is no limit.
	Project *string
	// IncludeSummaries, IncludeNonInteractive, IncludeArchived and Details are as in [SearchRequest].
	IncludeSummaries, IncludeNonInteractive, IncludeArchived, Details bool
}

// ShowResult is one session.
type ShowResult struct {
	// Session is it.
	Session SessionView `json:"session"`
	// Warnings say what may be wrong; empty, never null.
	Warnings []Warning `json:"warnings"`
}

// Show finds one session by its exact id. Errors are as for [Catalog.Search], and [NotFound] and [AmbiguousSession].
func (c *Catalog) Show(ctx context.Context, req ShowRequest) (*ShowResult, error) {
	e, warnings, err := c.find(ctx, req)
	if err != nil {
		return nil, err
	}
	out := &ShowResult{Session: e.view(req.IncludeSummaries), Warnings: warnings}
	if req.Details {
		out.Session.Details = e.details(c.neighbours(ctx, e))
	}
	return out, nil
}

// neighbours returns what is known of projects, to tell where that of one session probably is now. Other sessions tell that, so when the directory
// is missing the whole store of the agent is looked at. If that fails there is just no guess.
func (c *Catalog) neighbours(ctx context.Context, e *entry) *projects {
	all := []*entry{e}
	if e.ProjectPath != "" && !isDir(e.ProjectPath) {
		if stores, err := c.scan(ctx, wanted{agent: e.agent.ID}); err == nil {
			all = entries(stores, func(*Session) bool { return true })
		}
	}
	return newProjects(all)
}

// find looks one session up.
func (c *Catalog) find(ctx context.Context, req ShowRequest) (*entry, []Warning, error) {
	if err := checkID(req.SessionID); err != nil {
		return nil, nil, err
	}
	s, err := c.narrow(request{&req.Agent, req.Project})
	if err != nil {
		return nil, nil, err
	}
	stores, warnings, err := c.look(ctx, wanted{agent: s.agent, exact: req.SessionID, nonInteractive: req.IncludeNonInteractive})
	if err != nil {
		return nil, nil, err
	}
	found := entries(stores, c.filter(s, req.IncludeNonInteractive, req.IncludeArchived))
	switch len(found) {
	case 0:
		if len(warnings) > 0 { // All of them are of this store, and tell of losses.
			return nil, nil, failf(NotFound, "session not found within the requested scope; a part of the store was left out, and the doctor tells which")
		}
		return nil, nil, failf(NotFound, "session not found within the requested scope")
	case 1:
		return found[0], warnings, nil
	default:
		return nil, nil, failf(AmbiguousSession, "%d sessions share this agent and session_id; name the exact project", len(found))
	}
}

// Session returns one session in the reader's own form, for a host program that wants more than an answer holds. Errors
// are as for [Catalog.Show].
func (c *Catalog) Session(ctx context.Context, req ShowRequest) (Session, error) {
	e, _, err := c.find(ctx, req)
	if err != nil {
		return Session{}, err
	}
	return e.clone(), nil
}
