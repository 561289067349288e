package agfcmd

import (
	"context"

	"github.com/spf13/cobra"

	"agentd/providers/catalog"
)

func (f *finder) newShow() *cobra.Command {
	var e exact
	cmd := &cobra.Command{
		Use: "show SESSION-ID --agent AGENT", Short: "Show one session",
		Long:    "Show one session by its exact id, as one JSON envelope. Where several projects have a session of that id, name one with --project.",
		Example: "  agf show 7c0b6c1e-5a55-4a6e-9b6c-0d7b8a9e1f00 --agent claude --include-summaries",
	}
	cmd.RunE = f.answering(&e.scope, func(_ *cobra.Command, args []string) askFunc {
		req := catalog.ShowRequest{
			Agent: e.agent, SessionID: args[0], IncludeSummaries: e.texts, IncludeNonInteractive: e.nonInteractive,
			IncludeArchived: e.archived, Details: e.details,
		}
		return func(ctx context.Context, cat *catalog.Catalog) (any, error) { return cat.Show(ctx, req) }
	})
	f.exactFlags(cmd, &e)
	e.depth(cmd)
	return cmd
}
