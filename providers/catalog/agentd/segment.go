package agentd

import (
	"cmp"
	"context"
	"strings"

	"agentd/messages"
	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

// maxSegmentBytes bounds what is read of a segment. The largest that agentd can be told to write is as long.
const maxSegmentBytes = 1 << 30

// piece is what a segment tells of one session.
type piece struct {
	note
	catalog.Session
	first, last string
}

// parseSegment tells what the segment has of each session.
func parseSegment(ctx context.Context, p *catalog.Parsing, f *bounded.File) error {
	pieces := map[string]*piece{}
	var order []string
	for line, err := range f.Head(maxSegmentBytes) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		fr, ok := decodeFrame(line)
		if !ok {
			continue
		}
		id := string(fr.session.Bytes())
		if pieces[id] == nil {
			pieces[id] = &piece{note: note{from: line.Offset}}
			order = append(order, strings.Clone(id))
		}
		pieces[id].take(p, &fr)
		pieces[id].to = line.Offset + int64(len(line.Data))
		if line.Torn {
			pieces[id].to = f.Size
		}
	}
	for _, id := range order {
		pc := pieces[id]
		pc.ID, pc.Prompts = id, transcript.Prompts(pc.first, pc.last)
		pc.Ref = pc.text()
		p.Emit(pc.Session)
	}
	return nil
}

// take takes one record.
func (pc *piece) take(p *catalog.Parsing, f *frame) {
	pc.TimeMS = max(pc.TimeMS, p.Believe(f.at))
	switch {
	case f.is(messages.KindCreated):
		pc.StartedMS = p.Believe(f.at)
	case f.is(messages.KindDeleted):
		pc.deleted = true
	case f.is(messages.KindTurnStarted):
		pc.Recap = ""
	case f.is(messages.KindTurnEnded):
		pc.Recap = bounded.Pick(f.body.Raw, "result").Text(catalog.MaxTextBytes)
	}
	if i, ok := f.item(); ok {
		pc.talk = true
		if prompt := i.prompt(); prompt != "" && f.is(messages.KindItem) {
			pc.first, pc.last = cmp.Or(pc.first, prompt), prompt
		}
	}
}
