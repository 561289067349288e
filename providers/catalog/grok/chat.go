package grok

import (
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/outline"
	"agentd/providers/catalog/transcript"
)

// item is a line of a chat. Values point into the line.
type item struct {
	kind, content, calls, backend bounded.Value
	synthetic                     bool
}

func decodeItem(data []byte) item {
	var i item
	for key, v := range bounded.Fields(data) {
		switch string(key) {
		case "type", "role":
			if !i.kind.Exists() {
				i.kind = v
			}
		case "content":
			i.content = v
		case "tool_calls":
			i.calls = v
		case "kind":
			i.backend = v
		case "synthetic_reason":
			i.synthetic = (v.IsString() || v.IsObject()) && !v.Equal("human") && !v.Equal("Human")
		}
	}
	return i
}

// The marks around what a person typed.
const queryOpen, queryClose = "<user_query>", "</user_query>"

// prompt returns what a person typed, at most about limit bytes.
func (i *item) prompt(limit int) string {
	if !i.kind.Equal("user") || i.synthetic {
		return ""
	}
	text := transcript.Text(i.content, catalog.MaxRecordBytes)
	if at := strings.LastIndex(text, queryOpen); at >= 0 {
		text, _, _ = strings.Cut(text[at+len(queryOpen):], queryClose)
		return bounded.Clip(strings.TrimSpace(text), limit)
	}
	return bounded.Clip(transcript.Typed(text, "<system-reminder>", "<user_info>", "<git_status>", "<project_layout>", "<environment"), limit)
}

// see takes one line for the outline.
func see(o *outline.Outline, line bounded.Line) {
	i := decodeItem(line.Data)
	o.Prompt(i.prompt(catalog.MaxTextBytes))
	if i.kind.Equal("assistant") {
		o.Reply()
	}
}
