package agfcmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"agentd/cmd/internal/screen"
	"agentd/providers/catalog"
)

// note tells a person something beside the answer, in the name of the program that was called.
func (f *finder) note(cmd *cobra.Command, format string, args ...any) {
	_, _ = fmt.Fprintln(f.Err, screen.CleanLine(programName(cmd)+": "+fmt.Sprintf(format, args...))) // There is no other place to report to.
}

// warn tells a person what an answer may lack.
func (f *finder) warn(cmd *cobra.Command, warnings []catalog.Warning) {
	for _, w := range warnings {
		f.note(cmd, "warning: %s: %s", w.Agent, w.Message)
	}
}
