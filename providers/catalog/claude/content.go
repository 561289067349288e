package claude

import (
	"context"
	"iter"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

// Records implements [catalog.ContentReader]. What the model thought, and what the program noted for itself, is left
// out.
func (Reader) Records(ctx context.Context, req catalog.ContentRequest) iter.Seq2[catalog.Record, error] {
	return catalog.LineRecords(ctx, req, req.Session.StoreFile, func(line bounded.Line) []catalog.Record {
		r := decode(line.Data)
		base := catalog.Record{Cite: r.uuid.Text(128), TimeMS: bounded.Millis(r.timestamp)}
		switch {
		case r.kind.Equal("user") && !r.meta:
			return blocks(&r, base, catalog.User)
		case r.kind.Equal("assistant") && r.reply():
			return blocks(&r, base, catalog.Assistant)
		default:
			return nil
		}
	})
}

// blocks returns a record for each block of a message that says something.
func blocks(r *record, base catalog.Record, role catalog.Role) (out []catalog.Record) {
	add := func(role catalog.Role, text string) {
		if text != "" {
			rec := base
			rec.Role, rec.Text = role, text
			out = append(out, rec)
		}
	}
	for key, content := range bounded.Fields(r.message.Raw) {
		if string(key) != "content" {
			continue
		}
		if text := content.Text(catalog.MaxRecordBytes); text != "" {
			if role == catalog.User && typed(text) == "" {
				role = catalog.System
			}
			add(role, text)
		}
		for block := range bounded.Elements(content.Raw) {
			blockRole, text := blockRecord(block, role)
			add(blockRole, text)
		}
	}
	return out
}

// blockRecord returns who speaks in a content block, and what.
func blockRecord(block bounded.Value, role catalog.Role) (catalog.Role, string) {
	b := transcript.Decode(block)
	switch string(b.Kind.Bytes()) {
	case "text":
		return role, b.Text.Text(catalog.MaxRecordBytes)
	case "tool_use":
		return catalog.Tool, transcript.Call(b.Name, b.Input)
	case "tool_result":
		return catalog.Tool, catalog.Said(b.Result)
	default:
		return role, ""
	}
}
