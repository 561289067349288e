package claude

import (
	"cmp"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

// parseHistory emits one fragment for each session that the history of typed prompts names.
func parseHistory(p *catalog.Parsing, f *bounded.File) error {
	index := map[string]int{}
	var all []catalog.Session
	for line, err := range f.Head(historyMax) {
		if err != nil {
			return err
		}
		s := historyRow(p, line.Data)
		if !catalog.ValidID(s.ID) {
			continue // A row without a session helps nobody.
		}
		i, ok := index[s.ID]
		if !ok {
			index[s.ID] = len(all)
			all = append(all, s)
			continue
		}
		addRow(&all[i], s)
	}
	for _, s := range all {
		p.Emit(s)
	}
	return nil
}

// historyRow decodes one row.
func historyRow(p *catalog.Parsing, data []byte) catalog.Session {
	var s catalog.Session
	var display string
	var pasted bounded.Value
	for key, v := range bounded.Fields(data) {
		switch string(key) {
		case "display":
			display = v.Text(catalog.MaxTextBytes)
		case "pastedContents":
			pasted = v
		case "timestamp":
			s.TimeMS = p.Believe(bounded.Millis(v))
		case "project":
			s.ProjectPath = v.Text(catalog.MaxPathBytes + 1)
		case "sessionId":
			s.ID = v.Text(catalog.MaxIDBytes + 1)
		}
	}
	if strings.HasPrefix(display, "[Pasted text #") {
		display = cmp.Or(pastedText(pasted), display)
	}
	if display = typed(display); display != "" && display[0] != '/' && display[0] != '!' {
		s.Prompts = []string{display}
	}
	return s
}

// pastedText returns the first pasted text of a row.
func pastedText(pasted bounded.Value) string {
	for _, item := range bounded.Fields(pasted.Raw) {
		for key, v := range bounded.Fields(item.Raw) {
			if string(key) == "content" {
				return v.Text(catalog.MaxTextBytes)
			}
		}
	}
	return ""
}

// addRow adds a later row of the same session.
func addRow(s *catalog.Session, row catalog.Session) {
	s.TimeMS = max(s.TimeMS, row.TimeMS)
	s.ProjectPath = cmp.Or(s.ProjectPath, row.ProjectPath) // The directory that it was started in.
	switch {
	case len(row.Prompts) == 0:
	case len(s.Prompts) < 2:
		s.Prompts = append(s.Prompts, row.Prompts...)
	default:
		s.Prompts[1] = row.Prompts[0]
	}
}
