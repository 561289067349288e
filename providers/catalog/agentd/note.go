package agentd

import (
	"fmt"
	"strings"
)

// note is what the reader tells itself of a piece of a session, in [catalog.Details].Ref.
type note struct {
	deleted, talk bool
	// from and to are where the records of the session lie in a segment, in bytes.
	from, to int64
}

func (n note) text() string { return fmt.Sprintf("%t %t %d %d", n.deleted, n.talk, n.from, n.to) }

func parseNote(text string) note {
	var n note
	_, _ = fmt.Sscanf(text, "%t %t %d %d", &n.deleted, &n.talk, &n.from, &n.to)
	return n
}

// extent is a part of a segment that has records of a session.
type extent struct {
	segment  string // its file's name
	from, to int64
}

// extentsText writes where a session's records lie, for the Ref of the session.
func extentsText(all []extent) string {
	parts := make([]string, len(all))
	for i, e := range all {
		parts[i] = fmt.Sprintf("%s:%d:%d", strings.TrimSuffix(e.segment, ".log"), e.from, e.to)
	}
	return strings.Join(parts, " ")
}

// parseExtents reads what extentsText wrote. One that does not fit is left out.
func parseExtents(text string) (all []extent) {
	for part := range strings.FieldsSeq(text) {
		var number uint64
		var e extent
		if n, _ := fmt.Sscanf(part, "%d:%d:%d", &number, &e.from, &e.to); n == 3 && e.from >= 0 && e.to > e.from {
			e.segment = fmt.Sprintf("%08d.log", number)
			all = append(all, e)
		}
	}
	return all
}
