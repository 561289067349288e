package main

import (
	"github.com/spf13/cobra"

	"agentd/cmd/internal/screen"
	"agentd/messages"
)

type agentLine struct {
	Kind  string           `json:"kind"`
	ID    messages.AgentID `json:"id"`
	Name  string           `json:"name"`
	Error string           `json:"error,omitempty"`
}

func newAgents(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "agents", Short: "List the agents that can be talked to", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error { return a.listAgents(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON lines; see \"agentd help json-lines\"")
	return cmd
}

func (a *app) listAgents(asJSON bool) error {
	agents, err := a.registered(spaceFlags{}, nil)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, agent := range agents.List() {
		line := agentLine{Kind: "agent", ID: agent.ID, Name: agent.Name}
		if agent.Err != nil {
			line.Error = agent.Err.Error()
		}
		if asJSON {
			if err := (jsonLines{a.stdout}).write(line); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, []string{string(line.ID), line.Name, line.Error})
	}
	if asJSON {
		return nil
	}
	columns, _ := a.size()
	return screen.Table(a.stdout, a.styles(), columns, []string{"AGENT", "NAME", "FAULT"}, rows)
}
