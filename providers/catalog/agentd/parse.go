package agentd

import (
	"cmp"
	"context"

	"agentd/messages"
	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/outline"
)

// Parse implements [catalog.Reader].
func (Reader) Parse(ctx context.Context, p *catalog.Parsing) error {
	if p.Unit.Kind == kindTombstone {
		p.Emit(catalog.Session{ID: idOf(p.Unit.Path), Details: catalog.Details{Ref: note{deleted: true}.text()}})
		return nil
	}
	f, err := p.Open(p.Unit.Path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if p.Unit.Kind == kindSegment {
		return parseSegment(ctx, p, f)
	}
	return parseSnapshot(p, f)
}

// head is what the first line of a snapshot tells.
type head struct {
	schema, id, recap string
	created, updated  int64
	lastSeq           uint64
}

func decodeHead(data []byte) head {
	var h head
	for key, v := range bounded.Fields(data) {
		switch string(key) {
		case "schema":
			h.schema = v.Text(64)
		case "id":
			h.id = v.Text(catalog.MaxIDBytes + 1)
		case "created-at":
			h.created = seconds(v)
		case "updated-at":
			h.updated = seconds(v)
		case "last-seq":
			h.lastSeq = count(v)
		case "turn":
			h.recap = bounded.Pick(v.Raw, "result").Text(catalog.MaxTextBytes)
		}
	}
	return h
}

// parseSnapshot reads a session's own file.
func parseSnapshot(p *catalog.Parsing, f *bounded.File) error {
	o := outline.New(p)
	var h head
	err := o.Read(f, func(line bounded.Line) {
		if line.Offset == 0 {
			h = decodeHead(line.Data)
			return
		}
		i := decodeItem(line.Data)
		o.Time(i.at)
		o.Prompt(i.prompt())
		if i.kind.Exists() {
			o.Reply()
		}
	}, nil)
	switch id := idOf(p.Unit.Path); {
	case err != nil:
		return err
	case h.schema == "" || h.id != id:
		p.Skip("", catalog.Corrupt) // A file with another session's id is one too: agentd refuses it.
		return nil
	case h.schema != messages.Schema:
		p.Skip("", catalog.Unsupported)
		return nil
	}
	out := o.Session()
	out.ID, out.Recap = h.id, h.recap
	out.TimeMS = cmp.Or(p.Believe(h.updated), out.TimeMS)
	out.StartedMS = cmp.Or(p.Believe(h.created), out.StartedMS)
	out.Ref = note{talk: o.Talked()}.text()
	p.Emit(out)
	return nil
}
