package yolop

import (
	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

// event is a line of the events. Values point into the line.
type event struct {
	id, kind, session, data bounded.Value
	at                      int64
}

func decodeEvent(data []byte) event {
	var e event
	for key, v := range bounded.Fields(data) {
		switch string(key) {
		case "id":
			e.id = v
		case "type":
			e.kind = v
		case "session_id":
			e.session = v
		case "ts":
			e.at = bounded.Millis(v)
		case "data":
			e.data = v
		}
	}
	return e
}

// of reports whether the event is of a session: it bears its id, or none.
func (e *event) of(id string) bool { return !e.session.IsString() || e.session.Equal(id) }

// message returns who speaks in a message, and its content.
func (e *event) message() (role, content bounded.Value) {
	for key, v := range bounded.Fields(e.data.Raw) {
		if string(key) != "message" {
			continue
		}
		for key, v := range bounded.Fields(v.Raw) {
			switch string(key) {
			case "role":
				role = v
			case "content":
				content = v
			}
		}
	}
	return role, content
}

// prompt returns what a person typed, at most about limit bytes.
func (e *event) prompt(limit int) string {
	if !e.kind.Equal("input.message") {
		return ""
	}
	role, content := e.message()
	if !role.Equal("user") {
		return ""
	}
	return transcript.Typed(transcript.Text(content, limit), "<system-reminder>", "<environment_context>", "<background")
}

// records returns what the event says.
func (e *event) records() []catalog.Record {
	one := func(role catalog.Role, text string) []catalog.Record {
		return []catalog.Record{{Role: role, Text: text, TimeMS: e.at, Cite: e.id.Text(128)}}
	}
	switch string(e.kind.Bytes()) {
	case "input.message":
		if text := e.prompt(catalog.MaxRecordBytes); text != "" {
			return one(catalog.User, text)
		}
		_, content := e.message()
		return one(catalog.System, transcript.Text(content, catalog.MaxRecordBytes))
	case "output.message.completed":
		_, content := e.message()
		out := one(catalog.Assistant, transcript.Text(content, catalog.MaxRecordBytes))
		for block := range bounded.Elements(content.Raw) {
			if b := transcript.Decode(block); b.Kind.Equal("tool_call") {
				out = append(out, one(catalog.Tool, transcript.Call(b.Name, b.Input))...)
			}
		}
		return out
	case "tool.completed":
		return one(catalog.Tool, e.result())
	default:
		return nil
	}
}

// result returns what a tool answered.
func (e *event) result() string {
	var name, result, fault bounded.Value
	for key, v := range bounded.Fields(e.data.Raw) {
		switch string(key) {
		case "tool_name":
			name = v
		case "result":
			result = v
		case "error":
			fault = v
		}
	}
	text := catalog.Said(result)
	if text == "" {
		text = catalog.Said(fault)
	}
	return name.Text(256) + "\n" + bounded.Clip(text, catalog.MaxRecordBytes-300)
}
