package qwen

import (
	"context"
	"iter"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

// Records implements [catalog.ContentReader]. What the model thought, and what the program noted for itself, is left out.
func (Reader) Records(ctx context.Context, req catalog.ContentRequest) iter.Seq2[catalog.Record, error] {
	return catalog.LineRecords(ctx, req, req.Session.StoreFile, records)
}

// records returns what one line says.
func records(line bounded.Line) (out []catalog.Record) {
	r := decode(line.Data)
	add := func(role catalog.Role, text string) {
		out = append(out, catalog.Record{Role: role, Text: text, TimeMS: bounded.Millis(r.timestamp), Cite: r.uuid.Text(128)})
	}
	switch string(r.kind.Bytes()) {
	case "user":
		if text := r.prompt(catalog.MaxRecordBytes); text != "" {
			add(catalog.User, text)
			return out
		}
		parts(&r, catalog.System, add)
	case "assistant":
		parts(&r, catalog.Assistant, add)
	case "tool_result":
		parts(&r, catalog.Tool, add)
	case "system":
		if r.subtype.Equal("notification") {
			add(catalog.System, bounded.Pick(r.payload.Raw, "displayText").Text(catalog.MaxRecordBytes))
		}
	}
	return out
}

// parts hands out what the parts of a message say.
func parts(r *record, role catalog.Role, add func(catalog.Role, string)) {
	for v := range bounded.Elements(content(r.message).Raw) {
		p := decodePart(v)
		switch {
		case p.call.Exists():
			add(catalog.Tool, called(p.call, "args"))
		case p.result.Exists():
			add(catalog.Tool, called(p.result, "response"))
		case p.text.Exists() && !p.thought:
			add(role, p.text.Text(catalog.MaxRecordBytes))
		}
	}
}

// called returns the name of a tool, and what it was asked or answered.
func called(v bounded.Value, member string) string {
	var name, text bounded.Value
	for key, v := range bounded.Fields(v.Raw) {
		switch string(key) {
		case "name":
			name = v
		case member:
			text = v
		}
	}
	return transcript.Call(name, text)
}
