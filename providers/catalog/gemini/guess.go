package gemini

import (
	"bytes"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

const (
	guessWindow = 256 << 10
	guessMax    = 400 // paths that are tried for one session
)

// guess looks for a path in what was said and done whose hash is one of those wanted. Old versions tell the project in no
// other way than by its hash, but a model that reads and writes files names it again and again.
func guess(data []byte, wanted ...string) string {
	data = data[:min(len(data), guessWindow)]
	tried := map[string]bool{}
	for from := 0; len(tried) < guessMax; {
		i := bytes.IndexByte(data[from:], '/')
		if i < 0 {
			return ""
		}
		start := from + i
		end := start + pathEnd(data[start:])
		from = max(end, start+1)
		if start > 0 && isPathByte(data[start-1]) {
			continue // The middle of a word or of a relative path.
		}
		if found := ancestor(bounded.Clean(data[start:end]), tried, wanted); found != "" {
			return found
		}
	}
	return ""
}

// pathEnd returns the length of what can be a path: up to the end of its JSON string or line.
func pathEnd(data []byte) int {
	end := bytes.IndexAny(data[:min(len(data), catalog.MaxPathBytes)], "\"\\\n\r<>|*?`")
	if end < 0 {
		return min(len(data), catalog.MaxPathBytes)
	}
	return end
}

func isPathByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || strings.IndexByte("/._-~", b) >= 0 || b >= 0x80
}

// ancestor tries a path, the words of a line that could end one, and the directories above it.
func ancestor(path string, tried map[string]bool, wanted []string) string {
	for end := len(path); end > 1 && len(tried) < guessMax; {
		if dir := strings.TrimRight(path[:end], "/ .,;:)'"); len(dir) > 1 && !tried[dir] {
			tried[dir] = true
			sum := hashOf(dir)
			for _, w := range wanted {
				if sum == w {
					return dir
				}
			}
		}
		end = strings.LastIndexAny(path[:end], "/ ")
	}
	return ""
}
