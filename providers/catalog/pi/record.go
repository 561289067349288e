package pi

import (
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

// record is a line of a transcript. Values point into the line.
type record struct {
	kind, id, timestamp, cwd bounded.Value
	parent, name, title      bounded.Value
	message, summary         bounded.Value
	content                  bounded.Value
}

func decode(data []byte) record {
	var r record
	for key, v := range bounded.Fields(data) {
		switch string(key) {
		case "type":
			r.kind = v
		case "id":
			r.id = v
		case "timestamp":
			r.timestamp = v
		case "cwd":
			r.cwd = v
		case "parentSession", "branchedFrom":
			r.parent = v
		case "name":
			r.name = v
		case "title":
			r.title = v
		case "message":
			r.message = v
		case "summary":
			r.summary = v
		case "content":
			r.content = v
		}
	}
	return r
}

// message is what was said.
type message struct {
	role, content, name, command, output bounded.Value
	at                                   int64
}

func (r *record) said() message {
	var m message
	for key, v := range bounded.Fields(r.message.Raw) {
		switch string(key) {
		case "role":
			m.role = v
		case "content":
			m.content = v
		case "toolName":
			m.name = v
		case "command":
			m.command = v
		case "output":
			m.output = v
		case "timestamp":
			m.at = bounded.Millis(v)
		}
	}
	return m
}

// text returns the text blocks of a message.
func (m *message) text(limit int) string {
	if m.content.IsString() {
		return m.content.Text(limit)
	}
	var out strings.Builder
	for block := range bounded.Elements(m.content.Raw) {
		var kind, text bounded.Value
		for key, v := range bounded.Fields(block.Raw) {
			switch string(key) {
			case "type":
				kind = v
			case "text":
				text = v
			}
		}
		if !kind.Equal("text") || out.Len() >= limit {
			continue
		}
		if out.Len() > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(text.Text(limit))
	}
	return bounded.Clip(out.String(), limit)
}

// prompt returns what a person typed.
func (m *message) prompt() string {
	if !m.role.Equal("user") {
		return ""
	}
	return typed(m.text(catalog.MaxTextBytes))
}

// typed drops text that the program itself put in the place of a prompt.
func typed(text string) string {
	text = strings.TrimSpace(text)
	for _, mark := range []string{"<system-reminder>", "<system_reminder>", "<skill "} {
		if strings.HasPrefix(text, mark) {
			return ""
		}
	}
	return text
}
