package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/lmittmann/tint"
	"github.com/spf13/cobra"

	"agentd/cmd/internal/agfcmd"
	"agentd/cmd/internal/screen"
)

// version is set by the linker in a release build.
var version = "0.1.0-dev"

// run runs one command and returns the exit code.
func run(ctx context.Context, p program) int {
	root := newRoot(&p)
	root.SetArgs(p.args)
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	err := root.ExecuteContext(ctx)
	code := agfcmd.ExitCode(err)
	var failed *agfcmd.Error
	switch ran := errors.As(err, &failed); {
	case err == nil || ran && failed.Err == nil:
	case ran && code != agfcmd.ExitUsage:
		p.complain(err)
	default:
		p.complain(err)
		p.complain(errors.New(`run "agf --help", or "agf COMMAND --help", to see what there is`))
	}
	return code
}

// complain writes a line to standard error.
func (p *program) complain(err error) {
	_, _ = fmt.Fprintln(p.stderr, screen.Clean("agf: "+err.Error())) // There is no other place to report to.
}

// newRoot returns the command tree with the flags that belong to the program.
func newRoot(p *program) *cobra.Command {
	var noColor bool
	var verbose int
	colours := func(stream any) bool {
		_, terminal := screen.Terminal(stream)
		return terminal && !noColor && p.getenv("NO_COLOR") == "" && p.getenv("TERM") != "dumb"
	}
	root := agfcmd.New(agfcmd.Params{
		Version: version, In: p.stdin, Out: p.stdout, Err: p.stderr,
		Styles: func() screen.Styles { return screen.NewStyles(colours(p.stdout)) },
		Logger: func() *slog.Logger {
			if verbose == 0 {
				return slog.New(slog.DiscardHandler)
			}
			level := slog.LevelInfo
			if verbose > 1 {
				level = slog.LevelDebug
			}
			return slog.New(tint.NewHandler(p.stderr, &tint.Options{Level: level, NoColor: !colours(p.stderr)}))
		},
	})
	root.SetHelpCommand(newHelp(root))
	root.Version = version
	root.SetVersionTemplate("agf {{.Version}}\n")
	root.PersistentFlags().BoolVar(&noColor, "no-color", false, "use no colour (so does NO_COLOR)")
	root.PersistentFlags().CountVarP(&verbose, "verbose", "v", "log to standard error; twice for more")
	return root
}
