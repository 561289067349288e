package agfcmd

import (
	"context"

	"github.com/spf13/cobra"

	"agentd/providers/catalog"
)

const planHelp = `Tell how a session would be resumed, as one JSON envelope: the program, its literal arguments, the environment variables that it
needs, and the folder to start in. Nothing is started. A plan is data for a person to look at; never join it into a shell command.`

func (f *finder) newPlan() *cobra.Command {
	var e exact
	var mode string
	cmd := &cobra.Command{
		Use: "resume-plan SESSION-ID --agent AGENT", Short: "Tell how a session would be resumed; start nothing", Long: planHelp,
		Example: "  agf resume-plan 7c0b6c1e-5a55-4a6e-9b6c-0d7b8a9e1f00 --agent claude",
	}
	cmd.RunE = f.answering(&e.scope, func(cmd *cobra.Command, args []string) askFunc {
		req := catalog.PlanRequest{Agent: e.agent, SessionID: args[0], IncludeNonInteractive: e.nonInteractive, IncludeArchived: e.archived}
		if cmd.Flags().Changed("mode") {
			req.Mode = &mode
		}
		return func(ctx context.Context, cat *catalog.Catalog) (any, error) { return cat.ResumePlan(ctx, req) }
	})
	f.exactFlags(cmd, &e)
	cmd.Flags().StringVar(&mode, "mode", "", "the exact `name` of a resume mode; capabilities lists them")
	complete(cmd, "mode", f.completeModes)
	return cmd
}
