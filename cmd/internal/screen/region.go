package screen

import (
	"fmt"
	"io"
	"strings"
)

// Region is a block of rows at the bottom of a terminal that may still change. Rows that have not changed are not
// drawn again, so that growing text only costs its last row. It belongs to one goroutine; nothing else may write to the terminal while it has rows.
type Region struct {
	out io.Writer
	// height is how many rows can be reached: what has scrolled off cannot be changed.
	height int
	rows   []string
}

// NewRegion returns an empty region.
func NewRegion(out io.Writer) *Region { return &Region{out: out} }

// Resize says how many rows the terminal has.
func (r *Region) Resize(height int) { r.height = height }

// Empty reports whether the region has no rows.
func (r *Region) Empty() bool { return len(r.rows) == 0 }

// Update makes the region show these rows. Each fits the terminal's width. A changed row that has scrolled off stays as it was
// printed, and Update returns false: what stands on the screen is then not what was asked for.
func (r *Region) Update(rows []string) (whole bool, err error) {
	same := 0
	for same < len(r.rows) && same < len(rows) && r.rows[same] == rows[same] {
		same++
	}
	up := len(r.rows) - same
	whole = true
	if reach := max(r.height-1, 1); up > reach {
		whole = same >= len(r.rows)-reach
		up = reach
		same = len(r.rows) - reach
	}
	if up == 0 && same == len(rows) {
		return whole, nil
	}
	var out strings.Builder
	if up > 0 {
		fmt.Fprintf(&out, "\x1b[%dA\r\x1b[J", up)
	}
	for _, row := range rows[min(same, len(rows)):] {
		out.WriteString(row)
		out.WriteByte('\n')
	}
	r.rows = append(r.rows[:min(same, len(rows))], rows[min(same, len(rows)):]...)
	_, err = io.WriteString(r.out, out.String())
	return whole, err
}

// Commit leaves the rows as they are, for good.
func (r *Region) Commit() { r.rows = nil }

// Clear takes the rows away, as far as they can be reached.
func (r *Region) Clear() error {
	_, err := r.Update(nil)
	r.rows = nil
	return err
}
