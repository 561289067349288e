package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"agentd/cmd/internal/screen"
	"agentd/presets"
)

const (
	// maxCompletions is how many sessions are offered, the latest first.
	maxCompletions = 50
	// completionTime bounds what a press of Tab costs.
	completionTime = 2 * time.Second
)

// completeFunc offers words for the shell. It reads the data directory without taking it, and says nothing about faults.
type completeFunc = func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective)

// complete sets what a flag's value is completed to.
func complete(cmd *cobra.Command, flag string, f completeFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // The flag was defined a line above.
	}
}

// completeWords offers fixed words.
func completeWords(words ...string) completeFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var found []cobra.Completion
		for _, word := range words {
			if strings.HasPrefix(word, begun) {
				found = append(found, word)
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFirst completes the first argument only.
func completeFirst(f completeFunc) completeFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f(cmd, args, begun)
	}
}

// completeSessions offers the ids of sessions, the latest first, with what they are.
func (a *app) completeSessions(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	dir, err := a.home()
	if err != nil {
		return nil, directive
	}
	reader, err := dir.Read()
	if err != nil {
		return nil, directive
	}
	defer reader.Close()
	ids, err := reader.Recent(begun)
	if err != nil {
		return nil, directive
	}
	ctx, stop := context.WithTimeout(context.Background(), completionTime)
	defer stop()
	var found []cobra.Completion
	for _, id := range ids[:min(len(ids), maxCompletions)] {
		head, err := reader.Head(ctx, id)
		if err != nil || slices.Contains(args, string(id)) {
			continue
		}
		about := string(head.AgentID) + ", " + count(head.ItemCount, "item") + ", " + humanize.Time(time.Unix(head.UpdatedAt, 0))
		if head.Turn != nil && head.Turn.Result != "" {
			about += ": " + screen.Truncate(screen.CleanLine(head.Turn.Result), 40)
		}
		found = append(found, cobra.CompletionWithDesc(string(id), about))
	}
	return found, directive
}

// completeAgents offers the ids of agents.
func (a *app) completeAgents(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	agents, err := a.registered(spaceFlags{}, nil)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var found []cobra.Completion
	for _, agent := range agents.List() {
		if strings.HasPrefix(string(agent.ID), begun) {
			found = append(found, cobra.CompletionWithDesc(string(agent.ID), agent.Name))
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// completePresets offers the names of presets.
func (a *app) completePresets(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	dir, err := a.home()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	manager, err := loadPresets(cmd.Context(), dir, a.logger())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var found []cobra.Completion
	for _, preset := range manager.Presets() {
		if strings.HasPrefix(preset.Name, begun) {
			found = append(found, cobra.CompletionWithDesc(preset.Name, string(preset.Risk)))
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// completeGrants offers the ids of approvals.
func (a *app) completeGrants(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	dir, err := a.home()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	grants, err := dir.GrantFile().Load(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var found []cobra.Completion
	for _, grant := range liveGrants(grants, time.Now()) {
		if strings.HasPrefix(string(grant.ID), begun) {
			found = append(found, cobra.CompletionWithDesc(string(grant.ID), screen.CleanLine(grant.Name+" "+grant.Preview)))
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// liveGrants leaves out what has expired.
func liveGrants(grants []presets.Grant, now time.Time) []presets.Grant {
	var live []presets.Grant
	for _, grant := range grants {
		if grant.Live(now.Unix()) {
			live = append(live, grant)
		}
	}
	return live
}
