package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// newHelp is the usual help command, except that to ask for help on what there is not is an error.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Help about any command", ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			topic, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return fmt.Errorf("there is no help on %q", strings.Join(args, " "))
			}
			topic.InitDefaultHelpFlag() // It stands in the list of flags.
			return topic.Help()
		},
	}
}
