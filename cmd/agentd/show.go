package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"agentd/cmd/agentd/internal/home"
	"agentd/messages"
	"agentd/persistence"
)

// defaultShown is how many items show and tail begin with.
const defaultShown = 20

type showParams struct {
	asJSON, full  bool
	limit, before int
}

func newShow(a *app) *cobra.Command {
	var p showParams
	cmd := a.oneSession(&cobra.Command{
		Use: "show SESSION", Short: "Show a session, from its end",
		Long: "Show the last items of a session. The last line says how to see the ones before them. It reads one page, however long the session is.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if p.limit < 1 || p.limit > persistence.MaxPageItems || p.before < 0 {
				return misuse("--limit %d --before %d: give a limit of 1 to %d, and a position", p.limit, p.before, persistence.MaxPageItems)
			}
			return a.show(cmd.Context(), args[0], p)
		},
	})
	cmd.Flags().BoolVar(&p.asJSON, "json", false, "print JSON lines; see \"agentd help json-lines\"")
	cmd.Flags().BoolVar(&p.full, "full", false, "do not cut long results in a terminal")
	cmd.Flags().IntVarP(&p.limit, "limit", "n", defaultShown, fmt.Sprintf("show this `number` of items, at most %d", persistence.MaxPageItems))
	cmd.Flags().IntVar(&p.before, "before", 0, "show the items before this `position`; 0 is the end")
	return cmd
}

func (a *app) show(ctx context.Context, given string, p showParams) error {
	return a.readingSession(ctx, given, func(reader *home.Reader, head messages.Head) error {
		page, err := reader.Page(ctx, head.ID, persistence.PageQuery{Before: p.before, Limit: p.limit})
		if err != nil {
			return err
		}
		if p.asJSON {
			return a.showJSON(page)
		}
		return a.showText(page, p)
	})
}

func (a *app) showJSON(page persistence.Page) error {
	lines := jsonLines{a.stdout}
	if err := lines.write(headLine{Kind: "session", Session: page.Head}); err != nil {
		return err
	}
	for i := range page.Items {
		if err := lines.write(itemLine{Kind: "item", Position: page.Start + i, Item: &page.Items[i]}); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) showText(page persistence.Page, p showParams) error {
	text := a.newTextPrinter()
	text.full = p.full
	head := page.Head
	if err := text.print(text.headBlock(head)); err != nil {
		return err
	}
	for i := range page.Items {
		if err := text.item(&page.Items[i]); err != nil {
			return err
		}
	}
	if head.Turn != nil && page.Start+len(page.Items) >= head.ItemCount {
		if err := text.ended(*head.Turn); err != nil {
			return err
		}
	}
	if page.Start == 0 {
		return nil
	}
	return text.print(block{
		label: "earlier", labelStyle: text.styles.Dim, style: text.styles.Dim,
		text: fmt.Sprintf("%s: agentd sessions show %s --before %d", count(page.Start, "item"), head.ID, page.Start),
	})
}
