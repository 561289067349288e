package hermes

import (
	"context"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/database"
	"agentd/providers/catalog/transcript"
)

// present returns the part of a query that leaves out messages that were taken back, as far as the table can tell.
func present(have map[string]bool) string {
	switch {
	case have["active"] && have["compacted"]:
		return " AND (active IS NULL OR active <> 0 OR compacted = 1)"
	case have["active"]:
		return " AND (active IS NULL OR active <> 0)"
	default:
		return ""
	}
}

// contentColumn is the start of a message. As a text it would end at the NUL that begins a structured one.
func contentColumn(limit string) string { return "substr(CAST(content AS BLOB), 1, " + limit + ")" }

// said returns the text of a message: it is plain, or a list of parts behind a mark.
func said(content database.Text, limit int) string {
	text := strings.TrimRight(string(content), "\uFFFD") // The query may have cut a character.
	for _, mark := range []string{"\x00json:", "\x01json:"} {
		if list, ok := strings.CutPrefix(text, mark); ok {
			return bounded.Clip(catalog.Said(bounded.Value{Raw: []byte(list)}), limit)
		}
	}
	return bounded.Clip(text, limit)
}

// typed drops text that the program itself put in the place of a prompt.
func typed(text string) string {
	return transcript.Typed(
		text, "[CONTEXT COMPACTION", "[CONTEXT SUMMARY]", "[SYSTEM:", "[System note:", "[IMPORTANT: ",
		"Review the conversation above and update the skill library", "Review the conversation above and consider saving to memory",
	)
}

// addPrompts looks up the prompts of the sessions that need them most. The sessions stand in the order of their times.
func (s *scan) addPrompts(ctx context.Context, have map[string]bool) error {
	if !have["id"] || !have["role"] || !have["content"] {
		return nil
	}
	ok, err := s.db.Askable(ctx, "messages", "session_id")
	if err != nil || !ok {
		return err
	}
	first, titleless, only := promptRows, promptlessMax, s.p.Only()
	for i := range s.found {
		out := &s.found[i]
		if first <= 0 && (out.Title != "" || titleless <= 0) {
			continue
		}
		first--
		if out.Title == "" {
			titleless--
		}
		if only != "" && only != out.ID {
			continue
		}
		var prompts [2]string
		for i, descending := range []bool{false, true} {
			if prompts[i], err = s.prompt(ctx, have, out.ID, descending); err != nil {
				return err
			}
		}
		out.Prompts = transcript.Prompts(prompts[:]...)
	}
	return nil
}

// prompt returns the first or the last thing that a person typed in a session.
func (s *scan) prompt(ctx context.Context, have map[string]bool, id string, descending bool) (string, error) {
	shown := ""
	if have["display_kind"] {
		shown = " AND coalesce(display_kind, '') <> 'hidden'"
	}
	order := []string{"id"}
	if have["timestamp"] {
		order = []string{"timestamp", "id"} // The order of the index, so that no more rows are read than are wanted.
	}
	query := "SELECT " + contentColumn("16384") + " FROM messages WHERE session_id = ? AND role = 'user'" + shown + present(have) +
		database.OrderBy(descending, order...) + " LIMIT 8"
	var content database.Text
	found := ""
	err := s.db.Each(ctx, query, []any{id}, []any{&content}, func() error {
		if found == "" {
			found = bounded.Squeeze(typed(said(content, catalog.MaxTextBytes)), catalog.MaxTextBytes)
		}
		return nil
	})
	return found, err
}
