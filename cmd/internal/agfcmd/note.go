package agfcmd

import (
	"fmt"

	"agentd/cmd/internal/screen"
	"agentd/providers/catalog"
)

// note tells a person something beside the answer.
func (f *finder) note(format string, args ...any) {
	_, _ = fmt.Fprintln(f.Err, screen.CleanLine("agf: "+fmt.Sprintf(format, args...))) // There is no other place to report to.
}

// warn tells a person what an answer may lack.
func (f *finder) warn(warnings []catalog.Warning) {
	for _, w := range warnings {
		f.note("warning: %s: %s", w.Agent, w.Message)
	}
}
