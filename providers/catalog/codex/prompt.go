package codex

import (
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

// said is what a line says of the conversation.
type said struct {
	prompt string // what a person typed
	event  bool   // the prompt stands in an event, which Codex writes for typed ones alone
	talk   bool   // something was said at all
}

// conversation reads a line that is no first one.
func (r *record) conversation() said {
	switch {
	case r.kind.Equal("event_msg"):
		return event(r.payload)
	case r.kind.Equal("response_item"):
		return item(r.payload)
	default:
		return said{}
	}
}

// event reads what the terminal was told.
func event(payload bounded.Value) said {
	var kind, message, subject, completed bounded.Value
	for key, v := range bounded.Fields(payload.Raw) {
		switch string(key) {
		case "type":
			kind = v
		case "message":
			message = v
		case "kind":
			subject = v
		case "item":
			completed = v
		}
	}
	switch string(kind.Bytes()) {
	case "user_message":
		text := typed(message.Text(catalog.MaxTextBytes))
		if word := string(subject.Bytes()); word != "" && word != "plain" {
			text = "" // The surroundings or the user's instructions.
		}
		return said{prompt: text, event: text != "", talk: text != ""}
	case "agent_message":
		return said{talk: true}
	case "item_completed":
		return completedItem(completed)
	default:
		return said{}
	}
}

// completedItem reads an item of a turn as recent versions write it.
func completedItem(v bounded.Value) said {
	var kind, content bounded.Value
	for key, member := range bounded.Fields(v.Raw) {
		switch string(key) {
		case "type":
			kind = member
		case "content":
			content = member
		}
	}
	switch string(kind.Bytes()) {
	case "UserMessage":
		text := written(content)
		return said{prompt: text, event: text != "", talk: text != ""}
	case "AgentMessage":
		return said{talk: true}
	default:
		return said{}
	}
}

// item reads what was sent to the model or came from it.
func item(payload bounded.Value) said {
	m := message(payload)
	if !m.kind.Equal("message") {
		return said{}
	}
	if m.role.Equal("assistant") {
		return said{talk: true}
	}
	if !m.role.Equal("user") || m.machine {
		return said{}
	}
	text := written(m.content)
	return said{prompt: text, talk: text != ""}
}

// itemMessage is a message of the conversation with the model.
type itemMessage struct {
	kind, role, content bounded.Value
	machine             bool // it says itself that no person wrote it
}

func message(payload bounded.Value) itemMessage {
	var m itemMessage
	for key, v := range bounded.Fields(payload.Raw) {
		switch string(key) {
		case "type":
			m.kind = v
		case "role":
			m.role = v
		case "content":
			m.content = v
		case "internal_chat_message_metadata_passthrough":
			m.machine = machineMade(bounded.Pick(v.Raw, "content_item_kinds"))
		}
	}
	return m
}

// machineMade reports whether the kinds of a message's parts are told, and none is the user's.
func machineMade(kinds bounded.Value) bool {
	told := false
	for kind := range bounded.Elements(kinds.Raw) {
		word := string(kind.Bytes())
		if strings.HasPrefix(word, "user.") || word == "unknown" {
			return false
		}
		told = told || word != ""
	}
	return told
}

// blocks returns the text of a list of content blocks, or of a plain string, at most about limit bytes. Of the blocks
// only those count whose text keep admits.
func blocks(content bounded.Value, limit int, keep func(string) bool) string {
	if content.IsString() {
		return content.Text(limit)
	}
	var out string
	for block := range bounded.Elements(content.Raw) {
		for key, v := range bounded.Fields(block.Raw) {
			if string(key) != "text" || len(out) >= limit {
				continue
			}
			if text := v.Text(limit); keep(text) {
				out = strings.TrimPrefix(out+"\n"+text, "\n")
			}
		}
	}
	return bounded.Clip(out, limit)
}

// written returns what a person wrote in a message.
func written(content bounded.Value) string {
	return typed(blocks(content, catalog.MaxTextBytes, func(text string) bool { return typed(text) != "" }))
}

// typed drops text that the program itself put in the place of a prompt, and what an editor put in front of one.
func typed(text string) string {
	text = strings.TrimSpace(text)
	const request = "## My request for Codex:"
	if i := strings.LastIndex(text, request); i >= 0 && strings.HasPrefix(text, "# Context from my IDE setup") {
		text = strings.TrimSpace(text[i+len(request):])
	}
	return transcript.Typed(
		text, "<environment_context>", "<user_instructions>", "<permissions instructions>", "<turn_aborted>", "<turn_context>", "<skill>",
		"<skills_instructions>", "<user_shell_command>", "<collaboration_mode>", "<model_switch>", "<subagent_notification>",
		"<personality_spec>", "<hook_context>", "<system-reminder>", "<app-context>", "<apps_instructions>", "<INSTRUCTIONS>",
		"# AGENTS.md instructions for ", "<image", "</image>",
	)
}
