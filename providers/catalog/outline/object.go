package outline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"agentd/providers/catalog/bounded"
)

// ErrForeign means that a file holds JSON, but no object: it is none of the agent's.
var ErrForeign = errors.New("not a JSON object")

// Object reads a file of one JSON object, of which at most limit bytes are looked at. whole is false when the object is
// longer or damaged; the members in front of that place can be picked from data all the same. Errors: [bounded.ErrEmpty],
// [bounded.ErrCorrupt] when no object begins there, ErrForeign, or the system's own.
func Object(f *bounded.File, limit int64) (data []byte, whole bool, err error) {
	data = make([]byte, min(f.Size, limit))
	n, err := f.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	data = bytes.Trim(bytes.TrimPrefix(data[:n], []byte("\xef\xbb\xbf")), " \t\r\n\x00")
	switch {
	case len(data) == 0:
		return nil, false, fmt.Errorf("reading %q: %w", f.Path, bounded.ErrEmpty)
	case data[0] == '{':
		return data, json.Valid(data), nil
	case bytes.IndexByte([]byte(`["0123456789-tfn`), data[0]) >= 0:
		return nil, false, fmt.Errorf("reading %q: %w", f.Path, ErrForeign)
	default:
		return nil, false, fmt.Errorf("reading %q: %w", f.Path, bounded.ErrCorrupt)
	}
}
