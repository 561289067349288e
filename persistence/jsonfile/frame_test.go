package jsonfile

import (
	"bytes"
	"hash/crc32"
	"testing"

	"agentd/messages"
)

// FuzzFrame parses any line. What is taken is written in the same way again.
func FuzzFrame(f *testing.F) {
	table := crc32.MakeTable(crc32.Castagnoli)
	for _, mark := range []frameMark{{session: "a", synced: noMark}, {session: "b.c", synced: 77, more: 3}} {
		rec := messages.Record{Seq: 9, Kind: messages.KindItem, At: -5, Body: []byte(`{"id":"x"}`)}
		line := appendFrame(nil, table, mark, &rec)
		f.Add(line[:len(line)-1], true)
		f.Add(line[jsonOffset:len(line)-1], true)
	}
	f.Fuzz(func(t *testing.T, line []byte, seal bool) {
		if seal && len(line) > jsonOffset {
			line = bytes.Clone(line)
			line[crcDigits] = ' '
			putChecksum(line, table)
		}
		got, err := parseFrame(line, table)
		if err != nil {
			return
		}
		rec := got.record()
		again := appendFrame(nil, table, frameMark{session: messages.SessionID(got.session), synced: got.synced, more: int(got.more)}, &rec)
		reparsed, err := parseFrame(again[:len(again)-1], table)
		if err != nil || reparsed.seq != got.seq || reparsed.at != got.at || !bytes.Equal(reparsed.body, got.body) || reparsed.more != got.more {
			t.Errorf("parsing what was written again: %+v, %v, want %+v", reparsed, err, got)
		}
	})
}

// FuzzHeader parses any first line of a segment.
func FuzzHeader(f *testing.F) {
	table := crc32.MakeTable(crc32.Castagnoli)
	h := header{Segment: 4, Previous: 3, Valid: 100, Carried: 7}
	line := h.appendLine(nil, table)
	f.Add(line[:len(line)-1])
	f.Fuzz(func(t *testing.T, line []byte) {
		if len(line) > jsonOffset {
			line = bytes.Clone(line)
			line[crcDigits] = ' '
			putChecksum(line, table)
		}
		got, err := parseHeader(line, table)
		if err != nil {
			return
		}
		again := got.appendLine(nil, table)
		if reparsed, err := parseHeader(again[:len(again)-1], table); err != nil || reparsed != got {
			t.Errorf("parsing what was written again: %+v, %v, want %+v", reparsed, err, got)
		}
	})
}

func TestFrameRoundTrip(t *testing.T) {
	t.Parallel()
	table := crc32.MakeTable(crc32.Castagnoli)
	rec := messages.Record{Seq: 1<<63 - 1, Kind: messages.KindItemUpdated, At: 1_700_000_000, Body: []byte(`{"id":"a\"}"}`)}
	for _, mark := range []frameMark{{session: "s", synced: noMark}, {session: "s", synced: 0, more: 65535}} {
		line := appendFrame(nil, table, mark, &rec)
		got, err := parseFrame(line[:len(line)-1], table)
		if err != nil || got.seq != rec.Seq || got.synced != mark.synced || int(got.more) != mark.more || string(got.body) != string(rec.Body) || got.at != rec.At {
			t.Errorf("parseFrame(%s) = %+v, %v", line, got, err)
		}
		for i := range line[:len(line)-1] {
			flipped := bytes.Clone(line[:len(line)-1])
			flipped[i] ^= 4
			if _, err := parseFrame(flipped, table); err == nil {
				t.Errorf("parseFrame(flip at %d) = nil, want an error", i)
			}
		}
	}
}

func TestItemID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]messages.ItemID{
		`{"id":"a"}`:                    "a",
		`{"id":"a\"b","type":"x"}`:      `a"b`,
		`{"type":"x","id":"c"}`:         "c",
		`{"data":{"id":"no"},"id":"d"}`: "d",
		`{}`:                            "",
	} {
		if got := itemID([]byte(text)); got != want {
			t.Errorf("itemID(%s) = %q, want %q", text, got, want)
		}
	}
}

func TestAppendItem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"id":"a","created-at":1}`:                  `{"id":"a","created-at":1,"seq":7}`,
		`{"id":"a","seq":7,"created-at":1}`:          `{"id":"a","seq":7,"created-at":1}`,
		`{"id":"a","data":{"seq":3},"created-at":1}`: `{"id":"a","data":{"seq":3},"created-at":1,"seq":7}`,
		`{"id":"a","type":"m","seq":9}`:              `{"id":"a","type":"m","seq":7,"created-at":0}`,
		`{}`:                                         `{"seq":7}`,
	} {
		if got, err := appendItem(nil, []byte(text), 7); err != nil || string(got) != want {
			t.Errorf("appendItem(%s) = %s, %v, want %s", text, got, err, want)
		}
	}
}
