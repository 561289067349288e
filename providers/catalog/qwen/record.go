package qwen

import (
	"strings"

	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

// record is a line of a transcript. Values point into the line.
type record struct {
	kind, subtype, provenance    bounded.Value
	uuid, session, timestamp     bounded.Value
	cwd, branch, message, forked bounded.Value
	payload                      bounded.Value
	side                         bool
}

func decode(data []byte) record {
	var r record
	for key, v := range bounded.Fields(data) {
		switch string(key) {
		case "type":
			r.kind = v
		case "subtype":
			r.subtype = v
		case "provenance":
			r.provenance = v
		case "uuid":
			r.uuid = v
		case "sessionId":
			r.session = v
		case "timestamp":
			r.timestamp = v
		case "cwd":
			r.cwd = v
		case "gitBranch":
			r.branch = v
		case "message":
			r.message = v
		case "systemPayload":
			r.payload = v
		case "forkedFrom":
			r.forked = v
		case "isSidechain":
			r.side = v.IsTrue()
		}
	}
	return r
}

// prompt returns what a person typed, as far as limit, or nothing when the line is no prompt.
func (r *record) prompt(limit int) string {
	switch {
	case !r.kind.Equal("user"), r.subtype.Exists() && !r.subtype.Equal("mid_turn_user_message"):
		return ""
	case r.provenance.Exists() && !r.provenance.Equal("real_user"):
		return ""
	}
	if shown := typed(bounded.Pick(r.payload.Raw, "displayText").Text(limit)); shown != "" {
		return shown
	}
	var out []string
	for v := range bounded.Elements(content(r.message).Raw) {
		p := decodePart(v)
		text := typed(p.text.Text(limit))
		if strings.HasPrefix(text, "--- Content from referenced files") {
			break
		}
		if text != "" && !p.thought {
			out = append(out, text)
		}
	}
	return bounded.Clip(strings.Join(out, "\n"), limit)
}

// content returns the parts of a message.
func content(message bounded.Value) bounded.Value {
	for key, v := range bounded.Fields(message.Raw) {
		if string(key) == "parts" {
			return v
		}
	}
	return bounded.Value{}
}

// part is a piece of a message.
type part struct {
	text, call, result bounded.Value
	thought            bool
}

func decodePart(v bounded.Value) part {
	var p part
	for key, v := range bounded.Fields(v.Raw) {
		switch string(key) {
		case "text":
			p.text = v
		case "thought":
			p.thought = v.IsTrue()
		case "functionCall":
			p.call = v
		case "functionResponse":
			p.result = v
		}
	}
	return p
}

// typed drops text that the program itself put in the place of a prompt.
func typed(text string) string {
	return transcript.Typed(text, "<system-reminder>", "<session_context>", "<hook_context>", "<environment_context>", "<task-notification>", "<state_snapshot>")
}
