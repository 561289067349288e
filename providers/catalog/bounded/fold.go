package bounded

import "bytes"

// ContainsAnyFold reports whether one of the words occurs in data, without regard to the case of ASCII letters. The
// words are in lower case. No words is true.
func ContainsAnyFold(data []byte, words []string) bool {
	if len(words) == 0 {
		return true
	}
	for _, w := range words {
		if containsFold(data, w) {
			return true
		}
	}
	return false
}

func containsFold(data []byte, word string) bool {
	if word == "" {
		return true
	}
	lower, upper := word[0], word[0]
	if lower >= 'a' && lower <= 'z' {
		upper -= 'a' - 'A'
	}
	for _, first := range []byte{lower, upper} {
		for rest := data; len(rest) >= len(word); {
			i := bytes.IndexByte(rest[:len(rest)-len(word)+1], first)
			if i < 0 {
				break
			}
			if equalFold(rest[i:i+len(word)], word) {
				return true
			}
			rest = rest[i+1:]
		}
		if lower == upper {
			break
		}
	}
	return false
}

func equalFold(b []byte, lower string) bool {
	for i := range b {
		c := b[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
