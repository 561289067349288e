package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"agentd/cmd/internal/screen"
	"agentd/presets"
)

type grantLine struct {
	Kind  string        `json:"kind"`
	Grant presets.Grant `json:"grant"`
}

func newApprovals(a *app) *cobra.Command {
	var asJSON bool
	list := &cobra.Command{
		Use: "list", Short: "List what is approved always", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listApprovals(cmd.Context(), asJSON) },
	}
	list.Flags().BoolVar(&asJSON, "json", false, "print JSON lines; see \"agentd help json-lines\"")
	revoke := &cobra.Command{
		Use: "revoke ID...", Short: "Take approvals back", Args: cobra.MinimumNArgs(1), ValidArgsFunction: a.completeGrants,
		RunE: func(cmd *cobra.Command, args []string) error { return a.revoke(cmd.Context(), args) },
	}
	cmd := &cobra.Command{
		Use: "approvals", Aliases: []string{"approval"}, Short: "See what was approved always, and take it back",
		Long: "An approval that was given with \"always\" covers one exact call: this tool with these arguments. Without a command below it, it lists them.",
		Args: cobra.NoArgs, RunE: list.RunE,
	}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list, revoke)
	return cmd
}

func (a *app) listApprovals(ctx context.Context, asJSON bool) error {
	dir, err := a.home()
	if err != nil {
		return err
	}
	grants, err := dir.GrantFile().Load(ctx)
	if err != nil {
		return err
	}
	grants = liveGrants(grants, time.Now())
	columns, _ := a.size()
	if asJSON {
		for _, grant := range grants {
			if err := (jsonLines{a.stdout}).write(grantLine{Kind: "approval", Grant: grant}); err != nil {
				return err
			}
		}
		return nil
	}
	if len(grants) == 0 {
		if columns > 0 {
			a.complain("Nothing is approved always.")
		}
		return nil
	}
	rows := make([][]string, len(grants))
	for i, grant := range grants {
		expires := "never"
		if grant.ExpiresAt != 0 {
			expires = humanize.Time(time.Unix(grant.ExpiresAt, 0))
		}
		rows[i] = []string{string(grant.ID), grant.Name, screen.Truncate(screen.CleanLine(grant.Preview), previewColumns), string(grant.Risk), scopeText(grant.Scope), humanize.Time(time.Unix(grant.CreatedAt, 0)), expires}
	}
	return screen.Table(a.stdout, a.styles(), columns, []string{"APPROVAL", "TOOL", "ARGUMENTS", "RISK", "FOR", "GIVEN", "EXPIRES"}, rows)
}

// previewColumns is how much of a call's arguments a line shows; --json has all of the preview.
const previewColumns = 40

func scopeText(scope presets.Scope) string {
	switch {
	case scope.SessionID != "":
		return "session " + string(scope.SessionID)
	case scope.AgentID != "":
		return "agent " + string(scope.AgentID)
	default:
		return "all"
	}
}

// revoke takes grants back, one after the other, up to the first that is unknown.
func (a *app) revoke(ctx context.Context, ids []string) (err error) {
	h, err := a.host(ctx, hostOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.stop()) }()
	for _, id := range ids {
		if err := h.runtime.Approvals().Revoke(ctx, presets.GrantID(id)); err != nil {
			return fmt.Errorf("revoking %q: %w", id, err)
		}
		if _, err := fmt.Fprintln(a.stdout, "revoked", screen.CleanLine(id)); err != nil {
			return err
		}
	}
	return nil
}
