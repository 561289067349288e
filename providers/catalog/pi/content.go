package pi

import (
	"context"
	"iter"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

// Records implements [catalog.ContentReader].
func (Reader) Records(ctx context.Context, req catalog.ContentRequest) iter.Seq2[catalog.Record, error] {
	return Records(ctx, req)
}

// Records reads a transcript, for this reader and those of the programs that were made from pi. What the model thought is
// left out.
func Records(ctx context.Context, req catalog.ContentRequest) iter.Seq2[catalog.Record, error] {
	return catalog.LineRecords(ctx, req, req.Session.StoreFile, records)
}

// records returns what one line says.
func records(line bounded.Line) (out []catalog.Record) {
	r := decode(line.Data)
	add := func(role catalog.Role, text string, at int64) {
		out = append(out, catalog.Record{Role: role, Text: strings.TrimSpace(text), TimeMS: at})
	}
	at := bounded.Millis(r.timestamp)
	switch string(r.kind.Bytes()) {
	case "compaction", "branch_summary":
		add(catalog.System, r.summary.Text(catalog.MaxRecordBytes), at)
	case "custom_message":
		add(catalog.System, catalog.Said(r.content), at)
	case "message":
		m := r.said()
		if m.at > 0 {
			at = m.at
		}
		switch string(m.role.Bytes()) {
		case "user":
			role := catalog.User
			if m.prompt() == "" {
				role = catalog.System
			}
			add(role, transcript.Text(m.content, catalog.MaxRecordBytes), at)
		case "assistant":
			add(catalog.Assistant, transcript.Text(m.content, catalog.MaxRecordBytes), at)
			for block := range bounded.Elements(m.content.Raw) {
				if b := transcript.Decode(block); b.Kind.Equal("toolCall") {
					add(catalog.Tool, transcript.Call(b.Name, b.Input), at)
				}
			}
		case "bashExecution":
			add(catalog.Tool, m.command.Text(64<<10)+"\n"+m.output.Text(catalog.MaxRecordBytes-(64<<10)), at)
		case "toolResult":
			add(catalog.Tool, m.name.Text(256)+"\n"+bounded.Clip(catalog.Said(m.content), catalog.MaxRecordBytes-300), at)
		default:
			add(catalog.System, transcript.Text(m.content, catalog.MaxRecordBytes), at)
		}
	}
	return out
}
