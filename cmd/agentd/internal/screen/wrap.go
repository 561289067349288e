package screen

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

const tabWidth = 4

// Width is how many columns a line takes. Escapes of colour take none.
func Width(line string) int { return ansi.StringWidth(line) }

// Wrap breaks clean text into rows of at most width columns, at spaces where it can. A width of 0 or less does not break lines. Tabs become
// spaces, since their width depends on where they stand. Empty text is one empty row.
func Wrap(text string, width int) []string {
	text = strings.ReplaceAll(text, "\t", strings.Repeat(" ", tabWidth))
	if width > 0 {
		text = ansi.Wrap(text, width, "")
	}
	return strings.Split(text, "\n")
}

// Truncate cuts a line to width columns, with an ellipsis at the end when something is missing.
func Truncate(line string, width int) string {
	if width <= 0 {
		return ""
	}
	return ansi.Truncate(line, width, "…")
}
