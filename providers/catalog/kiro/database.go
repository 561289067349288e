package kiro

import (
	"cmp"
	"context"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/database"
	"agentd/providers/catalog/transcript"
)

// Marks in Details.Ref: the table of a conversation.
const (
	refTable    = "v2"
	refOldTable = "v1"
)

// parseDatabase emits the conversations of the first engine.
func parseDatabase(ctx context.Context, p *catalog.Parsing) error {
	var found []catalog.Session
	var silent []string
	err := database.View(ctx, p.Unit.Path, func(ctx context.Context, db *database.DB) error {
		found, silent = nil, nil
		seen := map[string]bool{}
		for _, t := range []struct{ table, ref string }{{"conversations_v2", refTable}, {"conversations", refOldTable}} {
			err := tables{db, p}.read(ctx, t.table, func(s catalog.Session, talk bool) {
				s.Ref = t.ref
				switch {
				case seen[s.ID]:
				case !talk:
					silent = append(silent, s.ID)
				default:
					found = append(found, s)
				}
				seen[s.ID] = true
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	for _, s := range found {
		p.Emit(s)
	}
	for _, id := range silent {
		p.Skip(p.Unit.Path+"#"+id, catalog.NoConversation)
	}
	return err
}

// tables reads tables of conversations.
type tables struct {
	db *database.DB
	p  *catalog.Parsing
}

// read hands out the conversations of a table that may not be there, and whether anything was said in each.
func (t tables) read(ctx context.Context, table string, add func(s catalog.Session, talk bool)) error {
	have, err := t.db.Columns(ctx, table)
	if err != nil || !have["key"] || !have["value"] {
		return err
	}
	column := func(name string) string {
		if have[name] {
			return name
		}
		return "NULL"
	}
	var key, id, value, tail database.Text
	var created, updated database.Int
	// The names of tables and columns are constants of this package.
	query := "SELECT substr(key, 1, 8192), " + column("conversation_id") + ", substr(value, 1, 262144), " +
		"CASE WHEN length(value) > 262144 THEN substr(value, -65536) END, " + column("created_at") + ", " + column("updated_at") +
		" FROM " + table + " LIMIT 100000"
	p := t.p
	return t.db.Each(ctx, query, nil, []any{&key, &id, &value, &tail, &created, &updated}, func() error {
		c := decodeConversation([]byte(value))
		s := catalog.Session{
			ID: bounded.Clip(cmp.Or(string(id), c.id), catalog.MaxIDBytes+1), ProjectPath: bounded.Clip(string(key), catalog.MaxPathBytes+1),
			Prompts: transcript.Prompts(c.first, cmp.Or(lastPrompt([]byte(tail)), c.last)),
			TimeMS:  cmp.Or(p.Believe(bounded.GuessMillis(float64(updated))), p.Newest(c.newest), p.Believe(bounded.GuessMillis(float64(created)))),
			Details: catalog.Details{StartedMS: p.Believe(bounded.GuessMillis(float64(created)))},
		}
		add(s, c.talk || c.cut)
		return nil
	})
}
