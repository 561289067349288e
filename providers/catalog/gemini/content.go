package gemini

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

// maxObject bounds how much of a file of one object is read for its content.
const maxObject = 64 << 20

// Records implements [catalog.ContentReader]. Lists that replace what was said before are left out: they repeat it.
func (Reader) Records(ctx context.Context, req catalog.ContentRequest) iter.Seq2[catalog.Record, error] {
	if strings.HasSuffix(req.Session.StoreFile, ".jsonl") {
		return catalog.LineRecords(ctx, req, req.Session.StoreFile, func(line bounded.Line) []catalog.Record {
			r := decode(line.Data)
			return records(&r)
		})
	}
	return transcript.Records(ctx, req, func() ([]catalog.Record, error) { return objectRecords(req) })
}

// objectRecords returns the records of a file of one object. Such a file is rewritten as a whole, so messages are named
// by their number.
func objectRecords(req catalog.ContentRequest) ([]catalog.Record, error) {
	data, err := bounded.ReadAll(req.Session.StoreFile, maxObject)
	if err != nil {
		return nil, err
	}
	var all []catalog.Record
	n := 0
	object := decode(data)
	for v := range bounded.Elements(object.messages.Raw) {
		n++
		if !bounded.ContainsAnyFold(v.Raw, req.Words) {
			continue
		}
		m := decode(v.Raw)
		for i, rec := range records(&m) {
			rec.Cite = fmt.Sprintf("message %d.%d", n, i)
			rec.Cut = v.Cut
			all = append(all, rec)
		}
	}
	return all, nil
}

// records returns what one message says, and what its tools did.
func records(m *record) []catalog.Record {
	at := bounded.Millis(m.timestamp)
	role := catalog.System
	switch {
	case m.role.Equal("user") && m.prompt() != "":
		role = catalog.User
	case m.role.Equal("gemini"):
		role = catalog.Assistant
	case !m.role.IsString():
		return nil
	}
	out := []catalog.Record{{Role: role, Text: parts(m.content, catalog.MaxRecordBytes), TimeMS: at}}
	for call := range bounded.Elements(m.calls.Raw) {
		b := transcript.Decode(call)
		text := b.Name.Text(256) + " " + transcript.Raw(b.Input, 64<<10) + "\n" + transcript.Raw(b.Result, 128<<10)
		out = append(out, catalog.Record{Role: catalog.Tool, Text: strings.TrimSpace(text), TimeMS: at})
	}
	return out
}
