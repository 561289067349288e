package bounded

import (
	"bytes"
	"iter"

	"github.com/tidwall/gjson"
)

// Value is the raw JSON of one member or element. It points into the line that it was picked from and is valid as
// long as that line is. The zero value is an absent one.
type Value struct {
	// Raw is the JSON text, with quotes when it is a string.
	Raw []byte
	// Cut is true when the line ended within the value.
	Cut bool
}

// Fields iterates over the members of the JSON object in data, in order, in one pass and without decoding the
// values. Keys are raw: an escaped key is not unescaped. It ends at the first place that is not JSON, so that a torn
// line still gives the members in front of the tear. Depth and size of the values do not matter.
func Fields(data []byte) iter.Seq2[[]byte, Value] {
	return func(yield func([]byte, Value) bool) {
		i := skipSpace(data, 0)
		if i >= len(data) || data[i] != '{' {
			return
		}
		i++
		for {
			i = skipSpace(data, i)
			if i < len(data) && data[i] == ',' {
				i = skipSpace(data, i+1)
			}
			if i >= len(data) || data[i] != '"' {
				return
			}
			end, ok := skipString(data, i)
			if !ok {
				return
			}
			key := data[i+1 : end-1]
			i = skipSpace(data, end)
			if i >= len(data) || data[i] != ':' {
				return
			}
			i = skipSpace(data, i+1)
			end, ok = skipValue(data, i)
			if end == i || !yield(key, Value{Raw: data[i:end], Cut: !ok}) || !ok {
				return
			}
			i = end
		}
	}
}

// Elements iterates over the elements of the JSON array in data, under the terms of [Fields].
func Elements(data []byte) iter.Seq[Value] {
	return func(yield func(Value) bool) {
		i := skipSpace(data, 0)
		if i >= len(data) || data[i] != '[' {
			return
		}
		i++
		for {
			i = skipSpace(data, i)
			if i < len(data) && data[i] == ',' {
				i = skipSpace(data, i+1)
			}
			if i >= len(data) || data[i] == ']' {
				return
			}
			end, ok := skipValue(data, i)
			if end == i || !yield(Value{Raw: data[i:end], Cut: !ok}) || !ok {
				return
			}
			i = end
		}
	}
}

// Pick returns the member at a gjson path, or the absent value. It is for rare, deep or small picks; for several
// members of one long line use [Fields].
func Pick(data []byte, path string) Value {
	r := gjson.GetBytes(data, path)
	if !r.Exists() {
		return Value{}
	}
	return Value{Raw: []byte(r.Raw)}
}

// Exists reports whether the value is there. A JSON null is there.
func (v Value) Exists() bool { return len(v.Raw) > 0 }

// IsString reports whether the value is a JSON string.
func (v Value) IsString() bool { return len(v.Raw) > 0 && v.Raw[0] == '"' }

// IsObject reports whether the value is a JSON object.
func (v Value) IsObject() bool { return len(v.Raw) > 0 && v.Raw[0] == '{' }

// IsArray reports whether the value is a JSON array.
func (v Value) IsArray() bool { return len(v.Raw) > 0 && v.Raw[0] == '[' }

// IsTrue reports whether the value is the JSON true.
func (v Value) IsTrue() bool { return string(v.Raw) == "true" }

// Equal reports whether the value is a JSON string of exactly this text, which has no characters that JSON escapes.
func (v Value) Equal(text string) bool {
	return len(v.Raw) == len(text)+2 && v.Raw[0] == '"' && string(v.Raw[1:len(v.Raw)-1]) == text
}

// Bytes returns what stands between the quotes of a JSON string, undecoded, for comparing and switching without making a
// copy. It is empty for everything that is not a string.
func (v Value) Bytes() []byte {
	switch {
	case !v.IsString():
		return nil
	case v.Cut:
		return v.Raw[1:]
	default:
		return v.Raw[1 : len(v.Raw)-1]
	}
}

// Text returns the JSON string as valid UTF-8, at most about limit bytes of it, cut at a character. It is empty for
// everything that is not a string. Only what is returned is decoded, so that a string of any length is cheap.
func (v Value) Text(limit int) string {
	if !v.IsString() {
		return ""
	}
	raw := v.Bytes()
	if bytes.IndexByte(raw[:min(len(raw), limit)], '\\') < 0 {
		return Clip(Clean(raw[:min(len(raw), limit+4)]), limit)
	}
	// An escape is at most six bytes for each byte that it stands for.
	part := raw[:min(len(raw), 6*limit+12)]
	quoted := make([]byte, 0, len(part)+2)
	quoted = append(quoted, '"')
	quoted = append(quoted, trimEscape(part)...)
	quoted = append(quoted, '"')
	return Clip(Clean([]byte(gjson.ParseBytes(quoted).String())), limit)
}

// Number returns the JSON number, or ok false. A number in quotes counts.
func (v Value) Number() (n float64, ok bool) {
	if v.Cut || len(v.Raw) == 0 || len(v.Raw) > 40 {
		return 0, false
	}
	r := gjson.ParseBytes(v.Raw)
	switch r.Type {
	case gjson.Number:
		return r.Num, true
	case gjson.String:
		inner := gjson.Parse(r.Str)
		return inner.Num, inner.Type == gjson.Number && inner.Raw == r.Str
	default:
		return 0, false
	}
}

// trimEscape drops an escape sequence that the cut goes through.
func trimEscape(b []byte) []byte {
	for i := max(0, len(b)-6); i < len(b); i++ {
		if b[i] != '\\' || escaped(b, i) {
			continue
		}
		need := 2
		if i+1 < len(b) && b[i+1] == 'u' {
			need = 6
		}
		if i+need > len(b) {
			return b[:i]
		}
	}
	return b
}

// escaped reports whether the byte at i follows an odd number of backslashes.
func escaped(b []byte, i int) bool {
	n := 0
	for i-n-1 >= 0 && b[i-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the index behind the string that starts at i, and false when it is not closed.
func skipString(b []byte, i int) (int, bool) {
	for from := i + 1; ; {
		j := bytes.IndexByte(b[from:], '"')
		if j < 0 {
			return len(b), false
		}
		at := from + j
		if b[at-1] != '\\' || at-1 == i || !escaped(b, at) {
			return at + 1, true
		}
		from = at + 1
	}
}

// skipValue returns the index behind the value that starts at i, and false when the data ends within it. It returns
// i itself when no value starts there.
func skipValue(b []byte, i int) (int, bool) {
	if i >= len(b) {
		return i, false
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	j := i
	for j < len(b) && b[j] > ' ' && b[j] != ',' && b[j] != '}' && b[j] != ']' && b[j] != ':' && b[j] != '"' {
		j++
	}
	return j, j < len(b)
}

func skipNested(b []byte, i int) (int, bool) {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			end, ok := skipString(b, i)
			if !ok {
				return len(b), false
			}
			i = end
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
		i++
	}
	return len(b), false
}
