package screen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// EncodeJSON returns a value as a line of JSON, line end included. Control characters that a terminal may act on are escaped, also those that
// encoding/json leaves as they are (DEL and the C1 characters), so that the line is harmless wherever it is shown and says the same.
func EncodeJSON(value any) ([]byte, error) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encoding a line: %w", err)
	}
	return escapeControls(line.Bytes()), nil
}

// escapeControls escapes DEL and the C1 characters. In JSON they only stand in strings.
func escapeControls(line []byte) []byte {
	if !bytes.ContainsFunc(line, isLateControl) {
		return line
	}
	var out []byte
	for len(line) > 0 {
		r, size := utf8.DecodeRune(line)
		if isLateControl(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = append(out, line[:size]...)
		}
		line = line[size:]
	}
	return out
}

func isLateControl(r rune) bool { return r >= 0x7f && r < 0xa0 }
