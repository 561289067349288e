package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentd/cmd/internal/screen"
	"agentd/persistence"
	"agentd/persistence/jsonfile"
)

const repairHelp = `Salvage a data directory that something else damaged. agentd names it when it finds one, and never guesses by itself.

Nothing is deleted: damaged pieces and the files that are replaced go to agent-sessions/quarantine, with a copy of the report. Sessions end at
their last good record; the others are not touched. No other agentd may own the directory meanwhile.`

func newRepair(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "repair", Short: "Salvage a damaged data directory", Long: repairHelp, Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error { return a.repair(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as one JSON object")
	return cmd
}

func (a *app) repair(asJSON bool) error {
	dir, err := a.home()
	if err != nil {
		return err
	}
	switch exists, err := dir.Exists(); {
	case err != nil:
		return err
	case !exists:
		return fmt.Errorf("there is no data directory %q: %w", dir.Path(), persistence.ErrNotFound)
	}
	report, err := jsonfile.Repair(dir.Path())
	if err != nil {
		return err
	}
	if asJSON {
		return jsonLines{a.stdout}.write(report)
	}
	return writeReport(a.stdout, report)
}

func writeReport(out io.Writer, report jsonfile.RepairReport) error {
	if !report.Damaged() {
		_, err := fmt.Fprintf(out, "nothing is damaged: %s in the journal, all good\n", count(report.Records, "record"))
		return err
	}
	var lines []string
	line := func(format string, args ...any) {
		lines = append(lines, screen.CleanLine(fmt.Sprintf(format, args...)))
	}
	line("%s of the journal are good", count(report.Records, "record"))
	for _, bad := range report.BadLines {
		line("damaged      %s:%d: %d bytes: %s", bad.File, bad.Line, bad.Bytes, bad.Reason)
	}
	for _, session := range report.Sessions {
		line("session      %s: %s, last change %d, %s lost", session.ID, count(session.Items, "item"), session.LastSeq, count(session.Lost, "later record"))
		for _, note := range session.Notes {
			line("             %s", note)
		}
	}
	for _, path := range report.Untouched {
		line("untouched    %s", path)
	}
	if report.Quarantine != "" {
		line("quarantine   %s", report.Quarantine)
	}
	for _, text := range lines {
		if _, err := fmt.Fprintln(out, text); err != nil {
			return err
		}
	}
	return nil
}
