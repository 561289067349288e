package jsonfile

import (
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/tidwall/gjson"

	"agentd/persistence"
)

// journalSchema names the layout of a segment.
const journalSchema = "agentd.journal/1"

// header is the first line of a segment, framed like a record. A segment is made under another name, made durable and then renamed, so
// that a segment with a bad first line is damaged, and not half made.
type header struct {
	Segment uint64
	// Previous is the segment that this one continues, or 0. Segments between the two were given up.
	Previous uint64
	// Valid is the offset in the previous one up to which it counts: what lies behind was never
	// acknowledged there.
	Valid int64
	// Carried is how many bytes behind this line were durable before the segment had its name.
	Carried int64
}

func (h *header) appendLine(dst []byte, table *crc32.Table) []byte {
	start := len(dst)
	dst = fmt.Appendf(dst, `00000000 {"schema":%q,"segment":%d,"previous":%d,"valid":%d,"carried":%d}`,
		journalSchema, h.Segment, h.Previous, h.Valid, h.Carried)
	putChecksum(dst[start:], table)
	return append(dst, '\n')
}

// parseHeader parses a segment's first line, without its line end.
func parseHeader(line []byte, table *crc32.Table) (header, error) {
	text, err := checkedJSON(line, table)
	if err != nil {
		return header{}, err
	}
	if !gjson.ValidBytes(text) {
		return header{}, errors.New("the first line is not JSON")
	}
	fields := gjson.GetManyBytes(text, "schema", "segment", "previous", "valid", "carried")
	if !fields[0].Exists() || !fields[1].Exists() {
		return header{}, errors.New("the first line is not the head of a segment")
	}
	if schema := fields[0].String(); schema != journalSchema {
		return header{}, fmt.Errorf("%w %q: it was written by another version of agentd; use that one", persistence.ErrSchema, schema)
	}
	h := header{
		Segment: fields[1].Uint(), Previous: fields[2].Uint(),
		Valid: fields[3].Int(), Carried: fields[4].Int(),
	}
	if h.Previous >= h.Segment || h.Valid < 0 || h.Carried < 0 {
		return header{}, errors.New("the first line contradicts itself")
	}
	return h, nil
}
