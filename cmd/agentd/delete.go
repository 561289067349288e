package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"agentd/messages"
	"agentd/persistence"
)

type deleteParams struct{ yes, artifacts bool }

func newDelete(a *app) *cobra.Command {
	var p deleteParams
	cmd := &cobra.Command{
		Use: "delete SESSION...", Short: "Delete sessions for good", Args: cobra.MinimumNArgs(1), ValidArgsFunction: a.completeSessions,
		Long: "Delete sessions for good. In a terminal it asks first; anywhere else --yes has to say that it is meant. The files that the session's tools made stay, unless --artifacts is given.",
		RunE: func(cmd *cobra.Command, args []string) error { return a.delete(cmd.Context(), args, p) },
	}
	cmd.Flags().BoolVarP(&p.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&p.artifacts, "artifacts", false, "delete the files that the session's tools made as well")
	return cmd
}

func (a *app) delete(ctx context.Context, given []string, p deleteParams) (err error) {
	asker := a.newAsker()
	if !p.yes && asker == nil {
		return misuse("nobody can be asked here whether to delete %s: add --yes", count(len(given), "session"))
	}
	h, err := a.host(ctx, hostOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.stop()) }()
	var ids []messages.SessionID
	for _, text := range given {
		id, err := h.deletable(ctx, text)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	for _, id := range ids {
		if err := a.deleteOne(ctx, h, id, deleteQuestion{asker: asker, deleteParams: p}); err != nil {
			return err
		}
	}
	return nil
}

// deletable returns the session that a person named. One that cannot be read can be deleted.
func (h *host) deletable(ctx context.Context, given string) (messages.SessionID, error) {
	id, err := h.dir.Resolve(h.store, given)
	if err != nil {
		return "", err
	}
	if _, err := h.store.Head(ctx, id); isNotFound(err) {
		return "", fmt.Errorf("deleting session %q: %w", id, err)
	}
	return id, nil
}

type deleteQuestion struct {
	asker *asker
	deleteParams
}

func (a *app) deleteOne(ctx context.Context, h *host, id messages.SessionID, q deleteQuestion) error {
	if !q.yes {
		sure, err := q.asker.confirm(fmt.Sprintf("Delete session %s (%s) for good?", id, h.describe(ctx, id)))
		if err != nil {
			return err
		}
		if !sure {
			_, err := fmt.Fprintln(a.stdout, "kept", id)
			return err
		}
	}
	if err := h.runtime.DeleteSession(ctx, id); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(a.stdout, "deleted", id); err != nil {
		return err
	}
	folder := filepath.Join(h.dir.Artifacts(), string(id))
	if _, err := os.Stat(folder); err != nil {
		return nil //nolint:nilerr // Its tools made nothing.
	}
	if !q.artifacts {
		_, err := fmt.Fprintln(a.stdout, "the files of its tools stay in", folder)
		return err
	}
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("deleting the artifacts of session %q: %w", id, err)
	}
	return nil
}

// describe says in a few words what would be lost.
func (h *host) describe(ctx context.Context, id messages.SessionID) string {
	head, err := h.store.Head(ctx, id)
	switch {
	case errors.Is(err, persistence.ErrCorrupt), errors.Is(err, persistence.ErrSchema):
		return "it cannot be read"
	case err != nil:
		return err.Error()
	default:
		return fmt.Sprintf("%s, agent %s", count(head.ItemCount, "item"), head.AgentID)
	}
}
