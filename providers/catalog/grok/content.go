package grok

import (
	"context"
	"iter"
	"path/filepath"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

// Records implements [catalog.ContentReader]. What the model thought, and the instructions that it was given, are left out.
func (Reader) Records(ctx context.Context, req catalog.ContentRequest) iter.Seq2[catalog.Record, error] {
	return catalog.LineRecords(ctx, req, filepath.Join(filepath.Dir(req.Session.StoreFile), chatName), records)
}

// records returns what one line says.
func records(line bounded.Line) (out []catalog.Record) {
	i := decodeItem(line.Data)
	add := func(role catalog.Role, text string) { out = append(out, catalog.Record{Role: role, Text: text}) }
	switch string(i.kind.Bytes()) {
	case "user":
		if text := i.prompt(catalog.MaxRecordBytes); text != "" {
			add(catalog.User, text)
			break
		}
		add(catalog.System, transcript.Text(i.content, catalog.MaxRecordBytes))
	case "assistant":
		add(catalog.Assistant, transcript.Text(i.content, catalog.MaxRecordBytes))
		for call := range bounded.Elements(i.calls.Raw) {
			b := transcript.Decode(call)
			add(catalog.Tool, transcript.Call(b.Name, b.Input))
		}
	case "tool_result":
		add(catalog.Tool, catalog.Said(i.content))
	case "backend_tool_call":
		add(catalog.Tool, transcript.Raw(i.backend, catalog.MaxRecordBytes))
	}
	return out
}
