package messages

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"reflect"
	"strings"
	"testing"
)

func TestCanonicalArguments(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"nothing", "", "{}"},
		{"blank", " \n", "{}"},
		{"key order", `{"b":1,"a":2}`, `{"a":2,"b":1}`},
		{"white space", "{ \"a\" :\t[ 1 , 2 ] }", `{"a":[1,2]}`},
		{"nested key order", `{"x":{"z":null,"y":true}}`, `{"x":{"y":true,"z":null}}`},
		{"array order stays", `{"a":[3,1,2]}`, `{"a":[3,1,2]}`},
		{"empty list is not empty object", `{"a":[],"b":{}}`, `{"a":[],"b":{}}`},
		{"whole number", `{"a":10}`, `{"a":1e1}`},
		{"fraction", `{"a":1.50}`, `{"a":15e-1}`},
		{"exponent", `{"a":10E-1}`, `{"a":1}`},
		{"zeros", `{"a":[0,-0,0.0,0e5]}`, `{"a":[0,0,0,0]}`},
		{"more digits than a float has", `{"a":12345678901234567891}`, `{"a":12345678901234567891}`},
		{"escapes", `{"\u0061":"\u00e9\/"}`, `{"a":"é/"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := CanonicalArguments([]byte(tt.in))
			if err != nil || string(got) != tt.want {
				t.Errorf("CanonicalArguments(%q) = %q, %v, want %q", tt.in, got, err, tt.want)
			}
		})
	}
}

func TestCanonicalArgumentsRefuses(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, MaxArgumentDepth+1) + "1" + strings.Repeat("}", MaxArgumentDepth+1)
	tests := []struct{ name, in, want string }{
		{"array", `[1]`, "not a JSON object"},
		{"text", `"a"`, "not a JSON object"},
		{"cut", `{"a":`, "unexpected EOF"},
		{"cut in a string", `{"a":"b`, "unexpected EOF"},
		{"two values", `{} {}`, "more than one"},
		{"key twice", `{"a":1,"a":2}`, "twice"},
		{"key twice by escape", `{"a":1,"\u0061":2}`, "twice"},
		{"deep", deep, "deeper"},
		{"huge exponent", `{"a":1e99999999999}`, "out of range"},
		{"not UTF-8", "{\"a\":\"\xff\"}", "UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := CanonicalArguments([]byte(tt.in))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("CanonicalArguments(%q) = %q, %v, want an error with %q", tt.in, got, err, tt.want)
			}
		})
	}
	if _, err := CanonicalArguments(make([]byte, MaxArgumentBytes+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("CanonicalArguments(too long) = %v, want ErrTooLarge", err)
	}
}

func TestFingerprintKeepsToolAndArgumentsApart(t *testing.T) {
	t.Parallel()
	if Fingerprint("a", []byte(`{}`)) == Fingerprint("a{", []byte(`}`)) {
		t.Error("Fingerprint mixes the tool's id with its arguments")
	}
	if Fingerprint("a", []byte(`{}`)) == Fingerprint("b", []byte(`{}`)) {
		t.Error("Fingerprint ignores the tool")
	}
}

func TestPreviewCutsAtARune(t *testing.T) {
	t.Parallel()
	got := Preview([]byte(strings.Repeat("é", 300)))
	if want := strings.Repeat("é", 240) + "…"; got != want {
		t.Errorf("Preview(300 runes) has %d bytes, want %d", len(got), len(want))
	}
}

// FuzzCanonicalArguments holds the canonical text to its three promises: it means
// what the input means, it is its own canonical text, and the order of keys does not matter.
func FuzzCanonicalArguments(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":1.0,"b":[{"c":"\u2028"}]}`, `{"n":-0.0e10}`, `{"x":1e300,"y":"<&>"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		canonical, err := CanonicalArguments(in)
		if err != nil {
			return
		}
		again, err := CanonicalArguments(canonical)
		if err != nil || !bytes.Equal(again, canonical) {
			t.Fatalf("canonical text %q is not stable: %q, %v", canonical, again, err)
		}
		if len(bytes.TrimSpace(in)) == 0 {
			return
		}
		if !equalJSON(t, in, canonical) {
			t.Fatalf("canonical text %q does not mean %q", canonical, in)
		}
	})
}

func equalJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	return equalValues(decodeNumbers(t, a), decodeNumbers(t, b))
}

func decodeNumbers(t *testing.T, text []byte) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("decoding %q: %v", text, err)
	}
	return value
}

// equalValues is the slow rule for equal arguments that the canonical text must agree with.
func equalValues(a, b any) bool {
	switch x := a.(type) {
	case json.Number:
		y, ok := b.(json.Number)
		return ok && sameNumber(x, y)
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !equalValues(x[i], y[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for key := range x {
			if other, found := y[key]; !found || !equalValues(x[key], other) {
				return false
			}
		}
		return true
	default:
		return reflect.DeepEqual(a, b)
	}
}

func sameNumber(a, b json.Number) bool {
	x, okX := new(big.Rat).SetString(a.String())
	y, okY := new(big.Rat).SetString(b.String())
	return okX && okY && x.Cmp(y) == 0
}
