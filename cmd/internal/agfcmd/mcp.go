package agfcmd

import (
	"github.com/spf13/cobra"

	"agentd/providers/catalog"
)

const mcpHelp = `Serve the finder to an agent as read-only MCP tools over standard input and output: agf_search_sessions, agf_get_session, agf_resume_plan
and agf_capabilities. An agent's program starts this command; see docs/clients.md for how it is configured.

--agent and --project limit every answer for as long as the server runs; a call can narrow them and not widen them. They filter
answers; they are no sandbox. With --extended calls may ask for details, archived sessions and full-text search, and there is a fifth tool,
agf_read_session, which shows what was said.`

func (f *finder) newMCP() *cobra.Command {
	var s scope
	var extended bool
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve the finder to an agent, over stdio", Long: mcpHelp,
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		Example: "  agf mcp --agent codex --project /home/me/code/web-app",
	}
	cmd.RunE = running(func(cmd *cobra.Command, _ []string) error {
		cat, err := f.open(cmd, s)
		if err != nil {
			return err
		}
		return cat.ServeMCP(cmd.Context(), f.In, f.Out, &catalog.MCPOptions{Extended: extended, Logger: f.Logger()})
	})
	f.scopeFlags(cmd, &s)
	cacheFlag(cmd, &s)
	cmd.Flags().BoolVar(&extended, "extended", false, "add arguments beyond the default contract, and the tool agf_read_session")
	return cmd
}
