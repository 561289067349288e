package agfcmd

import (
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"agentd/cmd/internal/screen"
	"agentd/providers/catalog"
)

// Params is what the tree is given by the program that it is part of.
type Params struct {
	// Version is the program's version; it stands in every envelope. Required.
	Version string
	// In, Out and Err are the standard streams. Required.
	In       io.Reader
	Out, Err io.Writer
	// Env returns the surroundings in which stores are looked for. It is called when a command runs. Nil means [catalog.HostEnv].
	Env func() catalog.Env
	// Styles returns the colours for Out. It is called when a command runs. Nil means none.
	Styles func() screen.Styles
	// Logger returns where diagnostics go. It is called when a command runs. Nil means nowhere.
	Logger func() *slog.Logger
}

// finder is the tree: what it was given, and what its commands share.
type finder struct{ Params }

const rootHelp = `agf finds the sessions that coding agents left on this machine: Claude Code, Codex, Gemini CLI, OpenCode and others. It reads
their stores and changes nothing; it starts no agent and uses no network.

  agf list parser          the sessions that match, for a person
  agf search parser        the same as JSON, for a program
  agf doctor               what was found in each store, and what was left out and why
  agf mcp                  serve four read-only tools to an agent, over stdio`

// New returns the tree. The program around it sets the version text and adds flags of its own, such as for Logger and Styles. Errors of its
// execution are for [ExitCode].
func New(p Params) *cobra.Command {
	if p.Env == nil {
		p.Env = catalog.HostEnv
	}
	if p.Styles == nil {
		p.Styles = func() screen.Styles { return screen.Styles{} }
	}
	if p.Logger == nil {
		p.Logger = func() *slog.Logger { return slog.New(slog.DiscardHandler) }
	}
	f := &finder{p}
	root := &cobra.Command{
		Use: "agf", Short: "Find the sessions of coding agents on this machine", Long: rootHelp,
		SilenceErrors: true, SilenceUsage: true,
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddGroup(&cobra.Group{ID: "people", Title: "For people:"}, &cobra.Group{ID: "programs", Title: "For programs, as JSON:"})
	for _, cmd := range []*cobra.Command{f.newList(), f.newDoctor()} {
		cmd.GroupID = "people"
		root.AddCommand(cmd)
	}
	for _, cmd := range []*cobra.Command{f.newSearch(), f.newShow(), f.newPlan(), f.newRead(), f.newCapabilities(), f.newMCP()} {
		cmd.GroupID = "programs"
		root.AddCommand(cmd)
	}
	root.AddCommand(topics()...)
	return root
}
