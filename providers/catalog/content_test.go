package catalog_test

import (
	"strings"
	"testing"

	"agentd/providers/catalog"
)

// Whatever stands before a word, its snippet shows the word, and no secret that begins or ends near it.
func TestSnippet(t *testing.T) {
	t.Parallel()
	const body = "MIIEpAIBAAKCAQEA7bq0ZkUvS2xYb1x9"
	key := func(kind string, lines int) string {
		return "-----BEGIN " + kind + "-----\n" + strings.Repeat(body+"\n", lines)
	}
	tests := []struct {
		name, text, query string
		want, never       string
	}{
		{"at the start", "needle in hay", "needle", "needle in hay", ""},
		{"behind a word that begins alike", "authentic " + strings.Repeat("x ", 300) + "authentication failed", "authentication", "authentication failed", ""},
		{"behind letters that grow in lower case", strings.Repeat("İ", 3000) + " needle " + strings.Repeat("İ", 3000), "needle", "needle", ""},
		{"behind letters that shrink in lower case", strings.Repeat("\u212a", 3000) + " needle", "needle", "needle", ""},
		{"in letters that grow", "İİ İstanbul", "İstanbul", "İstanbul", ""},
		{"behind bytes that are no text", strings.Repeat("\xff", 3000) + " needle", "needle", "needle", ""},
		{"among wide characters", strings.Repeat("漢", 5000) + " needle " + strings.Repeat("字", 5000), "needle", "needle", ""},
		{"behind a secret", "password: hunter2hunter2 " + strings.Repeat("x ", 10) + "needle", "needle", "needle", "hunter2"},
		{"behind a key", key("RSA PRIVATE KEY", 40) + "-----END RSA PRIVATE KEY-----\nneedle", "needle", "needle", body},
		{"behind a key longer than the window", key("RSA PRIVATE KEY", 400) + "-----END RSA PRIVATE KEY-----\nneedle", "needle", "needle", body},
		{"behind a key of another kind", key("PGP PRIVATE KEY BLOCK", 400) + "-----END PGP PRIVATE KEY BLOCK-----\nneedle", "needle", "needle", body},
		{"within a key", key("PRIVATE KEY", 400) + "needle\n" + strings.Repeat(body+"\n", 400) + "-----END PRIVATE KEY-----", "needle", "[masked]", body},
		{"within a key that does not end", key("EC PRIVATE KEY", 400) + "needle\n" + strings.Repeat(body+"\n", 400), "needle", "[masked]", body},
		{"between two keys", key("PRIVATE KEY", 400) + "-----END PRIVATE KEY-----\nneedle\n" + key("PRIVATE KEY", 400), "needle", "needle", body},
		{"the secret itself", "password: hunter2hunter2", "hunter2hunter2", "[masked]", "hunter2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, talking{fake{agent: catalog.Claude, records: []catalog.Record{{Role: catalog.User, Text: tt.text, Cite: "1"}}}})
			w.put(t, catalog.Claude, "a.json", session("s", "/p", 0))
			found, err := w.catalog(t, catalog.Options{}).Search(t.Context(), catalog.SearchRequest{Query: tt.query, Content: true})
			if err != nil || len(found.Sessions) != 1 || len(found.Sessions[0].Matches) != 1 {
				t.Fatalf("Search(%q) = %+v, %v, want one place", tt.query, found, err)
			}
			got := found.Sessions[0].Matches[0].Snippet
			if !strings.Contains(got, tt.want) || tt.never != "" && strings.Contains(got, tt.never) || len(got) > catalog.MaxSnippetBytes {
				t.Errorf("snippet of %q = %q, want %q in it, and never %q", tt.query, got, tt.want, tt.never)
			}
		})
	}
}
