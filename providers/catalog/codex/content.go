package codex

import (
	"context"
	"iter"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

// Records implements [catalog.ContentReader]. Events are left out: they repeat the conversation with the model.
func (Reader) Records(ctx context.Context, req catalog.ContentRequest) iter.Seq2[catalog.Record, error] {
	path := req.Session.StoreFile
	if !strings.HasSuffix(path, ".zst") {
		return catalog.LineRecords(ctx, req, path, records)
	}
	return func(yield func(catalog.Record, error) bool) {
		f, err := bounded.Open(path)
		if err != nil {
			yield(catalog.Record{}, err)
			return
		}
		defer func() { _ = f.Close() }()
		r, err := f.Zstd()
		if err != nil {
			yield(catalog.Record{}, errDamaged(path, err))
			return
		}
		defer func() { _ = r.Close() }()
		for rec, err := range catalog.StreamRecords(ctx, req, r, records) {
			if !yield(rec, err) {
				return
			}
		}
	}
}

// records returns what one line says.
func records(line bounded.Line) []catalog.Record {
	r := decode(line.Data)
	out := catalog.Record{TimeMS: bounded.Millis(r.timestamp)}
	switch {
	case r.kind.Equal("compacted"):
		out.Role, out.Text = catalog.System, bounded.Pick(r.payload.Raw, "message").Text(catalog.MaxRecordBytes)
	case r.kind.Equal("response_item"):
		out.Role, out.Text = spoken(r.payload)
	}
	return []catalog.Record{out}
}

// spoken returns who speaks in an item, and what.
func spoken(payload bounded.Value) (catalog.Role, string) {
	var kind, name, input, output bounded.Value
	for key, v := range bounded.Fields(payload.Raw) {
		switch string(key) {
		case "type":
			kind = v
		case "name":
			name = v
		case "arguments", "input", "action":
			input = v
		case "output":
			output = v
		}
	}
	switch string(kind.Bytes()) {
	case "message":
		m := message(payload)
		text := catalog.Said(m.content)
		switch {
		case m.role.Equal("assistant"):
			return catalog.Assistant, text
		case m.role.Equal("user") && !m.machine && typed(text) != "":
			return catalog.User, text
		default:
			return catalog.System, text
		}
	case "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call":
		return catalog.Tool, transcript.Call(name, input)
	case "function_call_output", "custom_tool_call_output":
		return catalog.Tool, catalog.Said(output)
	default:
		return catalog.System, ""
	}
}
