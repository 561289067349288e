package pi

import (
	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

// record is a line of a transcript. Values point into the line.
type record struct {
	kind, id, timestamp, cwd bounded.Value
	parent, name, title      bounded.Value
	message, summary         bounded.Value
	content                  bounded.Value
	git, state, status       bounded.Value // notes of programs that were made from pi
	depth                    bounded.Value
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
		case "git":
			r.git = v
		case "state":
			r.state = v
		case "status":
			r.status = v
		case "rlmDepth":
			r.depth = v
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

// prompt returns what a person typed.
func (m *message) prompt() string {
	if !m.role.Equal("user") {
		return ""
	}
	return typed(transcript.Text(m.content, catalog.MaxTextBytes))
}

// typed drops text that the program itself put in the place of a prompt.
func typed(text string) string {
	return transcript.Typed(text, "<system-reminder>", "<system_reminder>", "<skill ")
}
