package main

import (
	"errors"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"agentd/cmd/internal/agfcmd"
	"agentd/providers/catalog"
)

// newAgf returns the session finder, which is program agf's whole tree: the same commands, answers and exit codes.
func newAgf(a *app) *cobra.Command {
	root := agfcmd.New(agfcmd.Params{
		Version: version, In: a.stdin, Out: a.stdout, Err: a.stderr,
		Env: a.finderEnv, Styles: a.styles, Logger: a.logger,
	})
	a.tellEnds(root)
	root.AddCommand(newAgfHelp(root))
	return root
}

// newAgfHelp makes "agentd agf help TOPIC" what "agf help TOPIC" is.
func newAgfHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Help about any command", ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			topic := root
			for _, name := range args {
				i := slices.IndexFunc(topic.Commands(), func(c *cobra.Command) bool { return c.Name() == name })
				if i < 0 {
					return misuse("there is no help on %q", name)
				}
				topic = topic.Commands()[i]
			}
			return topic.Help()
		},
	}
}

// finderEnv is where the finder looks. The sessions of agentd itself are in the data directory that was given.
func (a *app) finderEnv() catalog.Env {
	env := catalog.HostEnv()
	if a.dataDir != "" {
		env.Vars = maps.Clone(env.Vars)
		env.Vars["AGENTD_HOME"] = env.Abs(a.dataDir)
	}
	return env
}

// tellEnds makes the commands below end with the finder's own exit codes.
func (a *app) tellEnds(cmd *cobra.Command) {
	if do := cmd.RunE; do != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			err := do(cmd, args)
			var failed *agfcmd.Error
			switch {
			case !errors.As(err, &failed):
				return err
			case failed.Code == agfcmd.ExitUsage:
				return &usageError{err: failed}
			case failed.Err != nil:
				a.complain("agentd agf: %s", failed)
			}
			return &toldError{code: failed.Code}
		}
	}
	for _, below := range cmd.Commands() {
		a.tellEnds(below)
	}
}
