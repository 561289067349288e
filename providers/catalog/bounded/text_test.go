package bounded_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"agentd/providers/catalog/bounded"
)

func TestCutGraphemes(t *testing.T) {
	t.Parallel()
	const family = "👨‍👩‍👧‍👦"
	tests := []struct {
		name, text string
		limit      int
		want       string
	}{
		{"short", "abc", 3, "abc"},
		{"letters", "abcd", 3, "abc"},
		{"joined emoji", family + family, len(family) + 5, family},
		{"flags", "🇰🇷🇰🇷", 12, "🇰🇷"},
		{"marks", "e\u0301e\u0301", 4, "e\u0301"},
		{"one too long", family, 10, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := bounded.CutGraphemes(tt.text, tt.limit); got != tt.want {
				t.Errorf("CutGraphemes(%q, %d) = %q, want %q", tt.text, tt.limit, got, tt.want)
			}
		})
	}
}

func TestSqueeze(t *testing.T) {
	t.Parallel()
	if got, want := bounded.Squeeze(" a\n\n b\tc ", 100), "a b c"; got != want {
		t.Errorf("Squeeze = %q, want %q", got, want)
	}
	if got, want := bounded.Squeeze("abc def", 4), "abc"; got != want {
		t.Errorf("Squeeze = %q, want %q", got, want)
	}
}

func TestMask(t *testing.T) {
	t.Parallel()
	secrets := map[string]string{
		"vendor key":      "use sk-ant-REDACTED please",
		"repository key":  "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
		"cloud key":       "AKIAABCDEFGHIJKLMNOP",
		"web token":       "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
		"header":          "Authorization: Bearer abcdefghijklmnop",
		"address":         "postgres://user:hunter22@db/x",
		"named":           `{"api_key": "abcdef123456"}`,
		"environment":     "MY_SECRET=abcdef123456",
		"private key":     "-----BEGIN RSA PRIVATE KEY-----\nMIIabcdef\n-----END RSA PRIVATE KEY-----",
		"block":           "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYabcdef\n-----END PGP PRIVATE KEY BLOCK-----",
		"key's beginning": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlabcdefABCDEF",
		"key's end":       "b3BlabcdefABCDEF0123456789+/\nabcdef==\n-----END OPENSSH PRIVATE KEY-----",
		"escaped key":     `{"key":"-----BEGIN PRIVATE KEY-----\nMIIabcdef\n-----END PRIVATE KEY-----\n"}`,
	}
	for name, text := range secrets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := bounded.Mask(text)
			for _, part := range []string{"0123456789", "abcdef", "ABCDEF", "hunter22", "eyJzdWI"} {
				if strings.Contains(got, part) {
					t.Errorf("Mask(%q) = %q still holds %q", text, got, part)
				}
			}
		})
	}
	for _, text := range []string{"the parser is fixed", "see https://example.com/a?b=c", "token count: 12", "sk-8"} {
		if got := bounded.Mask(text); got != text {
			t.Errorf("Mask(%q) = %q, want it unchanged", text, got)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\xffb 👨‍👩‍👧‍👦 é", 7)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = max(0, limit%4096)
		clean := bounded.Clean([]byte(text))
		for name, got := range map[string]string{
			"Clip": bounded.Clip(clean, limit), "CutGraphemes": bounded.CutGraphemes(clean, limit), "Squeeze": bounded.Squeeze(clean, limit),
		} {
			if len(got) > limit || !utf8.ValidString(got) {
				t.Errorf("%s(%q, %d) = %q", name, clean, limit, got)
			}
		}
		if !utf8.ValidString(bounded.Mask(clean)) {
			t.Errorf("Mask(%q) is no UTF-8", clean)
		}
	})
}

func TestContainsAnyFold(t *testing.T) {
	t.Parallel()
	tests := []struct {
		data  string
		words []string
		want  bool
	}{
		{"The Parser", []string{"parser"}, true},
		{"The PARSER", []string{"lexer", "parser"}, true},
		{"pars", []string{"parser"}, false},
		{"papapar1", []string{"papar1"}, true},
		{"", []string{"a"}, false},
		{"x", nil, true},
	}
	for _, tt := range tests {
		if got := bounded.ContainsAnyFold([]byte(tt.data), tt.words); got != tt.want {
			t.Errorf("ContainsAnyFold(%q, %q) = %v, want %v", tt.data, tt.words, got, tt.want)
		}
	}
}
