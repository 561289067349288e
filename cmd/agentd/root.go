package main

import (
	"github.com/spf13/cobra"
)

const rootHelp = `agentd runs agents in durable sessions. What is said is on disk before it is acted on; a crash loses nothing that was acknowledged.

  agentd run "draw a red circle"    run one turn; run it again, and the session goes on
  agentd chat                       go on in a conversation
  agentd sessions                   see what there is`

// newRoot returns the command tree. Another front (agf, mcp, serve) is one more line here.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use: "agentd", Short: "Run agents in durable sessions", Long: rootHelp,
		SilenceErrors: true, SilenceUsage: true, Version: versionText(),
		Args: cobra.NoArgs, RunE: showHelp,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	flags := root.PersistentFlags()
	flags.StringVar(&a.dataDir, "data-dir", "", "keep everything in this `folder` (default: $AGENTD_HOME, else $XDG_DATA_HOME/agentd, else the system's place)")
	flags.StringVar(&a.workspace, "workspace", ".", "hold workspace tools and commands to this `folder`")
	flags.BoolVar(&a.noColor, "no-color", false, "use no colour (so does NO_COLOR)")
	flags.CountVarP(&a.verbose, "verbose", "v", "log to standard error; twice for more")
	root.AddGroup(&cobra.Group{ID: "talk", Title: "Talk:"}, &cobra.Group{ID: "see", Title: "See and decide:"}, &cobra.Group{ID: "keep", Title: "Keep:"})
	root.AddCommand(
		inGroup("talk", newRun(a)), inGroup("talk", newChat(a)), inGroup("talk", newMCP(a)),
		inGroup("see", newSessions(a)), inGroup("see", newAgents(a)), inGroup("see", newPresets(a)), inGroup("see", newApprovals(a)),
		inGroup("see", newAgf(a)),
		inGroup("keep", newDoctor(a)), inGroup("keep", newRepair(a)), inGroup("keep", newVersion(a)),
	)
	root.AddCommand(topics()...)
	a.markStart(root)
	root.SetHelpCommandGroupID("keep")
	root.SetCompletionCommandGroupID("keep")
	return root
}

func inGroup(group string, cmd *cobra.Command) *cobra.Command {
	cmd.GroupID = group
	return cmd
}

// markStart makes every command note that it began to run: an error before that is one of usage. Cobra's own hooks run before it has
// checked which flags go together.
func (a *app) markStart(cmd *cobra.Command) {
	if do := cmd.RunE; do != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			a.started = true
			return do(cmd, args)
		}
	}
	for _, below := range cmd.Commands() {
		a.markStart(below)
	}
}

// showHelp is what a command does that only has commands below it.
func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// topics are the pages of "agentd help TOPIC".
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "exit-codes", Short: "What the exit codes mean", Long: exitCodesTopic},
		{Use: "json-lines", Short: "What --json prints", Long: jsonLinesTopic},
		{Use: "files", Short: "What lies in the data directory", Long: filesTopic},
		{Use: "space", Short: "The agent that works with OpenCode", Long: spaceTopic},
	}
}

const filesTopic = `The data directory is --data-dir, else $AGENTD_HOME, else $XDG_DATA_HOME/agentd, else
~/.local/share/agentd (macOS: ~/Library/Application Support/agentd, Windows: %LocalAppData%\agentd).

  agent-sessions/SESSION.json      a session: its head in the first line, then an item a line
  agent-sessions/journal/          what is not in those files yet; empty after a clean end
  agent-sessions/quarantine/       what "agentd repair" moved aside
  agent-artifacts/SESSION/         files that the session's tools made, such as its drawing
  agent-approvals/grants.json      approvals for good ("agentd approvals")
  agent-presets/overrides.json     presets that were turned on or off ("agentd presets")
  agent-mcp/token                  what clients of "agentd mcp --http" prove themselves with
  agent-opencode/space.json        what the space agent is to use ("agentd help space"); you write it
  agent-opencode/                  what OpenCode is given and keeps
  chat-history                     lines typed in "agentd chat"
  LOCK                             held by the process that owns the directory, with its id in it`
