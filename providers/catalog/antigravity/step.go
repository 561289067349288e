package antigravity

import (
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

// step is a line of a log.
type step struct {
	kind, source, content, calls bounded.Value
	at                           int64
}

func decodeStep(data []byte) step {
	var s step
	for key, v := range bounded.Fields(data) {
		switch string(key) {
		case "type":
			s.kind = v
		case "source":
			s.source = v
		case "content":
			s.content = v
		case "created_at":
			s.at = bounded.Millis(v)
		case "tool_calls":
			s.calls = v
		}
	}
	return s
}

// prompt returns what a person typed.
func (s *step) prompt() string {
	if !s.kind.Equal("USER_INPUT") {
		return ""
	}
	return typed(catalog.Said(s.content))
}

// typed takes the person's words out of what the program wrapped around them.
func typed(text string) string {
	if _, inner, ok := strings.Cut(text, "<USER_REQUEST>"); ok {
		text, _, _ = strings.Cut(inner, "</USER_REQUEST>")
	}
	for _, mark := range []string{"<ADDITIONAL_METADATA>", "<USER_SETTINGS_CHANGE>"} {
		text, _, _ = strings.Cut(text, mark)
	}
	return bounded.Clip(strings.TrimSpace(text), catalog.MaxTextBytes)
}

// records returns what a line of a log says. What the model thought is left out.
func (s *step) records() (out []catalog.Record) {
	role := catalog.System
	switch {
	case s.prompt() != "":
		role = catalog.User
	case s.kind.Equal("PLANNER_RESPONSE"), s.kind.Equal("MODEL"):
		role = catalog.Assistant
	case s.source.Equal("MODEL"), s.source.Equal("TOOL"):
		role = catalog.Tool // What a tool did is a step of its own.
	}
	out = append(out, catalog.Record{Role: role, Text: catalog.Said(s.content), TimeMS: s.at})
	for call := range bounded.Elements(s.calls.Raw) {
		b := transcript.Decode(call)
		out = append(out, catalog.Record{Role: catalog.Tool, Text: transcript.Call(b.Name, b.Input), TimeMS: s.at})
	}
	return out
}
