package catalog

import (
	"context"
	"io"
	"iter"
	"slices"
	"strconv"

	"agentd/providers/catalog/bounded"
)

const (
	// maxTranscript bounds how much of a transcript is read for its content.
	maxTranscript = 4 << 30
	// maxReversed bounds the text that is kept to hand out a stream from its end.
	maxReversed = 16 << 20
)

// LineRecords iterates over a transcript of JSON lines, for [ContentReader.Records]. decode returns what one line says, in
// order; it runs only for lines that can hold one of req.Words. A record without a Cite gets the place of its
// line, and where a line holds several records, their cites are numbered.
func LineRecords(ctx context.Context, req ContentRequest, path string, decode func(bounded.Line) []Record) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		f, err := bounded.Open(path)
		if err != nil {
			yield(Record{}, err)
			return
		}
		defer func() { _ = f.Close() }()
		lines := f.Head(maxTranscript)
		if req.NewestFirst {
			lines = f.Tail(maxTranscript)
		}
		feed{req, decode, yield}.hand(ctx, lines)
	}
}

// StreamRecords is [LineRecords] for what can only be read from its start, such as a compressed file. From the end, it
// keeps the newest records of about 16 MiB of text and leaves out what came before them. The stream is not closed.
func StreamRecords(ctx context.Context, req ContentRequest, r io.Reader, decode func(bounded.Line) []Record) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		lines := bounded.Lines(r, maxTranscript)
		if !req.NewestFirst {
			feed{req, decode, yield}.hand(ctx, lines)
			return
		}
		var kept []Record
		var size int
		var failure error
		req.NewestFirst = false
		keep := func(rec Record, err error) bool {
			if err != nil {
				failure = err
				return false
			}
			kept = append(kept, rec)
			size += len(rec.Text)
			drop := 0
			for size > maxReversed && drop < len(kept)-1 {
				size -= len(kept[drop].Text)
				drop++
			}
			kept = kept[drop:]
			return true
		}
		feed{req, decode, keep}.hand(ctx, lines)
		for _, rec := range slices.Backward(kept) {
			if !yield(rec, nil) {
				return
			}
		}
		if failure != nil {
			yield(Record{}, failure)
		}
	}
}

// feed decodes lines and hands out what they say.
type feed struct {
	req    ContentRequest
	decode func(bounded.Line) []Record
	yield  func(Record, error) bool
}

func (f feed) hand(ctx context.Context, lines iter.Seq2[bounded.Line, error]) {
	for line, err := range lines {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			f.yield(Record{}, err)
			return
		}
		if !bounded.ContainsAnyFold(line.Data, f.req.Words) {
			continue
		}
		all := f.decode(line)
		numberCites(all, line)
		if f.req.NewestFirst {
			slices.Reverse(all)
		}
		for _, rec := range all {
			if rec.Text != "" && !f.yield(rec, nil) {
				return
			}
		}
	}
}

// numberCites makes the cites of one line's records complete and different.
func numberCites(all []Record, line bounded.Line) {
	for i := range all {
		if all[i].Cite == "" {
			all[i].Cite = "@" + strconv.FormatInt(line.Offset, 10)
		}
		if len(all) > 1 {
			all[i].Cite += "#" + strconv.Itoa(i)
		}
		all[i].Cut = all[i].Cut || line.Torn || len(all[i].Text) >= MaxRecordBytes-4
	}
}

// Said makes the text of a JSON value, in the forms in which transcripts hold what was said: a string, or a list of blocks
// that are strings or have their text in a member "text" or, failing that, "content". It is at most
// [MaxRecordBytes] long.
func Said(v bounded.Value) string {
	return said(v, 4)
}

func said(v bounded.Value, depth int) string {
	switch {
	case v.IsString() || depth == 0:
		return v.Text(MaxRecordBytes)
	case v.IsArray():
		var out string
		for block := range bounded.Elements(v.Raw) {
			if text := said(block, depth-1); text != "" {
				if out != "" {
					out += "\n"
				}
				out = bounded.Clip(out+text, MaxRecordBytes)
			}
			if len(out) >= MaxRecordBytes-4 {
				break
			}
		}
		return out
	case v.IsObject():
		var text, content bounded.Value
		for key, member := range bounded.Fields(v.Raw) {
			switch string(key) {
			case "text":
				text = member
			case "content":
				content = member
			}
		}
		if text.Exists() {
			return said(text, depth-1)
		}
		return said(content, depth-1)
	default:
		return ""
	}
}
