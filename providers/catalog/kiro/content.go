package kiro

import (
	"context"
	"iter"
	"strconv"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/database"
	"agentd/providers/catalog/transcript"
)

// maxConversation bounds what is read of a conversation in the database, in characters.
const maxConversation = 16 << 20

// Records implements [catalog.ContentReader]. What the model thought is left out.
func (Reader) Records(ctx context.Context, req catalog.ContentRequest) iter.Seq2[catalog.Record, error] {
	if req.Session.Ref == "" {
		return catalog.LineRecords(ctx, req, logOf(req.Session.StoreFile), eventRecords)
	}
	return transcript.Records(ctx, req, func() ([]catalog.Record, error) { return conversationRecords(ctx, req) })
}

// eventRecords returns what a line of a log says.
func eventRecords(line bounded.Line) []catalog.Record {
	e := decodeEvent(line.Data)
	rec := catalog.Record{TimeMS: e.at, Role: catalog.System}
	switch kind := string(e.kind.Bytes()); {
	case e.prompt() != "":
		rec.Role, rec.Text = catalog.User, blocks(e.content, "text", catalog.MaxRecordBytes)
		if e.said.Exists() {
			rec.Text = catalog.Said(e.said)
		}
	case kind == "AssistantMessage":
		rec.Role, rec.Text = catalog.Assistant, blocks(e.content, "", catalog.MaxRecordBytes)
	case kind == "ToolResults":
		rec.Role, rec.Text = catalog.Tool, blocks(e.content, "", catalog.MaxRecordBytes)
	case e.reply:
		rec.Role, rec.Text = catalog.Assistant, catalog.Said(e.said)
	case strings.HasPrefix(kind, "tool_"):
		rec.Role, rec.Text = catalog.Tool, catalog.Said(e.said)
		if rec.Text == "" {
			rec.Text = bounded.Clean(e.said.Raw[:min(len(e.said.Raw), 64<<10)])
		}
	}
	return []catalog.Record{rec}
}

// conversationRecords reads a conversation of the database.
func conversationRecords(ctx context.Context, req catalog.ContentRequest) ([]catalog.Record, error) {
	query := "SELECT substr(value, 1, ?) FROM conversations_v2 WHERE conversation_id = ? AND key = ?"
	args := []any{maxConversation, req.Session.ID, req.Session.ProjectPath}
	if req.Session.Ref == refOldTable {
		query = "SELECT substr(value, 1, ?) FROM conversations WHERE key = ?"
		args = []any{maxConversation, req.Session.ProjectPath}
	}
	var value database.Text
	err := database.View(ctx, req.Session.StoreFile, func(ctx context.Context, db *database.DB) error {
		value = ""
		return db.Each(ctx, query, args, []any{&value}, func() error { return nil })
	})
	if err != nil {
		return nil, err
	}
	var out []catalog.Record
	n := 0
	for key, v := range bounded.Fields([]byte(value)) {
		if string(key) != "history" && string(key) != "messages" {
			continue
		}
		for entry := range bounded.Elements(v.Raw) {
			n++
			if bounded.ContainsAnyFold(entry.Raw, req.Words) {
				out = append(out, turnRecords(n, entry.Raw)...)
			}
		}
	}
	return out, nil
}

// turnRecords returns what one entry of a history says.
func turnRecords(n int, data []byte) (out []catalog.Record) {
	t := decodeTurn(data)
	add := func(role catalog.Role, text string) {
		if text != "" {
			cite := "turn " + strconv.Itoa(n) + "." + strconv.Itoa(len(out))
			out = append(out, catalog.Record{Role: role, Text: text, TimeMS: t.at, Cite: cite})
		}
	}
	add(catalog.User, t.prompt.Text(catalog.MaxRecordBytes))
	add(catalog.Tool, transcript.Raw(t.results, catalog.MaxRecordBytes))
	add(catalog.Assistant, t.reply)
	add(catalog.Tool, transcript.Raw(t.calls, catalog.MaxRecordBytes))
	return out
}
