package main

import (
	"github.com/spf13/cobra"

	"agentd/providers/catalog"
)

func newSearch(c *command) *cobra.Command {
	var limit, offset int
	var content bool
	cmd := &cobra.Command{
		Use: "search [query]", Short: "Search sessions; without a query list them", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cat, err := c.catalog(cmd)
			if err != nil {
				return err
			}
			req := catalog.SearchRequest{
				Limit: &limit, Offset: offset, IncludeSummaries: c.texts, IncludeNonInteractive: c.nonInteractive,
				IncludeArchived: c.archived, Details: c.details, Content: content,
			}
			if len(args) > 0 {
				req.Query = args[0]
			}
			found, err := cat.Search(cmd.Context(), req)
			return c.answer(cat, found, err)
		},
	}
	c.scopeFlags(cmd)
	c.sessionFlags(cmd)
	c.textFlag(cmd)
	cmd.Flags().IntVar(&limit, "limit", catalog.DefaultPage, "sessions in a page, 1 to 200")
	cmd.Flags().IntVar(&offset, "offset", 0, "sessions to pass over")
	cmd.Flags().BoolVar(&content, "content", false, "search what was said instead of the metadata")
	return cmd
}
