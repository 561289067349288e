package kiro

import (
	"bytes"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

// conversation is what a value of the database says.
type conversation struct {
	id, first, last string
	newest          int64
	talk            bool
	cut             bool // the value goes on
}

// decodeConversation reads the start of a value.
func decodeConversation(data []byte) conversation {
	var c conversation
	whole := false
	for key, v := range bounded.Fields(data) {
		whole = !v.Cut
		switch string(key) {
		case "conversation_id":
			c.id = v.Text(catalog.MaxIDBytes + 1)
		case "history", "messages":
			for entry := range bounded.Elements(v.Raw) {
				t := decodeTurn(entry.Raw)
				c.talk = c.talk || t.prompt.Exists() || t.reply != ""
				c.newest = max(c.newest, t.at)
				if prompt := typed(t.prompt.Text(catalog.MaxTextBytes)); prompt != "" {
					if c.first == "" {
						c.first = prompt
					}
					c.last = prompt
				}
			}
		}
	}
	c.cut = !whole
	return c
}

// turn is one entry of a history: what the person or a tool says, and the answer.
type turn struct {
	prompt  bounded.Value
	results bounded.Value // of tools
	reply   string
	calls   bounded.Value
	at      int64
}

// decodeTurn reads {user, assistant}, or in an older form {role, content}.
func decodeTurn(data []byte) turn {
	var t turn
	var role, content bounded.Value
	for key, v := range bounded.Fields(data) {
		switch string(key) {
		case "user":
			t.user(v)
		case "assistant":
			for _, v := range bounded.Fields(v.Raw) { // Response or ToolUse
				for key, v := range bounded.Fields(v.Raw) {
					switch string(key) {
					case "content":
						t.reply = v.Text(catalog.MaxRecordBytes)
					case "tool_uses":
						t.calls = v
					}
				}
			}
		case "role":
			role = v
		case "content":
			content = v
		}
	}
	switch {
	case role.Equal("user"):
		t.prompt = content
	case role.Equal("assistant"):
		t.reply = catalog.Said(content)
	}
	return t
}

func (t *turn) user(v bounded.Value) {
	for key, v := range bounded.Fields(v.Raw) {
		switch string(key) {
		case "timestamp":
			t.at = bounded.Millis(v)
		case "content":
			for _, v := range bounded.Fields(v.Raw) { // Prompt, ToolUseResults or CancelledToolUses
				for key, v := range bounded.Fields(v.Raw) {
					switch string(key) {
					case "prompt":
						if v.IsString() {
							t.prompt = v
						}
					case "tool_use_results":
						t.results = v
					}
				}
			}
		}
	}
}

// lastPrompt looks for the last prompt in the end of a value.
func lastPrompt(tail []byte) string {
	mark := []byte(`"Prompt":{"prompt":`)
	i := bytes.LastIndex(tail, mark)
	if i < 0 {
		return ""
	}
	for _, v := range bounded.Fields(append([]byte(`{"prompt":`), tail[i+len(mark):]...)) {
		return typed(v.Text(catalog.MaxTextBytes))
	}
	return ""
}

// typed drops text that the program itself put in the place of a prompt.
func typed(text string) string {
	return transcript.Typed(text, "<system-reminder>", "--- CONTEXT ENTRY BEGIN ---", "[SYSTEM NOTE:")
}
