package kimi

import (
	"context"
	"iter"
	"path/filepath"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

// Records implements [catalog.ContentReader]. What the model thought is left out.
func (Reader) Records(ctx context.Context, req catalog.ContentRequest) iter.Seq2[catalog.Record, error] {
	return catalog.LineRecords(ctx, req, filepath.Join(folderOf(req.Session.StoreFile), "agents", "main", "wire.jsonl"), records)
}

// records returns what one line says.
func records(line bounded.Line) []catalog.Record {
	w := decodeWire(line.Data)
	one := func(role catalog.Role, text string) []catalog.Record {
		return []catalog.Record{{Role: role, Text: text, TimeMS: w.at}}
	}
	switch string(w.kind.Bytes()) {
	case "turn.prompt", "turn.steer":
		if text := w.prompt(catalog.MaxRecordBytes); text != "" {
			return one(catalog.User, text)
		}
		return one(catalog.System, transcript.Text(w.input, catalog.MaxRecordBytes))
	case "context.append_message":
		switch m := w.said(); {
		case m.role.Equal("assistant"):
			return one(catalog.Assistant, transcript.Text(m.content, catalog.MaxRecordBytes))
		case m.role.Equal("tool"):
			return one(catalog.Tool, catalog.Said(m.content))
		case m.role.Equal("user") && m.origin == "compaction_summary":
			return one(catalog.System, transcript.Text(m.content, catalog.MaxRecordBytes))
		}
		// The rest repeats a turn's input, or is the program's own.
	case "context.append_loop_event":
		return one(event(w.event))
	}
	return nil
}

// event returns who speaks in an event of the loop, and what.
func event(v bounded.Value) (catalog.Role, string) {
	var kind, part, name, args, result bounded.Value
	for key, v := range bounded.Fields(v.Raw) {
		switch string(key) {
		case "type":
			kind = v
		case "part":
			part = v
		case "name":
			name = v
		case "args":
			args = v
		case "result":
			result = v
		}
	}
	switch string(kind.Bytes()) {
	case "content.part":
		if b := transcript.Decode(part); b.Kind.Equal("text") {
			return catalog.Assistant, b.Text.Text(catalog.MaxRecordBytes)
		}
	case "tool.call":
		return catalog.Tool, transcript.Call(name, args)
	case "tool.result":
		for key, v := range bounded.Fields(result.Raw) {
			if string(key) == "output" {
				return catalog.Tool, catalog.Said(v)
			}
		}
	}
	return catalog.Assistant, ""
}
