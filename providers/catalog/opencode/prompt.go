package opencode

import (
	"context"
	"slices"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/database"
)

// messageTables tells which tables of messages there are, and whether they can be asked for one session at a time.
type messageTables struct {
	old, recent bool
}

func lookTables(ctx context.Context, db *database.DB) (messageTables, error) {
	var t messageTables
	old, err := askable(ctx, db, "message", "session_id")
	if err != nil {
		return t, err
	}
	parts, err := askable(ctx, db, "part", "message_id")
	if err != nil {
		return t, err
	}
	t.old = old && parts
	t.recent, err = askable(ctx, db, "session_message", "session_id")
	return t, err
}

// askable reports whether a table of messages has a column by which rows are found fast.
func askable(ctx context.Context, db *database.DB, table, column string) (bool, error) {
	have, err := db.Columns(ctx, table)
	if err != nil || !have["data"] || !have["id"] {
		return false, err
	}
	return db.Askable(ctx, table, column)
}

// addPrompts looks up the prompts of the sessions that need them most. The sessions of each table are the newest first.
// With only, those of the others are left out.
func addPrompts(ctx context.Context, db *database.DB, all []catalog.Session, only string) error {
	tables, err := lookTables(ctx, db)
	if err != nil {
		return err
	}
	first, titleless := promptRows, promptlessMax
	for i := range all {
		s := &all[i]
		bare := untitled(s.Title)
		if first <= 0 && (!bare || titleless <= 0) {
			continue
		}
		first--
		if bare {
			titleless--
		}
		if only != "" && only != s.ID {
			continue
		}
		if s.Prompts, err = promptsOf(ctx, db, tables, s.ID); err != nil {
			return err
		}
	}
	return nil
}

// promptsOf returns the first prompt of a session, and the last.
func promptsOf(ctx context.Context, db *database.DB, tables messageTables, id string) ([]string, error) {
	var out []string
	for _, descending := range []bool{false, true} {
		prompt, err := "", error(nil)
		if tables.recent {
			prompt, err = recentPrompt(ctx, db, id, descending)
		}
		if prompt == "" && err == nil && tables.old {
			prompt, err = oldPrompt(ctx, db, id, descending)
		}
		if err != nil {
			return nil, err
		}
		if prompt != "" && !slices.Contains(out, prompt) {
			out = append(out, prompt)
		}
	}
	return out, nil
}

// recentPrompt looks in the table of version 2.
func recentPrompt(ctx context.Context, db *database.DB, id string, descending bool) (string, error) {
	var data database.Text
	var found string
	query := "SELECT substr(data, 1, 16384) FROM session_message WHERE session_id = ? AND type = 'user'" + database.OrderBy(descending, "seq") + " LIMIT 3"
	err := db.Each(ctx, query, []any{id}, []any{&data}, func() error {
		if found == "" {
			found = bounded.Squeeze(bounded.Pick([]byte(data), "text").Text(catalog.MaxTextBytes), catalog.MaxTextBytes)
		}
		return nil
	})
	return found, err
}

// oldPrompt looks in the tables of version 1.
func oldPrompt(ctx context.Context, db *database.DB, id string, descending bool) (string, error) {
	var message database.Text
	var ids []string
	query := "SELECT id FROM message WHERE session_id = ? AND CASE WHEN json_valid(data) THEN json_extract(data, '$.role') END = 'user'" +
		database.OrderBy(descending, "time_created", "id") + " LIMIT 3"
	err := db.Each(ctx, query, []any{id}, []any{&message}, func() error {
		ids = append(ids, string(message))
		return nil
	})
	if err != nil {
		return "", err
	}
	for _, message := range ids {
		var data database.Text
		var found string
		err := db.Each(ctx, "SELECT substr(data, 1, 16384) FROM part WHERE message_id = ? ORDER BY id LIMIT 16", []any{message}, []any{&data}, func() error {
			if part := decodePart([]byte(data)); found == "" && part.kind == "text" && !part.machine {
				found = bounded.Squeeze(part.text.Text(catalog.MaxTextBytes), catalog.MaxTextBytes)
			}
			return nil
		})
		if err != nil || found != "" {
			return found, err
		}
	}
	return "", nil
}

// part is a part of a message.
type part struct {
	kind    string
	id      string
	text    bounded.Value
	machine bool // put there by the program
	tool    string
	state   bounded.Value
}

func decodePart(data []byte) part {
	var p part
	for key, v := range bounded.Fields(data) {
		switch string(key) {
		case "type":
			p.kind = v.Text(64)
		case "id":
			p.id = v.Text(256)
		case "text":
			p.text = v
		case "synthetic", "ignored":
			p.machine = p.machine || v.IsTrue()
		case "tool", "name":
			p.tool = v.Text(256)
		case "state":
			p.state = v
		}
	}
	return p
}
