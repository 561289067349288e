package cursor

import (
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

// message is a message of a chat or a line of a transcript.
type message struct {
	role    bounded.Value
	content bounded.Value
}

func decodeMessage(data []byte) message {
	var m message
	for key, v := range bounded.Fields(data) {
		switch string(key) {
		case "role":
			m.role = v
		case "content":
			m.content = v
		case "message":
			for key, v := range bounded.Fields(v.Raw) {
				if string(key) == "content" {
					m.content = v
				}
			}
		}
	}
	return m
}

// prompt returns what a person typed.
func (m *message) prompt() string {
	if !m.role.Equal("user") {
		return ""
	}
	return query(transcript.Text(m.content, 64<<10))
}

// query takes the person's words out of what the program wrapped around them.
func query(text string) string {
	var out string
	rest := text
	for {
		_, after, ok := strings.Cut(rest, "<user_query>")
		if !ok {
			break
		}
		inner, tail, _ := strings.Cut(after, "</user_query>")
		out, rest = strings.TrimSpace(out+"\n"+strings.TrimSpace(inner)), tail
	}
	if out != "" {
		return bounded.Clip(out, catalog.MaxTextBytes)
	}
	return bounded.Clip(transcript.Typed(
		text, "<user_info>", "<git_status>", "<project_layout>", "<system_reminder>", "<open_and_recently_viewed_files>", "<rules>", "<agent_transcripts>",
		"<attached_files>", "<additional_data>", "<environment_details>", "<user_query>",
	), catalog.MaxTextBytes)
}

// workspace returns the directory that the model was told it works in.
func (m *message) workspace() string {
	text := transcript.Text(m.content, 64<<10)
	_, info, ok := strings.Cut(text, "<user_info>")
	if !ok {
		return ""
	}
	info, _, _ = strings.Cut(info, "</user_info>")
	if _, rest, ok := strings.Cut(info, "Workspace Path:"); ok {
		line, _, _ := strings.Cut(rest, "\n")
		return strings.TrimSpace(line)
	}
	return ""
}
