package screen

import (
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// Table prints rows in columns under a heading, no line wider than width (0 is any width): what is over it is cut. Cells are
// cleaned here.
func Table(out io.Writer, styles Styles, width int, heading []string, rows [][]string) error {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	t.SetStyle(style)
	header := make(table.Row, len(heading))
	for i, cell := range heading {
		header[i] = styles.Dim(cell)
	}
	t.AppendRow(header)
	for _, row := range rows {
		cells := make(table.Row, len(row))
		for i, cell := range row {
			cells[i] = CleanLine(cell)
		}
		t.AppendRow(cells)
	}
	t.SuppressTrailingSpaces()
	for line := range strings.Lines(t.Render() + "\n") {
		if width > 0 {
			line = Truncate(strings.TrimSuffix(line, "\n"), width) + "\n"
		}
		if _, err := io.WriteString(out, line); err != nil {
			return err
		}
	}
	return nil
}
