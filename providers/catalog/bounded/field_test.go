package bounded_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"agentd/providers/catalog/bounded"
)

func members(data string) map[string]string {
	out := map[string]string{}
	for key, v := range bounded.Fields([]byte(data)) {
		text := string(v.Raw)
		if v.Cut {
			text += " (cut)"
		}
		out[string(key)] = text
	}
	return out
}

func TestFields(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, data string
		want       map[string]string
	}{
		{"all kinds", ` { "a" : "x\"y" , "b":-1.5e3,"c":{"d":[1,"]}"]},"e":null,"f":true}`, map[string]string{"a": `"x\"y"`, "b": "-1.5e3", "c": `{"d":[1,"]}"]}`, "e": "null", "f": "true"}},
		{"empty", `{}`, map[string]string{}},
		{"no object", `[1]`, map[string]string{}},
		{"cut in a string", `{"a":1,"b":"xy`, map[string]string{"a": "1", "b": `"xy (cut)`}},
		{"cut in an object", `{"a":{"b":[1,`, map[string]string{"a": `{"b":[1, (cut)`}},
		{"cut in a number", `{"a":12`, map[string]string{"a": "12 (cut)"}},
		{"cut behind a key", `{"a":`, map[string]string{}},
		{"backslashes", `{"a":"\\","b":"\\\"","c":1}`, map[string]string{"a": `"\\"`, "b": `"\\\""`, "c": "1"}},
		{"garbage", `{"a" 1}`, map[string]string{}},
		{"key twice", `{"a":1,"a":2}`, map[string]string{"a": "2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, members(tt.data)); diff != "" {
				t.Errorf("Fields(%s) (-want +got):\n%s", tt.data, diff)
			}
		})
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, raw string
		cut       bool
		limit     int
		want      string
	}{
		{"plain", `"abc"`, false, 10, "abc"},
		{"bound", `"abcdef"`, false, 3, "abc"},
		{"bound within a character", `"aé"`, false, 2, "a"},
		{"escapes", `"a\n\u00e9\ud83d\ude00\/"`, false, 20, "a\né😀/"},
		{"cut", `"abc`, true, 10, "abc"},
		{"cut within an escape", `"abc\u00`, true, 10, "abc"},
		{"cut behind a backslash", `"abc\`, true, 10, "abc"},
		{"bytes that are not UTF-8", "\"a\xffb\"", false, 10, "a\uFFFDb"},
		{"number", `12`, false, 10, ""},
		{"lone surrogate", `"a\ud83d"`, false, 10, "a\uFFFD"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := (bounded.Value{Raw: []byte(tt.raw), Cut: tt.cut}).Text(tt.limit); got != tt.want {
				t.Errorf("Text(%s, %d) = %q, want %q", tt.raw, tt.limit, got, tt.want)
			}
		})
	}
}

// FuzzFields compares with the standard decoder wherever that one takes the data.
func FuzzFields(f *testing.F) {
	f.Add(`{"a":"x\"y","b":[1,{"c":"}"}],"d":null}`, uint16(9))
	f.Add(`{"":"\\"}`, uint16(100))
	f.Fuzz(func(t *testing.T, data string, cut uint16) {
		got := map[string]bounded.Value{}
		for key, v := range bounded.Fields([]byte(data)) {
			got[string(key)] = v
			for _, limit := range []int{0, 1, 7, 1 << 20} {
				if text := v.Text(limit); !utf8.ValidString(text) || len(text) > limit {
					t.Errorf("Text(%q, %d) = %q", v.Raw, limit, text)
				}
			}
			v.Number()
			bounded.Millis(v)
		}
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(data), &want) == nil {
			for key, raw := range want {
				if strings.ContainsAny(key, "\"\\\uFFFD") || strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) {
					continue // The keys of Fields are raw.
				}
				if v, ok := got[key]; ok && string(v.Raw) != string(raw) {
					t.Errorf("Fields(%q)[%q] = %s, want %s", data, key, v.Raw, raw)
				} else if !ok && !strings.Contains(data, `\`) {
					t.Errorf("Fields(%q) lacks %q", data, key)
				}
			}
		}
		for key, v := range bounded.Fields([]byte(data[:min(len(data), int(cut))])) {
			_, _ = key, v.Text(64)
		}
		for v := range bounded.Elements([]byte(data)) {
			_ = v.Text(64)
		}
	})
}
