package antigravity

import (
	"context"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/database"
	"agentd/providers/catalog/outline"
	"agentd/providers/catalog/transcript"
)

// Parse implements [catalog.Reader].
func (Reader) Parse(ctx context.Context, p *catalog.Parsing) error {
	switch p.Unit.Kind {
	case kindIndex:
		return parseIndex(ctx, p)
	case kindLog:
		return parseLog(p)
	default:
		return parseConversation(ctx, p)
	}
}

// parseIndex emits a session for each row of the index.
func parseIndex(ctx context.Context, p *catalog.Parsing) error {
	var found []catalog.Session
	var odd []string
	known := false
	err := database.View(ctx, p.Unit.Path, func(ctx context.Context, db *database.DB) error {
		found, odd = nil, nil
		have, err := db.Columns(ctx, "conversation_summaries")
		if known = have["conversation_id"]; err != nil || !known {
			return err
		}
		var id, title, preview, uris, modified, typedAt, parent database.Text
		var depth database.Int
		query := database.Select("conversation_summaries", have, []string{
			"conversation_id", "title", "preview", "workspace_uris", "last_modified_time", "last_user_input_time", "parent_conversation_id", "nesting_depth",
		}, "LIMIT 200000")
		return db.Each(ctx, query, nil, []any{&id, &title, &preview, &uris, &modified, &typedAt, &parent, &depth}, func() error {
			if !isID(string(id)) {
				odd = append(odd, bounded.Clip(string(id), catalog.MaxIDBytes))
				return nil
			}
			s := catalog.Session{
				ID: string(id), ProjectPath: bounded.Clip(workspace(string(uris)), catalog.MaxPathBytes+1), Title: bounded.Squeeze(string(title), catalog.MaxTextBytes),
				Prompts: transcript.Prompts(typed(string(preview))), TimeMS: p.Newest(bounded.ParseTime(string(modified)), bounded.ParseTime(string(typedAt))),
			}
			if parent := strings.TrimSpace(string(parent)); parent != "" || depth > 0 {
				s.Parent, s.Relation, s.NonInteractive = bounded.Clip(parent, catalog.MaxIDBytes), catalog.SubAgent, true
			}
			found = append(found, s)
			return nil
		})
	})
	if err == nil && !known {
		p.Skip("", catalog.Unsupported)
	}
	for _, s := range found {
		p.Emit(s)
	}
	for _, id := range odd {
		p.Skip(p.Unit.Path+"#"+id, catalog.InvalidMetadata)
	}
	return err
}

// workspace returns the first directory on this machine of a list of addresses, or of a single one.
func workspace(uris string) string {
	uris = strings.TrimSpace(uris)
	if !strings.HasPrefix(uris, "[") {
		return bounded.FilePath(uris)
	}
	for v := range bounded.Elements([]byte(uris)) {
		if path := bounded.FilePath(v.Text(4 * catalog.MaxPathBytes)); path != "" {
			return path
		}
	}
	return ""
}

// parseLog emits a fragment for the log of a conversation.
func parseLog(p *catalog.Parsing) error {
	o := outline.New(p)
	s, ok, err := o.Alone(func(line bounded.Line) {
		step := decodeStep(line.Data)
		o.Time(step.at)
		o.Prompt(step.prompt())
		if step.kind.Exists() {
			o.Reply()
		}
	})
	if err != nil || !ok {
		return err
	}
	s.ID = idOf(p.Unit)
	p.Emit(s)
	return nil
}
