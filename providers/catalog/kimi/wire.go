package kimi

import (
	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/outline"
	"agentd/providers/catalog/transcript"
)

// wire is a line of a wire. Values point into the line.
type wire struct {
	kind, input, event, message bounded.Value
	origin                      string
	at                          int64
}

func decodeWire(data []byte) wire {
	var w wire
	for key, v := range bounded.Fields(data) {
		switch string(key) {
		case "type":
			w.kind = v
		case "time", "created_at":
			w.at = bounded.Millis(v)
		case "input":
			w.input = v
		case "origin":
			w.origin = originOf(v)
		case "event":
			w.event = v
		case "message":
			w.message = v
		}
	}
	return w
}

// originOf tells who is behind a message; empty is a person.
func originOf(v bounded.Value) string {
	var kind, trigger, phase bounded.Value
	for key, v := range bounded.Fields(v.Raw) {
		switch string(key) {
		case "kind":
			kind = v
		case "trigger":
			trigger = v
		case "phase":
			phase = v
		}
	}
	if kind.Equal("user") || trigger.Equal("user-slash") || kind.Equal("shell_command") && phase.Equal("input") {
		return ""
	}
	return kind.Text(64)
}

// message is a message of the context.
type message struct {
	role, content bounded.Value
	origin        string
}

func (w *wire) said() message {
	var m message
	for key, v := range bounded.Fields(w.message.Raw) {
		switch string(key) {
		case "role":
			m.role = v
		case "content":
			m.content = v
		case "origin":
			m.origin = originOf(v)
		}
	}
	return m
}

// prompt returns what a person typed, at most about limit bytes. The program writes it twice, as a turn's input and as a message of the
// context.
func (w *wire) prompt(limit int) string {
	switch string(w.kind.Bytes()) {
	case "turn.prompt", "turn.steer":
		if w.origin == "" {
			return typed(transcript.Text(w.input, limit))
		}
	case "context.append_message":
		if m := w.said(); m.role.Equal("user") && m.origin == "" {
			return typed(transcript.Text(m.content, limit))
		}
	}
	return ""
}

// typed drops text that the program itself put in the place of a prompt.
func typed(text string) string {
	return transcript.Typed(text, "<system-reminder>", "<system>", "<notification", "<task-notification>")
}

// see takes one line for the outline.
func see(o *outline.Outline, line bounded.Line) {
	w := decodeWire(line.Data)
	o.Time(w.at)
	o.Prompt(w.prompt(catalog.MaxTextBytes))
	if w.event.Exists() || w.kind.Equal("context.append_message") && w.said().role.Equal("assistant") {
		o.Reply()
	}
}
