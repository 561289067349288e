package opencode

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/database"
)

const (
	// batchMessages and batchBytes bound what is read of a database at once.
	batchMessages = 100
	batchBytes    = 4 << 20
)

// Records implements [catalog.ContentReader]. What the model thought is left out.
func (Reader) Records(ctx context.Context, req catalog.ContentRequest) iter.Seq2[catalog.Record, error] {
	if strings.HasSuffix(req.Session.StoreFile, ".json") {
		return func(yield func(catalog.Record, error) bool) { fileRecords(ctx, req, yield) }
	}
	read := oldBatch
	if req.Session.Ref == refNew {
		read = recentBatch
	}
	return database.Pages(ctx, req.Session.StoreFile, func(ctx context.Context, db *database.DB, at cursor) ([]catalog.Record, cursor, bool, error) {
		batch, next, err := read(ctx, db, req, at)
		return batch, next, next.set, err
	})
}

// cursor is a place in the order of a session's messages.
type cursor struct {
	time database.Int // or the number, in the table of version 2
	id   database.Text
	set  bool
}

// where returns the part of a query that begins behind a cursor.
func (c *cursor) where(column string, descending bool) (clause string, args []any) {
	if !c.set {
		return "", nil
	}
	sign := ">"
	if descending {
		sign = "<"
	}
	return " AND (" + column + ", id) " + sign + " (?, ?)", []any{int64(c.time), string(c.id)}
}

// oldBatch reads messages of version 1, and their parts.
func oldBatch(ctx context.Context, db *database.DB, req catalog.ContentRequest, at cursor) (out []catalog.Record, next cursor, err error) {
	type message struct {
		cursor
		user bool
	}
	var id, data database.Text
	var created database.Int
	var messages []message
	behind, args := at.where("time_created", req.NewestFirst)
	query := "SELECT id, time_created, substr(data, 1, 16384) FROM message WHERE session_id = ?" + behind + database.OrderBy(req.NewestFirst, "time_created", "id") + " LIMIT 100"
	err = db.Each(ctx, query, append([]any{req.Session.ID}, args...), []any{&id, &created, &data}, func() error {
		messages = append(messages, message{cursor{created, id, true}, bounded.Pick([]byte(data), "role").Equal("user")})
		return nil
	})
	size := 0
	for _, m := range messages {
		if err != nil || size > batchBytes {
			return out, next, err
		}
		var part database.Text
		query := "SELECT id, substr(data, 1, 262144) FROM part WHERE message_id = ?" + database.OrderBy(req.NewestFirst, "id") + " LIMIT 10000"
		err = db.Each(ctx, query, []any{string(m.id)}, []any{&part, &data}, func() error {
			if size > 4*batchBytes || !bounded.ContainsAnyFold([]byte(data), req.Words) {
				return nil
			}
			p := decodePart([]byte(data))
			p.id = string(part)
			if rec := p.record(m.user, int64(m.time)); rec.Text != "" {
				out = append(out, rec)
				size += len(rec.Text)
			}
			return nil
		})
		next = m.cursor
	}
	if len(messages) < batchMessages {
		next = cursor{}
	}
	return out, next, err
}

// record returns what a part says.
func (p *part) record(user bool, timeMS int64) catalog.Record {
	rec := catalog.Record{Role: catalog.Assistant, TimeMS: bounded.GuessMillis(float64(timeMS)), Cite: p.id}
	switch {
	case p.kind == "tool":
		rec.Role, rec.Text = catalog.Tool, toolText(p.tool, p.state)
	case p.kind != "text":
		return rec
	default:
		rec.Text = p.text.Text(catalog.MaxRecordBytes)
		if user {
			rec.Role = catalog.User
		}
		if p.machine {
			rec.Role = catalog.System
		}
	}
	rec.Cut = len(rec.Text) >= catalog.MaxRecordBytes-4
	return rec
}

// toolText returns what a tool was asked, and what it answered.
func toolText(name string, state bounded.Value) string {
	text := name
	for key, v := range bounded.Fields(state.Raw) {
		switch string(key) {
		case "input":
			text += " " + bounded.Clean(v.Raw[:min(len(v.Raw), 64<<10)])
		case "output", "error", "content":
			text += "\n" + catalog.Said(v)
		}
	}
	return bounded.Clip(strings.TrimSpace(text), catalog.MaxRecordBytes)
}

