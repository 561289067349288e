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
	"agentd/providers/catalog/transcript"
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
		return transcript.Records(ctx, req, func() ([]catalog.Record, error) { return textRecords(path) })
	default:
		return transcript.Records(ctx, req, func() ([]catalog.Record, error) {
			all, err := chatRecords(ctx, req)
			if req.NewestFirst {
				slices.Reverse(all) // They are turned once more.
			}
			return all, err
		})
	}
}

// textRecords reads a transcript in plain text.
func textRecords(path string) (out []catalog.Record, err error) {
	data, err := bounded.ReadAll(path, maxChatText)
	if err != nil {
		return nil, err
	}
	for i, part := range sections(bounded.Clean(data)) {
		rec := catalog.Record{Role: catalog.Assistant, Text: bounded.Clip(strings.TrimSpace(part.text), catalog.MaxRecordBytes), Cite: "section " + strconv.Itoa(i)}
		if part.user {
			rec.Role = catalog.User
		}
		out = append(out, rec)
	}
	return out, nil
}

// chatRecords reads a chat's database, in the order that was asked for, because of a long chat only what comes first is read.
func chatRecords(ctx context.Context, req catalog.ContentRequest) (out []catalog.Record, err error) {
	err = database.View(ctx, req.Session.StoreFile, func(ctx context.Context, db *database.DB) error {
		out = nil
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
			out = append(out, all...)
			return size < maxChatText
		}}
		_, err = w.walk(decodeTree(root), "", 0)
		return err
	})
	return out, err
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
		b := transcript.Decode(block)
		switch string(b.Kind.Bytes()) {
		case "text":
			out = append(out, catalog.Record{Role: role, Text: b.Text.Text(catalog.MaxRecordBytes)})
		case "tool-call", "tool_use":
			out = append(out, catalog.Record{Role: catalog.Tool, Text: transcript.Call(b.Name, b.Input)})
		case "tool-result", "tool_result":
			said := catalog.Said(b.Result)
			if said == "" {
				said = transcript.Raw(b.Result, catalog.MaxRecordBytes)
			}
			out = append(out, catalog.Record{Role: catalog.Tool, Text: said})
		}
	}
	return out
}
