package main

import (
	"github.com/spf13/cobra"

	"agentd/providers/catalog"
)

func newPlan(c *command) *cobra.Command {
	var mode string
	cmd := &cobra.Command{
		Use: "resume-plan <session-id> --agent <agent>", Short: "Tell how a session would be resumed; start nothing", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cat, err := c.catalog(cmd)
			if err != nil {
				return err
			}
			req := catalog.PlanRequest{Agent: c.agent, SessionID: args[0], IncludeNonInteractive: c.nonInteractive, IncludeArchived: c.archived}
			if cmd.Flags().Changed("mode") {
				req.Mode = &mode
			}
			plan, err := cat.ResumePlan(cmd.Context(), req)
			return c.answer(cat, plan, err)
		},
	}
	c.scopeFlags(cmd)
	c.sessionFlags(cmd)
	cmd.Flags().StringVar(&mode, "mode", "", "the exact name of a resume mode; capabilities lists them")
	return cmd
}

func newCapabilities(c *command) *cobra.Command {
	cmd := &cobra.Command{
		Use: "capabilities", Short: "Tell what this program can do", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cat, err := c.catalog(cmd)
			if err != nil {
				return err
			}
			found, err := cat.Capabilities(cmd.Context(), c.details)
			return c.answer(cat, found, err)
		},
	}
	c.scopeFlags(cmd)
	return cmd
}
