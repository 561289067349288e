package claude

import (
	"cmp"
	"context"
	"iter"
	"strconv"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

// maxTranscript bounds how much of a transcript is read for its content.
const maxTranscript = 4 << 30

// Records implements [catalog.ContentReader]. What the model thought, and what the program noted for itself, is left
// out.
func (Reader) Records(ctx context.Context, req catalog.ContentRequest) iter.Seq2[catalog.Record, error] {
	return func(yield func(catalog.Record, error) bool) {
		f, err := bounded.Open(req.Session.StoreFile)
		if err != nil {
			yield(catalog.Record{}, err)
			return
		}
		defer func() { _ = f.Close() }()
		lines := f.Head(maxTranscript)
		if req.NewestFirst {
			lines = f.Tail(maxTranscript)
		}
		for line, err := range lines {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(catalog.Record{}, err)
				return
			}
			if bounded.ContainsAnyFold(line.Data, req.Words) && !said(line, req.NewestFirst, yield) {
				return
			}
		}
	}
}

// said hands out what one line says.
func said(line bounded.Line, backward bool, yield func(catalog.Record, error) bool) bool {
	r := decode(line.Data)
	base := catalog.Record{
		Cite:   cmp.Or(r.uuid.Text(128), "@"+strconv.FormatInt(line.Offset, 10)),
		TimeMS: bounded.Millis(r.timestamp), Cut: line.Torn,
	}
	var all []catalog.Record
	switch {
	case r.kind.Equal("user") && !r.meta:
		all = blocks(&r, base, catalog.User)
	case r.kind.Equal("assistant") && r.reply():
		all = blocks(&r, base, catalog.Assistant)
	}
	for i := range all {
		at := i
		if backward {
			at = len(all) - 1 - i
		}
		if len(all) > 1 {
			all[at].Cite += "#" + strconv.Itoa(at)
		}
		if !yield(all[at], nil) {
			return false
		}
	}
	return true
}

// blocks returns a record for each block of a message that says something.
func blocks(r *record, base catalog.Record, role catalog.Role) (out []catalog.Record) {
	add := func(role catalog.Role, text string) {
		if text != "" {
			rec := base
			rec.Role, rec.Text = role, text
			rec.Cut = rec.Cut || len(text) >= catalog.MaxRecordBytes-4
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
	var kind, name, text string
	var input, content bounded.Value
	for key, v := range bounded.Fields(block.Raw) {
		switch string(key) {
		case "type":
			kind = v.Text(64)
		case "text":
			text = v.Text(catalog.MaxRecordBytes)
		case "name":
			name = v.Text(256)
		case "input":
			input = v
		case "content":
			content = v
		}
	}
	switch kind {
	case "text":
		return role, text
	case "tool_use":
		return catalog.Tool, name + " " + bounded.Clip(bounded.Clean(input.Raw[:min(len(input.Raw), catalog.MaxRecordBytes)]), catalog.MaxRecordBytes-300)
	case "tool_result":
		out := content.Text(catalog.MaxRecordBytes)
		for part := range bounded.Elements(content.Raw) {
			if _, t := blockText(part, catalog.MaxRecordBytes); t != "" && len(out) < catalog.MaxRecordBytes {
				out = bounded.Clip(out+t+"\n", catalog.MaxRecordBytes)
			}
		}
		return catalog.Tool, out
	default:
		return role, ""
	}
}
