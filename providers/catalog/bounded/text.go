package bounded

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Clean returns the bytes as valid UTF-8; each run of bytes that is not becomes one U+FFFD.
func Clean(b []byte) string {
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// Clip cuts text to at most limit bytes at a character, without regard to what a person sees as one. It is cheap;
// [CutGraphemes] is for what is shown. A U+FFFD that the cut itself made is dropped.
func Clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	text = text[:max(0, limit)]
	for len(text) > 0 {
		r, n := utf8.DecodeLastRuneInString(text)
		if r != utf8.RuneError || n > 1 {
			break
		}
		text = text[:len(text)-1]
	}
	return text
}

// CutGraphemes cuts text to at most limit bytes between two grapheme clusters, so that a joined emoji or a letter
// with its marks stays whole. A single cluster longer than the limit is dropped.
func CutGraphemes(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end, state, rest := 0, -1, text
	for len(rest) > 0 {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if end+len(cluster) > limit {
			break
		}
		end += len(cluster)
	}
	return text[:end]
}

// Squeeze makes one line of a text: each run of white space becomes one space, none at the ends. The result is at
// most limit bytes, cut at a character.
func Squeeze(text string, limit int) string {
	// White space can only shrink, so a generous part of the text is enough.
	text = Clip(text, 4*limit+1024)
	var b strings.Builder
	for word := range strings.FieldsSeq(text) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
		if b.Len() > limit {
			break
		}
	}
	return strings.TrimRight(Clip(b.String(), limit), " ")
}
