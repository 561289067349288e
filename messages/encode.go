package messages

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// AppendBody appends the body of a change's record: the JSON object that [DecodeRecord] reads. Items and turns, which are nearly all there is, are written
// field by field; the text is the one that encoding/json gives, which a test holds it to. The error names the change.
func AppendBody(dst []byte, change Change) ([]byte, error) {
	switch c := change.(type) {
	case ItemAppended:
		return appendItem(dst, c.Item)
	case ItemUpdated:
		return appendItem(dst, c.Item)
	case TurnStarted:
		return appendTurn(dst, c.Turn), nil
	case TurnEnded:
		return appendTurn(dst, c.Turn), nil
	case Created, Opened, DataSet, Deleted:
	}
	body, err := json.Marshal(change)
	if err != nil {
		return dst, fmt.Errorf("encoding a change (%s): %w", change.Kind(), err)
	}
	return append(dst, body...), nil
}

// BodySize is about how long the body of a change is, and seldom less.
func BodySize(change Change) int {
	switch c := change.(type) {
	case ItemAppended:
		return itemSize(c.Item)
	case ItemUpdated:
		return itemSize(c.Item)
	case TurnStarted:
		return turnSize(c.Turn)
	case TurnEnded:
		return turnSize(c.Turn)
	case DataSet:
		return smallBody + len(c.Key) + len(c.Value)
	case Created, Opened, Deleted:
	}
	return smallBody
}

// Room for the keys and the quotes, of most changes and of a turn's.
const (
	smallBody = 96
	turnBody  = 60
)

func itemSize(it *Item) int {
	size := smallBody + len(it.ID) + it.Size()
	if it.CallID != "" || it.Provider != "" || it.Usage != nil || it.UpdatedAt != 0 {
		size += smallBody // These have more keys.
	}
	return size
}

func turnSize(t *Turn) int {
	size := turnBody + len(t.ID) + len(t.Status) + len(t.Result) + len(t.Error)
	if t.Status.Terminal() {
		size += turnBody // It has more keys.
	}
	return size
}

func appendItem(dst []byte, it *Item) ([]byte, error) {
	dst = appendField(append(dst, '{'), "id", string(it.ID))
	dst = appendField(append(dst, ','), "type", string(it.Type))
	for _, field := range [...]struct{ key, value string }{
		{"role", string(it.Role)},
		{"content", it.Content},
		{"name", it.Name},
		{"arguments", it.Arguments},
		{"output", it.Output},
	} {
		dst = appendOptional(dst, field.key, field.value)
	}
	if it.IsError {
		dst = append(dst, `,"is-error":true`...)
	}
	for _, field := range [...]struct{ key, value string }{
		{"call-id", string(it.CallID)},
		{"status", string(it.Status)},
		{"error", it.Error},
		{"event-type", it.EventType},
	} {
		dst = appendOptional(dst, field.key, field.value)
	}
	dst, err := appendRaw(dst, "data", it.Data)
	if err != nil {
		return dst, fmt.Errorf("encoding item %q: its data: %w", it.ID, err)
	}
	for _, field := range [...]struct{ key, value string }{
		{"stream-status", string(it.StreamStatus)},
		{"parent-id", string(it.ParentID)},
		{"turn-id", string(it.TurnID)},
		{"provider", it.Provider},
		{"model", it.Model},
	} {
		dst = appendOptional(dst, field.key, field.value)
	}
	dst = appendUsage(dst, it.Usage)
	if it.Seq != 0 {
		dst = strconv.AppendUint(append(dst, `,"seq":`...), it.Seq, 10)
	}
	dst = strconv.AppendInt(append(dst, `,"created-at":`...), it.CreatedAt, 10)
	dst = appendCount(dst, "updated-at", it.UpdatedAt)
	return append(dst, '}'), nil
}

func appendUsage(dst []byte, u *Usage) []byte {
	if u == nil {
		return dst
	}
	dst = strconv.AppendInt(append(dst, `,"usage":{"input-tokens":`...), u.InputTokens, 10)
	dst = strconv.AppendInt(append(dst, `,"output-tokens":`...), u.OutputTokens, 10)
	dst = appendCount(dst, "reasoning-tokens", u.ReasoningTokens)
	dst = appendCount(dst, "cache-read-tokens", u.CacheReadTokens)
	return append(dst, '}')
}

func appendTurn(dst []byte, t *Turn) []byte {
	dst = appendField(append(dst, '{'), "id", string(t.ID))
	dst = appendField(append(dst, ','), "status", string(t.Status))
	dst = appendOptional(dst, "result", t.Result)
	dst = appendOptional(dst, "error", t.Error)
	dst = strconv.AppendInt(append(dst, `,"started-at":`...), t.StartedAt, 10)
	dst = appendCount(dst, "ended-at", t.EndedAt)
	if t.Seq != 0 {
		dst = strconv.AppendUint(append(dst, `,"seq":`...), t.Seq, 10)
	}
	return append(dst, '}')
}

// appendField appends a key and its text. The key needs no escape.
func appendField(dst []byte, key, value string) []byte {
	dst = append(append(append(dst, '"'), key...), `":`...)
	return appendText(dst, value)
}

// appendOptional is appendField behind a comma, or nothing for an empty text.
func appendOptional(dst []byte, key, value string) []byte {
	if value == "" {
		return dst
	}
	return appendField(append(dst, ','), key, value)
}

// appendCount appends a comma, a key and its number, or nothing for 0.
func appendCount(dst []byte, key string, value int64) []byte {
	if value == 0 {
		return dst
	}
	dst = append(append(append(dst, `,"`...), key...), `":`...)
	return strconv.AppendInt(dst, value, 10)
}

// appendRaw appends a comma, a key and a JSON value without the space in it, or nothing for none.
func appendRaw(dst []byte, key string, value json.RawMessage) ([]byte, error) {
	if len(value) == 0 {
		return dst, nil
	}
	compact, err := json.Marshal(value)
	if err != nil {
		return dst, err
	}
	dst = append(append(append(dst, `,"`...), key...), `":`...)
	return append(dst, compact...), nil
}

// appendText appends a JSON string, escaped as encoding/json does it.
func appendText(dst []byte, text string) []byte {
	dst = append(dst, '"')
	done := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if plain(c) {
				i++
				continue
			}
			dst = appendEscape(append(dst, text[done:i]...), c)
			i++
			done = i
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(append(dst, text[done:i]...), `\ufffd`...)
			done = i + size
		case r == '\u2028' || r == '\u2029': // Line ends in JavaScript.
			dst = append(append(dst, text[done:i]...), `\u202`...)
			dst = append(dst, '8'+byte(r-'\u2028'))
			done = i + size
		}
		i += size
	}
	return append(append(dst, text[done:]...), '"')
}

// plain reports whether a character of ASCII stands for itself. Those of HTML do not, since a browser may see the text.
func plain(c byte) bool {
	return c >= ' ' && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	default:
		const hex = "0123456789abcdef"
		return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
	}
}
