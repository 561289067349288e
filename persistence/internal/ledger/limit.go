package ledger

import (
	"bytes"
	"fmt"

	"agentd/persistence"
)

// checkSizes holds an append to the limits of the port, and its bodies to one line each.
func checkSizes(a *persistence.Append) error {
	if len(a.Records) == 0 {
		return fmt.Errorf("appending to session %q: the append has no record", a.Handle.Session)
	}
	total := 0
	for i := range a.Records {
		rec := &a.Records[i]
		body := rec.Body
		if len(body) > persistence.MaxRecordBytes {
			return fault(a, persistence.ErrTooLarge, fmt.Sprintf("record %d has %d bytes, the limit is %d", rec.Seq, len(body), persistence.MaxRecordBytes))
		}
		if len(body) < 2 || body[0] != '{' || body[len(body)-1] != '}' || bytes.IndexByte(body, '\n') >= 0 {
			return fmt.Errorf("appending to session %q: the body of record %d is not a JSON object on one line", a.Handle.Session, rec.Seq)
		}
		if !plainKind(string(rec.Kind)) {
			return fmt.Errorf("appending to session %q: record %d has the malformed kind %q", a.Handle.Session, rec.Seq, rec.Kind)
		}
		total += len(body)
	}
	if total > persistence.MaxAppendBytes {
		return fault(a, persistence.ErrTooLarge, fmt.Sprintf("it has %d bytes, the limit is %d", total, persistence.MaxAppendBytes))
	}
	return nil
}

// plainKind reports whether a kind can stand in a file as it is.
func plainKind(kind string) bool {
	for i := range len(kind) {
		if c := kind[i]; (c < 'a' || c > 'z') && c != '-' {
			return false
		}
	}
	return kind != "" && len(kind) <= 64
}
