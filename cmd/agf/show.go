package main

import (
	"github.com/spf13/cobra"

	"agentd/providers/catalog"
)

func newShow(c *command) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show <session-id> --agent <agent>", Short: "Show one session", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cat, err := c.catalog(cmd)
			if err != nil {
				return err
			}
			found, err := cat.Show(cmd.Context(), catalog.ShowRequest{
				Agent: c.agent, SessionID: args[0], IncludeSummaries: c.texts, IncludeNonInteractive: c.nonInteractive,
				IncludeArchived: c.archived, Details: c.details,
			})
			return c.answer(cat, found, err)
		},
	}
	c.scopeFlags(cmd)
	c.sessionFlags(cmd)
	c.textFlag(cmd)
	return cmd
}
