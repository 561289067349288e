package transcript

import (
	"slices"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

// Typed returns what a person typed: the text without the blanks around it, or nothing when it begins with one of the marks
// of what the program itself puts in the place of a prompt.
func Typed(text string, marks ...string) string {
	text = strings.TrimSpace(text)
	for _, mark := range marks {
		if strings.HasPrefix(text, mark) {
			return ""
		}
	}
	return text
}

// Prompts returns those of the texts that are not empty, each once, for [catalog.Session].Prompts.
func Prompts(texts ...string) []string {
	out := make([]string, 0, len(texts))
	for _, text := range texts {
		if text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// Text returns what a message says to a person, at most about limit bytes: its content when that is a string, else the
// texts of its blocks of type "text", one below the other.
func Text(content bounded.Value, limit int) string {
	if content.IsString() {
		return content.Text(limit)
	}
	var out strings.Builder
	for block := range bounded.Elements(content.Raw) {
		if out.Len() >= limit {
			break
		}
		if b := Decode(block); b.Kind.Equal("text") {
			if out.Len() > 0 {
				out.WriteByte('\n')
			}
			out.WriteString(b.Text.Text(limit))
		}
	}
	return bounded.Clip(out.String(), limit)
}

// maxRaw bounds JSON that becomes a part of a record.
const maxRaw = catalog.MaxRecordBytes - 300

// Raw returns JSON as it stands, at most limit bytes of it and not more than a record holds beside a name.
func Raw(v bounded.Value, limit int) string {
	limit = min(limit, maxRaw)
	return bounded.Clip(bounded.Clean(v.Raw[:min(len(v.Raw), limit)]), limit)
}

// Call returns what a tool was asked: its name, and its input, which is JSON or a text.
func Call(name, input bounded.Value) string {
	text := input.Text(maxRaw)
	if !input.IsString() {
		text = Raw(input, maxRaw)
	}
	return strings.TrimSpace(name.Text(256) + " " + text)
}
