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
	lines := strings.Split(text, "\n")
	if width <= 0 {
		return lines
	}
	var rows []string
	for _, line := range lines {
		rows = wrapLine(rows, line, width)
	}
	return rows
}

// wrapLine breaks one line behind its words. It does not break at hyphens, which ids and paths are full of.
func wrapLine(rows []string, line string, width int) []string {
	row, columns := "", 0
	for _, word := range strings.SplitAfter(line, " ") {
		bare := strings.TrimSuffix(word, " ")
		if columns+Width(bare) > width && columns > 0 {
			rows, row, columns = append(rows, strings.TrimRight(row, " ")), "", 0
		}
		for Width(bare) > width {
			head := ansi.Truncate(bare, width, "")
			if head == "" {
				break // One character is wider than the terminal.
			}
			rows, word, bare = append(rows, head), word[len(head):], bare[len(head):]
		}
		row, columns = row+word, columns+Width(word)
	}
	if columns > width {
		row = strings.TrimRight(row, " ")
	}
	return append(rows, row)
}

// Truncate cuts a line to width columns, with an ellipsis at the end when something is missing.
func Truncate(line string, width int) string {
	if width <= 0 {
		return ""
	}
	return ansi.Truncate(line, width, "…")
}
