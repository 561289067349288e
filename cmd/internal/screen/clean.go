package screen

import (
	"strings"
	"unicode/utf8"
)

// maxEscapeBytes is the longest escape sequence that is taken for one. What is longer, or does not end, is text
// behind a stray escape character: a sequence must not be able to swallow what follows it.
const maxEscapeBytes = 4096

const (
	escape = '\x1b'
	bell   = '\a'
)

// Clean returns text without terminal escapes, control characters other than line ends and tabs, and characters that reorder
// or hide text. Line ends of other systems become plain ones; a lone carriage return, which would let what follows paint over what is
// before it, becomes one too. Invalid bytes become U+FFFD.
func Clean(text string) string {
	if isClean(text) {
		return text
	}
	var out strings.Builder
	out.Grow(len(text))
	for i := 0; i < len(text); {
		if n := escapeLength(text[i:]); n > 0 {
			i += n
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch {
		case r == '\r':
			if !strings.HasPrefix(text[i:], "\n") {
				out.WriteByte('\n')
			}
		case r == '\n' || r == '\t' || !isUnsafe(r):
			out.WriteRune(r)
		}
	}
	return out.String()
}

// CleanLine is [Clean] for text that has to stay on one line: line ends and tabs become spaces.
func CleanLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, Clean(text))
}

func isClean(text string) bool {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 || isUnsafe(r) && r != '\n' && r != '\t' {
			return false
		}
		i += size
	}
	return true
}

// isUnsafe reports whether a character controls a terminal (C0, DEL, C1), or changes how its neighbours are read: directional marks,
// embeddings, overrides and isolates, line and paragraph separators, tag characters, and characters without width that hide
// in words. The zero-width joiner and non-joiner stay, because emoji and some scripts are written with them.
func isUnsafe(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r == 0xad, r == 0x61c, r == 0x180e, r == 0x200b, r == 0x200e, r == 0x200f:
		return true
	case r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0xfeff, r >= 0xfff9 && r <= 0xfffb:
		return true
	default:
		return r >= 0xe0000 && r <= 0xe007f
	}
}

// escapeLength returns how many bytes the escape sequence at the beginning takes, or 0 if none begins there. A stray escape
// character is none; it goes as a control character.
func escapeLength(text string) int {
	var kind byte
	var start int
	switch {
	case len(text) > 1 && text[0] == escape:
		kind, start = text[1], 2
	case len(text) > 1 && text[0] == 0xc2 && text[1] >= 0x80 && text[1] < 0xa0:
		kind, start = text[1]-0x40, 2 // The C1 form of escape and a letter.
	default:
		return 0
	}
	switch {
	case kind == '[':
		return controlLength(text, start, 0x40)
	case kind == ']' || kind == 'P' || kind == 'X' || kind == '^' || kind == '_':
		return stringLength(text, start)
	case kind >= 0x20 && kind < 0x30: // An intermediate: a final byte follows.
		return controlLength(text, start, 0x30)
	case kind >= 0x30 && kind < 0x7f && text[0] == escape:
		return start
	default:
		return 0
	}
}

// controlLength ends a sequence of parameters and intermediates behind its final byte, which is final or above.
func controlLength(text string, start int, final byte) int {
	for i := start; i < min(len(text), maxEscapeBytes); i++ {
		switch c := text[i]; {
		case c >= final && c < 0x7f:
			return i + 1
		case c < 0x20 || c >= 0x7f:
			return 0
		}
	}
	return 0
}

// stringLength ends a sequence that carries a text at its terminator. A text does not go over the end of a line.
func stringLength(text string, start int) int {
	for i := start; i < min(len(text), maxEscapeBytes); i++ {
		switch {
		case text[i] == bell:
			return i + 1
		case text[i] == escape && i+1 < len(text) && text[i+1] == '\\':
			return i + 2
		case text[i] == 0xc2 && i+1 < len(text) && text[i+1] == 0x9c:
			return i + 2
		case text[i] < 0x20:
			return 0
		}
	}
	return 0
}
