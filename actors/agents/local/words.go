package local

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// toolWords are the parts of the built-in tools' results that a person wants to read.
type toolWords struct {
	Error   string `json:"error"`
	Message string `json:"message"`
	// Text is a file's, Output a command's.
	Text     *string `json:"text"`
	Output   *string `json:"output"`
	ExitCode int     `json:"exit_code"`
	Entries  []struct {
		Path string `json:"path"`
		Type string `json:"type"`
	} `json:"entries"`
	Matches []struct {
		Path string `json:"path"`
		Line int    `json:"line"`
		Text string `json:"text"`
	} `json:"matches"`
	Shapes []struct {
		ID    string `json:"id"`
		Shape string `json:"shape"`
		Color string `json:"color"`
	} `json:"shapes"`
	Path      string `json:"path"`
	File      string `json:"file"`
	Truncated bool   `json:"truncated"`
}

// inWords makes a tool's result something to say. A result of a shape that is not known is said as it is.
func inWords(result string) string {
	var w toolWords
	if json.Unmarshal([]byte(result), &w) != nil {
		return result
	}
	said := w.said()
	if said == "" {
		return result
	}
	if w.Truncated {
		said += "\n(there is more)"
	}
	return said
}

func (w *toolWords) said() string {
	switch {
	case w.Error != "" || w.Message != "":
		return cmp.Or(w.Message, w.Error)
	case w.Output != nil && w.ExitCode != 0:
		return strings.TrimRight(*w.Output, "\n") + fmt.Sprintf("\n(exit code %d)", w.ExitCode)
	case w.Output != nil:
		return cmp.Or(strings.TrimRight(*w.Output, "\n"), "Done, and it said nothing.")
	case w.Text != nil:
		return cmp.Or(strings.TrimRight(*w.Text, "\n"), "It is empty.")
	case w.Entries != nil:
		return w.listed("The folder is empty.", len(w.Entries), func(i int) string {
			if w.Entries[i].Type == "directory" {
				return w.Entries[i].Path + "/"
			}
			return w.Entries[i].Path
		})
	case w.Matches != nil:
		return w.listed("Nothing matches.", len(w.Matches), func(i int) string {
			return fmt.Sprintf("%s:%d: %s", w.Matches[i].Path, w.Matches[i].Line, w.Matches[i].Text)
		})
	case w.Shapes != nil:
		return w.listed("Nothing is drawn.", len(w.Shapes), func(i int) string {
			return strings.TrimSpace(w.Shapes[i].ID + ": " + w.Shapes[i].Color + " " + w.Shapes[i].Shape)
		})
	case w.File != "":
		return "It lies at " + w.File
	case w.Path != "":
		return "Done: " + w.Path
	default:
		return ""
	}
}

func (w *toolWords) listed(none string, count int, line func(int) string) string {
	if count == 0 {
		return none
	}
	lines := make([]string, count)
	for i := range lines {
		lines[i] = line(i)
	}
	return strings.Join(lines, "\n")
}
