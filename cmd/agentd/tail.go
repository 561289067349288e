package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"agentd/cmd/agentd/internal/home"
	"agentd/messages"
	"agentd/persistence"
)

const (
	// followEvery is how often a followed session is looked at.
	followEvery = 250 * time.Millisecond
	// followPage is how many items are read at a time to find those that changed.
	followPage = 50
)

type tailParams struct {
	asJSON, full, follow bool
	limit                int
}

func newTail(a *app) *cobra.Command {
	var p tailParams
	cmd := a.oneSession(&cobra.Command{
		Use: "tail SESSION", Short: "Show the end of a session, and follow it",
		Long: `Show the last items of a session; with -f, go on with what happens in it, also when another agentd runs it. Ctrl-C ends it.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if p.limit < 0 || p.limit > persistence.MaxPageItems {
				return misuse("--limit %d: give 0 to %d", p.limit, persistence.MaxPageItems)
			}
			return a.tail(cmd.Context(), args[0], p)
		},
	})
	cmd.Flags().BoolVarP(&p.follow, "follow", "f", false, "go on with what happens from now on")
	cmd.Flags().BoolVar(&p.asJSON, "json", false, "print JSON lines; see \"agentd help json-lines\"")
	cmd.Flags().BoolVar(&p.full, "full", false, "do not cut long results in a terminal")
	cmd.Flags().IntVarP(&p.limit, "limit", "n", defaultShown, fmt.Sprintf("begin with this `number` of items, at most %d", persistence.MaxPageItems))
	return cmd
}

// follower prints what changes in one session.
type follower struct {
	app  *app
	id   messages.SessionID
	text *textPrinter // nil for JSON
	// last is the number of the last change that was printed, turn that of the last turn.
	last, turn uint64
	// seen are the ids of items that were printed.
	seen map[messages.ItemID]bool
}

func (a *app) tail(ctx context.Context, given string, p tailParams) error {
	f := &follower{app: a, seen: map[messages.ItemID]bool{}}
	if !p.asJSON {
		f.text = a.newTextPrinter()
		f.text.full = p.full
	}
	err := a.readingSession(ctx, given, func(reader *home.Reader, head messages.Head) error {
		f.id = head.ID
		return f.begin(ctx, reader, p.limit)
	})
	if err != nil || !p.follow {
		return err
	}
	dir, err := a.home()
	if err != nil {
		return err
	}
	err = f.follow(ctx, dir)
	if errors.Is(context.Cause(ctx), errInterrupted) {
		return nil // That is how one stops following.
	}
	return err
}

// begin prints the end of the session as it is now.
func (f *follower) begin(ctx context.Context, reader *home.Reader, limit int) error {
	page, err := reader.Page(ctx, f.id, persistence.PageQuery{Limit: max(limit, 1)})
	if err != nil {
		return err
	}
	items := page.Items
	if limit == 0 {
		items = nil
	}
	if err := f.tell(items, page.Head); err != nil {
		return err
	}
	f.last = page.Head.LastSeq
	return nil
}

// follow looks for changes until the context ends or the session is deleted.
func (f *follower) follow(ctx context.Context, dir home.Dir) error {
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	stamp := ""
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
		now := dir.Stamp(f.id)
		if now == stamp {
			continue
		}
		err := f.look(ctx, dir)
		switch {
		case errors.Is(err, persistence.ErrNotFound), errors.Is(err, persistence.ErrDeleted):
			f.app.complain("agentd: session %q was deleted", f.id)
			return nil
		case errors.Is(err, persistence.ErrCorrupt) && stamp != now:
			stamp = "" // Its owner may be writing just now: look again.
			continue
		case err != nil:
			return err
		}
		stamp = now
	}
}

// look prints what has changed since the last look.
func (f *follower) look(ctx context.Context, dir home.Dir) error {
	reader, err := dir.Read()
	if err != nil {
		return err
	}
	defer reader.Close()
	var changed []messages.Item
	for before := 0; ; {
		page, err := reader.Page(ctx, f.id, persistence.PageQuery{Before: before, Limit: followPage})
		if err != nil {
			return err
		}
		news := slices.DeleteFunc(slices.Clone(page.Items), func(item messages.Item) bool { return item.Seq <= f.last })
		changed = append(news, changed...)
		if len(news) == 0 || page.Start == 0 {
			if err := f.tell(changed, page.Head); err != nil {
				return err
			}
			f.last = max(f.last, page.Head.LastSeq)
			return nil
		}
		before = page.Start
	}
}

// tell prints items and, if a turn has ended since the last time, how.
func (f *follower) tell(items []messages.Item, head messages.Head) error {
	slices.SortFunc(items, func(a, b messages.Item) int { return int(a.Seq) - int(b.Seq) })
	for i := range items {
		event := messages.Event{Session: f.id, Seq: items[i].Seq, Kind: messages.EventItem, Item: &items[i]}
		if f.seen[items[i].ID] {
			event.Kind = messages.EventItemUpdated
		}
		f.seen[items[i].ID] = true
		if err := f.event(event); err != nil {
			return err
		}
	}
	if head.Turn == nil || !head.Turn.Status.Terminal() || head.Turn.Seq <= f.turn {
		return nil
	}
	f.turn = head.Turn.Seq
	return f.event(messages.Event{Session: f.id, Seq: head.Turn.Seq, Kind: messages.EventTurnEnded, Turn: head.Turn})
}

func (f *follower) event(event messages.Event) error {
	switch {
	case f.text == nil:
		return jsonLines{f.app.stdout}.write(event)
	case event.Turn != nil:
		return f.text.ended(*event.Turn)
	default:
		return f.text.event(event)
	}
}
