package main

import (
	"context"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"agentd/cmd/agentd/internal/home"
	"agentd/cmd/internal/screen"
	"agentd/messages"
	"agentd/persistence"
)

type listParams struct {
	asJSON bool
	limit  int
	agent  string
}

func newList(a *app) *cobra.Command {
	var p listParams
	cmd := &cobra.Command{
		Use: "list", Short: "List the sessions, the latest first", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p.limit < 0 {
				return misuse("--limit %d: give 0 for all, or how many", p.limit)
			}
			return a.list(cmd.Context(), p)
		},
	}
	cmd.Flags().BoolVar(&p.asJSON, "json", false, "print JSON lines; see \"agentd help json-lines\"")
	cmd.Flags().IntVarP(&p.limit, "limit", "n", 0, "list at most this `number` of sessions; 0 is all")
	cmd.Flags().StringVar(&p.agent, "agent", "", "only sessions of this `agent`")
	complete(cmd, "agent", a.completeAgents)
	return cmd
}

func (a *app) list(ctx context.Context, p listParams) error {
	return a.reading(func(_ home.Dir, reader *home.Reader) error {
		listing, err := reader.List(ctx)
		if err != nil {
			return err
		}
		heads := filter(listing.Sessions, messages.AgentID(p.agent))
		if p.limit > 0 {
			heads = heads[:min(p.limit, len(heads))]
		}
		if p.asJSON {
			return a.listJSON(heads, listing.Bad)
		}
		if err := a.listTable(heads, listing.Sessions); err != nil {
			return err
		}
		for _, bad := range listing.Bad {
			a.complain("agentd: session %q cannot be read, the others can: %s", bad.ID, bad.Err)
		}
		return nil
	})
}

func filter(heads []messages.Head, agent messages.AgentID) []messages.Head {
	if agent == "" {
		return heads
	}
	var found []messages.Head
	for _, head := range heads {
		if head.AgentID == agent {
			found = append(found, head)
		}
	}
	return found
}

func (a *app) listJSON(heads []messages.Head, bad []persistence.BadSession) error {
	lines := jsonLines{a.stdout}
	for _, head := range heads {
		if err := lines.write(headLine{Kind: "session", Session: head}); err != nil {
			return err
		}
	}
	for _, b := range bad {
		if err := lines.write(newBadLine(b)); err != nil {
			return err
		}
	}
	return nil
}

// lastColumns is how much of the last answer is shown where lines are not cut to a terminal.
const lastColumns = 60

func (a *app) listTable(heads, all []messages.Head) error {
	columns, _ := a.size()
	if len(heads) == 0 {
		if columns > 0 {
			a.complain("There are no sessions yet. Begin one: agentd run \"draw a red circle\"")
		}
		return nil
	}
	ids := make([]messages.SessionID, len(all))
	for i, head := range all {
		ids[i] = head.ID
	}
	short := home.Shorten(ids)
	rows := make([][]string, len(heads))
	for i, head := range heads {
		id := string(head.ID)
		if columns > 0 {
			id = short[head.ID] // A pipe gets whole ids, which stay right when there are more sessions.
		}
		status, last := string(head.Status), ""
		if head.Turn != nil {
			if head.Turn.Status.Terminal() {
				status = string(head.Turn.Status)
			}
			last = screen.Truncate(screen.CleanLine(head.Turn.Result+head.Turn.Error), lastColumns)
		}
		rows[i] = []string{id, string(head.AgentID), status, strconv.Itoa(head.TurnCount), strconv.Itoa(head.ItemCount), humanize.Time(time.Unix(head.UpdatedAt, 0)), last}
	}
	return screen.Table(a.stdout, a.styles(), columns, []string{"SESSION", "AGENT", "LAST TURN", "TURNS", "ITEMS", "CHANGED", "LAST ANSWER"}, rows)
}