// recentBatch reads messages of version 2.
func recentBatch(ctx context.Context, db *database.DB, req catalog.ContentRequest, at cursor) (out []catalog.Record, next cursor, err error) {
	var id, kind, data database.Text
	var seq, created database.Int
	count, size := 0, 0
	behind, args := at.where("seq", req.NewestFirst)
	query := "SELECT id, type, seq, time_created, substr(data, 1, 1048576) FROM session_message WHERE session_id = ?" + behind + database.OrderBy(req.NewestFirst, "seq", "id") + " LIMIT 100"
	err = db.Each(ctx, query, append([]any{req.Session.ID}, args...), []any{&id, &kind, &seq, &created, &data}, func() error {
		if size > batchBytes {
			return nil // The next batch begins with this one.
		}
		count++
		next = cursor{seq, id, true}
		if !bounded.ContainsAnyFold([]byte(data), req.Words) {
			return nil
		}
		all := recentRecords(string(kind), []byte(data))
		for i := range all {
			all[i].TimeMS = bounded.GuessMillis(float64(created))
			all[i].Cite = string(id)
			if i > 0 {
				all[i].Cite += "#" + strconv.Itoa(i)
			}
			size += len(all[i].Text)
		}
		if req.NewestFirst {
			slices.Reverse(all)
		}
		out = append(out, all...)
		return nil
	})
	if count < batchMessages && size <= batchBytes {
		next = cursor{}
	}
	return out, next, err
}

// recentRecords returns what a message of version 2 says.
func recentRecords(kind string, data []byte) (out []catalog.Record) {
	add := func(role catalog.Role, text string) {
		if text != "" {
			out = append(out, catalog.Record{Role: role, Text: text, Cut: len(text) >= catalog.MaxRecordBytes-4})
		}
	}
	var text, content, command, output bounded.Value
	for key, v := range bounded.Fields(data) {
		switch string(key) {
		case "text", "summary":
			text = v
		case "content":
			content = v
		case "command":
			command = v
		case "output":
			output = v
		}
	}
	switch kind {
	case "user":
		add(catalog.User, text.Text(catalog.MaxRecordBytes))
	case "assistant":
		for v := range bounded.Elements(content.Raw) {
			switch p := decodePart(v.Raw); p.kind {
			case "text":
				add(catalog.Assistant, p.text.Text(catalog.MaxRecordBytes))
			case "tool":
				add(catalog.Tool, toolText(p.tool, p.state))
			}
		}
	case "shell":
		add(catalog.Tool, strings.TrimSpace(bounded.Clip(command.Text(64<<10)+"\n"+output.Text(catalog.MaxRecordBytes), catalog.MaxRecordBytes)))
	default:
		add(catalog.System, text.Text(catalog.MaxRecordBytes))
	}
	return out
}

// fileRecords reads a session that is kept as JSON.
func fileRecords(ctx context.Context, req catalog.ContentRequest, yield func(catalog.Record, error) bool) {
	messages, err := jsonFiles(ctx, messagesOf(req.Session.StoreFile, req.Session.ID))
	if err != nil {
		yield(catalog.Record{}, err)
		return
	}
	if req.NewestFirst {
		slices.Reverse(messages)
	}
	for _, path := range messages {
		m, err := readMessage(path)
		if err != nil {
			continue // One that cannot be read costs itself.
		}
		parts, err := m.parts(ctx, func(string) {})
		if err != nil {
			yield(catalog.Record{}, err)
			return
		}
		all := make([]catalog.Record, 0, len(parts))
		for i, data := range parts {
			p := decodePart(data)
			if p.id == "" {
				p.id = m.id + "#" + strconv.Itoa(i)
			}
			if rec := p.record(m.user, m.timeMS); rec.Text != "" && bounded.ContainsAnyFold(data, req.Words) {
				all = append(all, rec)
			}
		}
		if req.NewestFirst {
			slices.Reverse(all)
		}
		for _, rec := range all {
			if !yield(rec, nil) {
				return
			}
		}
	}
}
