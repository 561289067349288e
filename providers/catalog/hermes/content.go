package hermes

import (
	"context"
	"iter"
	"slices"
	"strconv"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/database"
	"agentd/providers/catalog/transcript"
)

const (
	// pageRows and pageBytes bound what is read of a database at once.
	pageRows  = 200
	pageBytes = 4 << 20
)

// place is behind which message a page begins.
type place struct {
	id  database.Int
	set bool
}

// Records implements [catalog.ContentReader]. What the model thought is left out.
func (Reader) Records(ctx context.Context, req catalog.ContentRequest) iter.Seq2[catalog.Record, error] {
	return database.Pages(ctx, req.Session.StoreFile, func(ctx context.Context, db *database.DB, at place) ([]catalog.Record, place, bool, error) {
		have, err := db.Columns(ctx, "messages")
		if err != nil || !have["id"] || !have["session_id"] {
			return nil, at, false, err
		}
		return page(ctx, db, have, req, at)
	})
}

// page reads the messages behind a place.
func page(ctx context.Context, db *database.DB, have map[string]bool, req catalog.ContentRequest, at place) (out []catalog.Record, next place, more bool, err error) {
	var m message
	var id database.Int
	count, size := 0, 0
	query, args := pageQuery(have, req, at)
	err = db.Each(ctx, query, args, []any{&id, &m.role, &m.content, &m.tool, &m.calls, &m.at, &m.display}, func() error {
		if size > pageBytes {
			return nil // The next page begins with this one.
		}
		count++
		next = place{id, true}
		if !bounded.ContainsAnyFold([]byte(m.content), req.Words) && !bounded.ContainsAnyFold([]byte(m.calls), req.Words) {
			return nil
		}
		all := m.records("m" + strconv.FormatInt(int64(id), 10))
		for _, rec := range all {
			size += len(rec.Text)
		}
		if req.NewestFirst {
			slices.Reverse(all)
		}
		out = append(out, all...)
		return nil
	})
	return out, next, count == pageRows || size > pageBytes, err
}

func pageQuery(have map[string]bool, req catalog.ContentRequest, at place) (query string, args []any) {
	column := func(name, expression string) string {
		if have[name] {
			return expression
		}
		return "NULL"
	}
	query = "SELECT id, " + column("role", "role") + ", " + column("content", contentColumn("262144")) + ", " + column("tool_name", "substr(tool_name, 1, 256)") + ", " +
		column("tool_calls", "substr(tool_calls, 1, 262144)") + ", " + column("timestamp", "CAST(timestamp * 1000 + 0.5 AS INTEGER)") + ", " + column("display_kind", "display_kind") +
		" FROM messages WHERE session_id = ?" + present(have)
	args = []any{req.Session.ID}
	if at.set {
		sign := ">"
		if req.NewestFirst {
			sign = "<"
		}
		query += " AND id " + sign + " ?"
		args = append(args, int64(at.id))
	}
	return query + database.OrderBy(req.NewestFirst, "id") + " LIMIT " + strconv.Itoa(pageRows), args
}

// message is a row of the table of messages.
type message struct {
	role, content, tool, calls, display database.Text
	at                                  database.Int
}

// records returns what a message says, and what it asks of tools.
func (m *message) records(cite string) (out []catalog.Record) {
	add := func(role catalog.Role, text string) {
		if text == "" {
			return
		}
		rec := catalog.Record{Role: role, Text: text, TimeMS: bounded.GuessMillis(float64(m.at)), Cite: cite, Cut: len(text) >= catalog.MaxRecordBytes-4}
		if len(out) > 0 {
			rec.Cite += "#" + strconv.Itoa(len(out))
		}
		out = append(out, rec)
	}
	text := said(m.content, catalog.MaxRecordBytes)
	switch m.role {
	case "user":
		role := catalog.User
		if m.display == "hidden" || typed(text) == "" {
			role = catalog.System
		}
		add(role, text)
	case "assistant":
		add(catalog.Assistant, text)
	case "tool":
		if m.tool != "" {
			text = bounded.Clip(string(m.tool)+"\n"+text, catalog.MaxRecordBytes)
		}
		add(catalog.Tool, text)
	default:
		add(catalog.System, text)
	}
	for call := range bounded.Elements([]byte(m.calls)) {
		b := transcript.Decode(bounded.Pick(call.Raw, "function"))
		if !b.Name.Exists() {
			b = transcript.Decode(call)
		}
		add(catalog.Tool, transcript.Call(b.Name, b.Input))
	}
	return out
}
