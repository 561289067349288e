package agfcmd

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"agentd/providers/catalog"
	"agentd/providers/catalog/readers"
)

// scope is what the flags --agent, --project and --cache say.
type scope struct {
	agent, project string
	cache          bool
}

// scopeFlags adds the flags of the scope to a command.
func (f *finder) scopeFlags(cmd *cobra.Command, s *scope) {
	cmd.Flags().StringVar(&s.agent, "agent", "", "only this `agent`, by name or alias")
	cmd.Flags().StringVar(&s.project, "project", "", "only this exact project `folder`")
	complete(cmd, "agent", f.completeAgents)
	markDir(cmd, "project")
}

// cacheFlag adds the flag that allows a command to write.
func cacheFlag(cmd *cobra.Command, s *scope) {
	cmd.Flags().BoolVar(&s.cache, "cache", false, "keep parsed heads in the user's cache folder, for speed; without it nothing is written")
}

// open returns the catalog for the scope of the flags. Its errors are those of [catalog.New]. A flag that is given and empty is refused: as a rule
// it is a variable of a script that is not set, and to look everywhere is not what was meant.
func (f *finder) open(cmd *cobra.Command, s scope) (*catalog.Catalog, error) {
	switch {
	case s.agent == "" && cmd.Flags().Changed("agent"):
		return nil, &catalog.Error{Code: catalog.InvalidAgent, Message: "the agent is empty; give its name, or leave the flag out"}
	case s.project == "" && cmd.Flags().Changed("project"):
		return nil, &catalog.Error{Code: catalog.InvalidRequest, Message: "the project is empty; give its folder, or leave the flag out"}
	}
	env := f.Env()
	opts := &catalog.Options{Version: f.Version, Agent: s.agent, Project: s.project, Env: &env, Logger: f.Logger()}
	if s.cache {
		dir, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("finding the cache folder: %w", err)
		}
		opts.CacheDir = filepath.Join(dir, "agf")
	}
	return catalog.New(readers.All(), opts)
}

// sessionFlags are those that say which sessions are wanted, and how much of them.
type sessionFlags struct {
	texts, nonInteractive, archived, details bool
}

// kinds adds the flags that say which sessions are wanted.
func (s *sessionFlags) kinds(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.nonInteractive, "include-non-interactive", false, "add sessions that no person held: headless runs, sub-agents")
	cmd.Flags().BoolVar(&s.archived, "include-archived", false, "add archived sessions")
}

// depth adds the flags that say how much of a session is wanted.
func (s *sessionFlags) depth(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.texts, "include-summaries", false, "add titles, prompts and recaps, and search them")
	cmd.Flags().BoolVar(&s.details, "details", false, "add parent, archived, start, repository, whether the project exists, and the store's file")
}

// exact says which session a command is about.
type exact struct {
	scope
	sessionFlags
}

// exactFlags adds what a command about one session takes.
func (f *finder) exactFlags(cmd *cobra.Command, e *exact) {
	f.scopeFlags(cmd, &e.scope)
	cacheFlag(cmd, &e.scope)
	e.kinds(cmd)
	cmd.Args = cobra.ExactArgs(1)
	cmd.ValidArgsFunction = f.completeSessions
	if err := cmd.MarkFlagRequired("agent"); err != nil {
		panic(err) // The flag was defined above.
	}
}

func markDir(cmd *cobra.Command, flag string) {
	if err := cmd.MarkFlagDirname(flag); err != nil {
		panic(err) // The flag was defined by the caller.
	}
}

// programName is how a person calls the tree that a command belongs to: "agf" or "agentd agf".
func programName(cmd *cobra.Command) string {
	for c := cmd; c != nil; c = c.Parent() {
		if c.Name() == "agf" {
			return c.CommandPath()
		}
	}
	return cmp.Or(cmd.Root().Name(), "agf")
}
