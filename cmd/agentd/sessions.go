package main

import (
	"context"

	"github.com/spf13/cobra"

	"agentd/cmd/agentd/internal/home"
	"agentd/messages"
)

func newSessions(a *app) *cobra.Command {
	list := newList(a)
	cmd := &cobra.Command{
		Use: "sessions", Aliases: []string{"session"}, Short: "List, show, follow, export and delete sessions",
		Long: "Without a command below it, it lists the sessions. A session's id may be shortened, as the list shows it.",
		Args: cobra.NoArgs, RunE: list.RunE,
	}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list, newShow(a), newTail(a), newExport(a), newDelete(a))
	return cmd
}

// reading opens the data directory for reading, beside whoever owns it, and calls do.
func (a *app) reading(do func(dir home.Dir, reader *home.Reader) error) error {
	dir, err := a.home()
	if err != nil {
		return err
	}
	reader, err := dir.Read()
	if err != nil {
		return err
	}
	defer reader.Close()
	return do(dir, reader)
}

// readingSession is reading for one session that a person named.
func (a *app) readingSession(ctx context.Context, given string, do func(reader *home.Reader, head messages.Head) error) error {
	return a.reading(func(dir home.Dir, reader *home.Reader) error {
		id, err := dir.Resolve(reader, given)
		if err != nil {
			return err
		}
		head, err := reader.Head(ctx, id)
		if err != nil {
			return err
		}
		return do(reader, head)
	})
}

// oneSession is the argument of the commands that take a session.
func (a *app) oneSession(cmd *cobra.Command) *cobra.Command {
	cmd.Args = cobra.ExactArgs(1)
	cmd.ValidArgsFunction = completeFirst(a.completeSessions)
	return cmd
}
