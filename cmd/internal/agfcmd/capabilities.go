package agfcmd

import (
	"context"

	"github.com/spf13/cobra"

	"agentd/providers/catalog"
)

func (f *finder) newCapabilities() *cobra.Command {
	var s scope
	var details bool
	cmd := &cobra.Command{
		Use: "capabilities", Short: "Tell what this program can do, and for which agents",
		Long: "Tell what this program can do, as one JSON envelope: its operations and limits, the agents within the scope, whether each is installed, and its resume modes. No agent is started.",
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.RunE = f.answering(&s, func(*cobra.Command, []string) askFunc {
		return func(ctx context.Context, cat *catalog.Catalog) (any, error) { return cat.Capabilities(ctx, details) }
	})
	f.scopeFlags(cmd, &s)
	cacheFlag(cmd, &s)
	cmd.Flags().BoolVar(&details, "details", false, "read the stores, and tell what was found in each and what was left out")
	return cmd
}
