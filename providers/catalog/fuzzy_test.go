package catalog

import (
	"testing"
)

func score(hay, word string) (int, bool) {
	var m matcher
	m.setHaystack([]string{hay})
	return m.score(newPattern(word))
}

// TestFuzzyScore pins scores that follow from the numbers alone.
func TestFuzzyScore(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, hay, word string
		want            int
		ok              bool
	}{
		{"one letter at the start", "a", "a", 16 + 2*bonusWhite, true},
		{"two in a row at the start", "ab", "ab", 16 + 2*bonusWhite + 16 + bonusWhite, true},
		{"gap", "axxb", "ab", 16 + 2*bonusWhite - gapStart - gapExtension + 16, true},
		{"behind a slash", "x/a", "a", 16 + 2*bonusDelimiter, true},
		{"behind a hyphen", "x-a", "a", 16 + 2*bonusBoundary, true},
		{"in a word", "xa", "a", 16, true},
		{"camel", "xA", "a", 16 + 2*bonusCamel, true},
		{"case and accents are folded", "É", "e", 16 + 2*bonusWhite, true},
		{"an accent that is given counts", "E", "é", 0, false},
		{"order matters", "ba", "ab", 0, false},
		{"the best place wins", "xab ab", "ab", 16 + 2*bonusWhite + 16 + bonusWhite, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, ok := score(tt.hay, tt.word); got != tt.want || ok != tt.ok {
				t.Errorf("score(%q, %q) = %d, %v, want %d, %v", tt.hay, tt.word, got, ok, tt.want, tt.ok)
			}
		})
	}
}

func FuzzScore(f *testing.F) {
	f.Add("web-app /work/web-app main", "wapp")
	f.Add("é/É", "é")
	f.Fuzz(func(t *testing.T, hay, word string) {
		if word == "" {
			return
		}
		n, ok := score(hay, word)
		if ok != (n > 0) {
			t.Errorf("score(%q, %q) = %d, %v", hay, word, n, ok)
		}
	})
}
