package agentd

import (
	"hash/crc32"
	"strconv"

	"agentd/messages"
	"agentd/providers/catalog/bounded"
)

// prefixBytes is the length of what stands in front of a record: a checksum of eight hexadecimal digits, and a blank.
const prefixBytes = 9

// frame is a record of the journal. Values point into the line.
type frame struct {
	session, kind, body bounded.Value
	seq                 uint64
	at                  int64
}

// decodeFrame reads a line of a segment. Of a record that is longer than a line is handed out, the checksum cannot be told; what is there
// counts, because whatever follows it was written later. ok is false for everything else that does not match.
func decodeFrame(line bounded.Line) (f frame, ok bool) {
	long := line.Torn && len(line.Data) >= bounded.MaxLineBytes
	if len(line.Data) < prefixBytes+2 || line.Data[prefixBytes-1] != ' ' || line.Torn && !long {
		return frame{}, false
	}
	text := line.Data[prefixBytes:]
	if !long {
		want, err := strconv.ParseUint(string(line.Data[:prefixBytes-1]), 16, 32)
		if err != nil || crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli)) != uint32(want) {
			return frame{}, false
		}
	}
	for key, v := range bounded.Fields(text) {
		switch string(key) {
		case "session":
			f.session = v
		case "seq":
			f.seq = count(v)
		case "kind":
			f.kind = v
		case "at":
			f.at = seconds(v)
		case "body":
			f.body = v
		}
	}
	return f, len(f.session.Bytes()) > 0 && f.seq > 0
}

// count returns a number that counts something, or 0.
func count(v bounded.Value) uint64 {
	n, _ := v.Number()
	return uint64(min(max(n, 0), 1<<53))
}

// is reports whether the record is of a kind.
func (f *frame) is(kind messages.ChangeKind) bool { return f.kind.Equal(string(kind)) }

// item returns the item that the record adds or changes.
func (f *frame) item() (item, bool) {
	if !f.is(messages.KindItem) && !f.is(messages.KindItemUpdated) {
		return item{}, false
	}
	return decodeItem(f.body.Raw), true
}
