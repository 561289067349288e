package muse

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
	id := filepath.Base(filepath.Dir(req.Session.StoreFile))
	return catalog.LineRecords(ctx, req, req.Session.StoreFile, func(line bounded.Line) (out []catalog.Record) {
		for r := range unpacked(line.Data) {
			if e, ok := r.run(); ok && r.own(id) {
				out = append(out, e.records(r.id.Text(128), r.at)...)
			}
		}
		return out
	})
}

// records returns what an event says.
func (e *event) records(cite string, at int64) (out []catalog.Record) {
	add := func(role catalog.Role, text string) {
		out = append(out, catalog.Record{Role: role, Text: text, TimeMS: at, Cite: cite})
	}
	switch string(e.kind.Bytes()) {
	case "started":
		text := e.prompt.Text(catalog.MaxRecordBytes)
		role := catalog.User
		if typed(text) == "" {
			role = catalog.System
		}
		add(role, text)
	case "assistant_message_committed":
		add(catalog.Assistant, e.text.Text(catalog.MaxRecordBytes))
	case "assistant_tool_calls_committed":
		for call := range bounded.Elements(e.calls.Raw) {
			b := transcript.Decode(call)
			add(catalog.Tool, transcript.Call(b.Name, b.Input))
		}
	case "tool_result_batch_committed":
		for result := range bounded.Elements(e.results.Raw) {
			add(catalog.Tool, catalog.Said(transcript.Decode(result).Text))
		}
	}
	return out
}
