package agfcmd

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"agentd/cmd/internal/screen"
	"agentd/providers/catalog"
)

const doctorHelp = `Look at every store and tell where it is, how many files were seen, how many sessions were listed, and what was left out and why.
Sessions that no person held, and archived ones, are counted apart, because a listing shows them only when asked. What may be a loss is named below the table. A store that is not there is no fault. Nothing is repaired, and nothing is written.`

// diagnosis is what "doctor --json" answers.
type diagnosis struct {
	Stores []catalog.Report `json:"stores"`
}

func (f *finder) newDoctor() *cobra.Command {
	var s scope
	var asJSON, all bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Tell what was found in each store, and what was left out and why", Long: doctorHelp,
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
	}
	jsonRun := f.answering(&s, func(*cobra.Command, []string) askFunc { return diagnose })
	textRun := running(func(cmd *cobra.Command, _ []string) error {
		cat, err := f.open(cmd, s)
		if err != nil {
			return err
		}
		reports, err := cat.Doctor(cmd.Context())
		if err != nil {
			return err
		}
		return f.printReports(reports, all)
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if asJSON {
			return jsonRun(cmd, args)
		}
		return textRun(cmd, args)
	}
	cmd.Flags().StringVar(&s.agent, "agent", "", "only this `agent`, by name or alias")
	complete(cmd, "agent", f.completeAgents)
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer with one JSON envelope")
	cmd.Flags().BoolVar(&all, "all", false, "also show agents that have no store, and name what was left out by its nature")
	return cmd
}

func diagnose(ctx context.Context, cat *catalog.Catalog) (any, error) {
	reports, err := cat.Doctor(ctx)
	return diagnosis{Stores: reports}, err
}

// printReports prints the reports for a person: a table, and below it what may be a loss.
func (f *finder) printReports(reports []catalog.Report, all bool) error {
	styles, out := f.Styles(), bufio.NewWriter(f.Out)
	columns, _ := screen.Size(f.Out)
	home := f.Env().Home
	var rows [][]string
	var absent []string
	for i := range reports {
		r := &reports[i]
		if !present(r) && !all {
			absent = append(absent, string(r.Agent))
			continue
		}
		rows = append(rows, []string{string(r.Agent), place(r, home), strconv.Itoa(r.Seen), sessions(r), leftOut(r)})
	}
	if err := printStores(out, styles, columns, rows); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	for i := range reports {
		for _, line := range faults(&reports[i], all) {
			_, _ = fmt.Fprintln(out, styles.Warn(string(reports[i].Agent)+":"), screen.CleanLine(line)) // Flush tells.
		}
	}
	if len(absent) > 0 {
		_, _ = fmt.Fprintln(out, styles.Dim("No store of "+strings.Join(absent, ", ")+".")) // Likewise.
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// printStores prints the table, of cells as wide as they are. Where it has no room for all, what was left out stands below it, and the places come
// last, because their ends can be done without.
func printStores(out io.Writer, styles screen.Styles, columns int, rows [][]string) error {
	heading := []string{"AGENT", "STORE", "FILES", "SESSIONS", "LEFT OUT"}
	if len(rows) == 0 {
		return nil
	}
	if columns == 0 || tableWidth(append(rows, heading)) <= columns {
		return screen.Table(out, styles, columns, heading, rows)
	}
	short := make([][]string, len(rows))
	for i, row := range rows {
		short[i] = []string{row[0], row[2], row[3], row[1]}
	}
	if err := screen.Table(out, styles, columns, []string{"AGENT", "FILES", "SESSIONS", "STORE"}, short); err != nil {
		return err
	}
	for _, row := range rows {
		if row[4] == nothing {
			continue
		}
		for _, line := range screen.Wrap(row[0]+" left out: "+screen.CleanLine(row[4]), columns) {
			if _, err := fmt.Fprintln(out, line); err != nil {
				return err
			}
		}
	}
	return nil
}

// tableWidth is how many columns the rows take, with two between cells.
func tableWidth(rows [][]string) int {
	total := 2 * (len(rows[0]) - 1)
	for column := range rows[0] {
		widest := 0
		for _, row := range rows {
			widest = max(widest, screen.Width(screen.CleanLine(row[column])))
		}
		total += widest
	}
	return total
}

// present reports whether there is anything of an agent.
func present(r *catalog.Report) bool {
	for _, root := range r.Roots {
		if root.Exists || root.Missing {
			return true
		}
	}
	return r.Seen > 0 || r.Error != ""
}

// place names the roots of a store: those that exist, or the first one.
func place(r *catalog.Report, home string) string {
	var found []string
	for _, root := range r.Roots {
		if root.Exists {
			found = append(found, inHome(root.Path, home)+from(root.Var))
		}
	}
	if len(found) == 0 && len(r.Roots) > 0 {
		return inHome(r.Roots[0].Path, home) + from(r.Roots[0].Var) + " (not there)"
	}
	return strings.Join(found, ", ")
}

func from(variable string) string {
	if variable == "" {
		return ""
	}
	return " ($" + variable + ")"
}

// inHome writes a path below the home directory with a tilde.
func inHome(path, home string) string {
	if rest, ok := strings.CutPrefix(path, home); ok && home != "" && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
		return "~" + rest
	}
	return path
}

// sessions counts the sessions, and those among them that only an option lists.
func sessions(r *catalog.Report) string {
	var parts []string
	if r.NonInteractive > 0 {
		parts = append(parts, fmt.Sprintf("%d non-interactive", r.NonInteractive))
	}
	if r.Archived > 0 {
		parts = append(parts, fmt.Sprintf("%d archived", r.Archived))
	}
	if len(parts) == 0 {
		return strconv.Itoa(r.Listed)
	}
	return fmt.Sprintf("%d (%s)", r.Listed, strings.Join(parts, ", "))
}

// nothing stands where nothing was left out.
const nothing = "-"

// leftOut counts what was left out by reason.
func leftOut(r *catalog.Report) string {
	parts := make([]string, 0, len(r.Skipped))
	for _, s := range r.Skipped {
		parts = append(parts, fmt.Sprintf("%d %s", s.Count, strings.ReplaceAll(string(s.Reason), "_", " ")))
	}
	return cmp.Or(strings.Join(parts, ", "), nothing)
}

// faults says what may be lost and where it is.
func faults(r *catalog.Report, all bool) []string {
	var lines []string
	if r.Error != "" {
		lines = append(lines, "the store cannot be read: "+r.Error)
	}
	for _, root := range r.Roots {
		if root.Missing {
			lines = append(lines, "$"+root.Var+" is set, and "+root.Path+" does not exist; mend it or take it away")
		}
	}
	for _, s := range r.Skipped {
		if s.Reason.Loss() || all {
			line := fmt.Sprintf("%d %s: %s", s.Count, strings.ReplaceAll(string(s.Reason), "_", " "), strings.Join(s.Samples, ", "))
			if s.Count > len(s.Samples) {
				line += ", …"
			}
			lines = append(lines, line)
		}
	}
	return lines
}
