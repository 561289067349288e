package agfcmd

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agentd/cmd/internal/screen"
	"agentd/providers/catalog"
	"agentd/providers/catalog/readers"
)

const (
	// maxCompletions is how many sessions are offered, the latest first.
	maxCompletions = 50
	// completionTime bounds what a press of Tab costs.
	completionTime = 2 * time.Second
)

// completeFunc offers words for the shell. It writes nothing, and says nothing about faults.
type completeFunc = func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective)

// complete sets what a flag's value is completed to.
func complete(cmd *cobra.Command, flag string, f completeFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // The flag was defined a line above.
	}
}

// completeAgents offers the names of agents.
func (f *finder) completeAgents(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var found []cobra.Completion
	for _, info := range catalog.Agents() {
		if strings.HasPrefix(string(info.ID), begun) && hasReader(info.ID) {
			found = append(found, cobra.CompletionWithDesc(string(info.ID), info.Name))
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

func hasReader(agent catalog.Agent) bool {
	for _, r := range readers.All() {
		if r.Agent() == agent {
			return true
		}
	}
	return false
}

// completeModes offers the resume modes of the agent that --agent names.
func (f *finder) completeModes(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	agent, ok := catalog.ParseAgent(cmd.Flag("agent").Value.String())
	var found []cobra.Completion
	for _, r := range readers.All() {
		if !ok || r.Agent() != agent {
			continue
		}
		for _, mode := range r.Modes() {
			about := strings.Join(mode.Args, " ")
			if mode.Unsafe {
				about += " (takes protection away)"
			}
			if strings.HasPrefix(mode.Name, begun) {
				found = append(found, cobra.CompletionWithDesc(mode.Name, about))
			}
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeSessions offers the ids of sessions of the agent that --agent names, the latest first.
func (f *finder) completeSessions(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	if len(args) > 0 {
		return nil, directive
	}
	cat, err := f.open(cmd, scope{agent: cmd.Flag("agent").Value.String(), project: cmd.Flag("project").Value.String()})
	if err != nil {
		return nil, directive
	}
	ctx, stop := context.WithTimeout(cmd.Context(), completionTime)
	defer stop()
	all, err := cat.List(ctx, catalog.SearchRequest{IncludeSummaries: true})
	if err != nil {
		return nil, directive
	}
	var found []cobra.Completion
	for i := range all.Sessions {
		s := &all.Sessions[i]
		if !strings.HasPrefix(s.SessionID, begun) || !plainWord(s.SessionID) || len(found) == maxCompletions {
			continue
		}
		line := string(s.Agent) + ", " + s.ProjectName + ", " + when(s.TimestampMS) + ": " + about(s)
		found = append(found, cobra.CompletionWithDesc(s.SessionID, screen.Truncate(screen.CleanLine(line), titleColumns)))
	}
	return found, directive
}

// plainWord reports whether a text means nothing but itself to every shell. Bash puts what is offered on the line as it is, and an id is
// whatever a file is called: one with a command in it would be run.
func plainWord(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("-_.:@/+", r)
	})
}

// cacheFolderKnown reports whether the system has a place for caches; without one a listing goes without.
func cacheFolderKnown() bool {
	_, err := os.UserCacheDir()
	return err == nil
}
