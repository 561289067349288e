package gemini

import (
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

// record is a line of a session, or the object of an old one. Values point into the data.
type record struct {
	session, hash, started, updated, kind, summary bounded.Value // of a header, a patch or an object
	directories, messages                          bounded.Value
	id, timestamp, role                            bounded.Value // of a message
	content, shown, calls                          bounded.Value
	rewind                                         bounded.Value
	patch                                          bool
}

// decode picks the members of a line or an object.
func decode(data []byte) record {
	var r record
	for key, v := range bounded.Fields(data) {
		switch string(key) {
		case "sessionId":
			r.session = v
		case "projectHash":
			r.hash = v
		case "startTime":
			r.started = v
		case "lastUpdated":
			r.updated = v
		case "kind":
			r.kind = v
		case "summary":
			r.summary = v
		case "directories":
			r.directories = v
		case "messages":
			r.messages = v
		case "id":
			r.id = v
		case "timestamp":
			r.timestamp = v
		case "type":
			r.role = v
		case "content":
			r.content = v
		case "displayContent":
			r.shown = v
		case "toolCalls":
			r.calls = v
		case "$rewindTo":
			r.rewind = v
		case "$set":
			r = decode(v.Raw)
			r.patch = true
			return r
		}
	}
	return r
}

// prompt returns what a person typed.
func (r *record) prompt() string {
	if !r.role.Equal("user") {
		return ""
	}
	if text := typed(parts(r.shown, catalog.MaxTextBytes)); text != "" {
		return text
	}
	return typed(parts(r.content, catalog.MaxTextBytes))
}

// parts returns the text of a message: a string, a part, or a list of parts. Parts of which the program itself is the author are left
// out when another one is there.
func parts(content bounded.Value, limit int) string {
	if content.IsString() {
		return content.Text(limit)
	}
	if content.IsObject() {
		return part(content, limit)
	}
	var out, machine string
	for block := range bounded.Elements(content.Raw) {
		text := part(block, limit)
		if block.IsString() {
			text = block.Text(limit)
		}
		switch {
		case text == "" || len(out) >= limit:
		case typed(text) == "":
			machine = text
		default:
			out = strings.TrimPrefix(out+"\n"+text, "\n")
		}
	}
	if out == "" {
		out = machine
	}
	return bounded.Clip(out, limit)
}

func part(block bounded.Value, limit int) string {
	for key, v := range bounded.Fields(block.Raw) {
		if string(key) == "text" {
			return v.Text(limit)
		}
	}
	return ""
}

// typed drops text that the program itself put in the place of a prompt, and commands to the program.
func typed(text string) string {
	text = transcript.Typed(
		text, "<session_context>", "<hook_context>", "<state_snapshot>", "<system_reminder>", "<system-reminder>",
		"This is the Gemini CLI. We are setting up the context for our chat.", "System: Please continue.",
	)
	if text != "" && (text[0] == '/' || text[0] == '?') && !strings.ContainsAny(text[1:], "/ \n") {
		return ""
	}
	return text
}

// workspace returns the first directory that the model was told it works in.
func workspace(text string) string {
	_, rest, ok := strings.Cut(text, "Workspace Directories:**\n")
	if !ok {
		if _, rest, ok = strings.Cut(text, "I'm currently working in the directory: "); !ok {
			return ""
		}
	}
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimPrefix(strings.TrimSpace(line), "- ")
}
