package cursor

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

// maxChatText bounds what is read of a chat for its content; more of it is left out.
const maxChatText = 16 << 20

// Records implements [catalog.ContentReader].
func (Reader) Records(ctx context.Context, req catalog.ContentRequest) iter.Seq2[catalog.Record, error] {
	path := req.Session.StoreFile
	switch {
	case strings.HasSuffix(path, ".jsonl"):
		return catalog.LineRecords(ctx, req, path, func(line bounded.Line) []catalog.Record { return records(line.Data) })
	case strings.HasSuffix(path, ".txt"):
		return handOut(textRecords(path), req)
	default:
		return handOut(chatRecords(ctx, req), req)
	}
}

// collected is what was read at once.
type collected struct {
	records []catalog.Record
	sorted  bool // the newest stand first already, if that was asked for
	err     error
}

func handOut(c collected, req catalog.ContentRequest) iter.Seq2[catalog.Record, error] {
	return func(yield func(catalog.Record, error) bool) {
		if req.NewestFirst && !c.sorted {
			slices.Reverse(c.records)
		}
		for _, rec := range c.records {
			if rec.Text != "" && !yield(rec, nil) {
				return
			}
		}
		if c.err != nil {
			yield(catalog.Record{}, c.err)
		}
	}
}

// textRecords reads a transcript in plain text.
func textRecords(path string) collected {
	data, err := bounded.ReadAll(path, maxChatText)
	if err != nil {
		return collected{err: err}
	}
	var c collected
	for i, part := range sections(bounded.Clean(data)) {
		rec := catalog.Record{Role: catalog.Assistant, Text: bounded.Clip(strings.TrimSpace(part.text), catalog.MaxRecordBytes), Cite: "section " + strconv.Itoa(i)}
		if part.user {
			rec.Role = catalog.User
		}
		rec.Cut = len(part.text) > catalog.MaxRecordBytes
		c.records = append(c.records, rec)
	}
	return c
}

// chatRecords reads a chat's database.
func chatRecords(ctx context.Context, req catalog.ContentRequest) collected {
	c := collected{sorted: true}
	c.err = database.View(ctx, req.Session.StoreFile, func(ctx context.Context, db *database.DB) error {
		c.records = nil
		size := 0
		var head chat
		if err := head.header(ctx, db); err != nil {
			return err
		}
		root, err := blob(ctx, db, head.root, maxRootBytes)
		if err != nil {
			return err
		}
		w := walker{ctx: ctx, db: db, backward: req.NewestFirst, visit: func(place string, data []byte) bool {
			if !bounded.ContainsAnyFold(data, req.Words) {
				return true
			}
			all := records(data)
			for i := range all {
				all[i].Cite = place + "#" + strconv.Itoa(i)
				all[i].Cut = len(data) >= maxBlobBytes
				size += len(all[i].Text)
			}
			if req.NewestFirst {
				slices.Reverse(all)
			}
			c.records = append(c.records, all...)
			return size < maxChatText
		}}
		_, err = w.walk(decodeTree(root), "", 0)
		return err
	})
	return c
}

// records returns what a message says. What the model thought is left out.
func records(data []byte) (out []catalog.Record) {
	m := decodeMessage(data)
	role := catalog.System
	switch {
	case m.role.Equal("user") && m.prompt() != "":
		role = catalog.User
	case m.role.Equal("assistant"):
		role = catalog.Assistant
	case m.role.Equal("tool"):
		role = catalog.Tool
	}
	if m.content.IsString() {
		return []catalog.Record{{Role: role, Text: m.content.Text(catalog.MaxRecordBytes)}}
	}
	for block := range bounded.Elements(m.content.Raw) {
		var kind, text, name, input, result bounded.Value
		for key, v := range bounded.Fields(block.Raw) {
			switch string(key) {
			case "type":
				kind = v
			case "text":
				text = v
			case "toolName", "name":
				name = v
			case "args", "input":
				input = v
			case "result", "output", "content":
				result = v
			}
		}
		switch string(kind.Bytes()) {
		case "text":
			out = append(out, catalog.Record{Role: role, Text: text.Text(catalog.MaxRecordBytes)})
		case "tool-call", "tool_use":
			out = append(out, catalog.Record{Role: catalog.Tool, Text: strings.TrimSpace(name.Text(256) + " " + raw(input))})
		case "tool-result", "tool_result":
			said := catalog.Said(result)
			if said == "" {
				said = raw(result)
			}
			out = append(out, catalog.Record{Role: catalog.Tool, Text: said})
		}
	}
	return out
}

// raw returns JSON as it stands.
func raw(v bounded.Value) string {
	const limit = catalog.MaxRecordBytes - 300
	return bounded.Clip(bounded.Clean(v.Raw[:min(len(v.Raw), limit)]), limit)
}
