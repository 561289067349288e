package agfcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"agentd/providers/catalog"
)

const searchHelp = `Search sessions and answer with one JSON envelope. Without a query, list them, the latest first.

The words of the query are matched fuzzily in the project's name and path and the branch, with --include-summaries also in titles and prompts;
all must match. With --content they are looked for in what was said. "agf help query" tells of filters such as agent: and since:.`

func (f *finder) newSearch() *cobra.Command {
	var s scope
	var flags sessionFlags
	var limit, offset int
	var content bool
	cmd := &cobra.Command{
		Use: "search [QUERY]", Short: "Search sessions; without a query list them", Long: searchHelp,
		Args: oneQuery, ValidArgsFunction: cobra.NoFileCompletions,
		Example: `  agf search parser --agent codex --project /home/me/code/web-app --limit 10
  agf search "agent:claude since:7d login" --include-summaries
  agf search "connection refused" --content`,
	}
	cmd.RunE = f.answering(&s, func(_ *cobra.Command, args []string) askFunc {
		req := catalog.SearchRequest{
			Limit: &limit, Offset: offset, IncludeSummaries: flags.texts, IncludeNonInteractive: flags.nonInteractive,
			IncludeArchived: flags.archived, Details: flags.details, Content: content,
		}
		if len(args) > 0 {
			req.Query = args[0]
		}
		return func(ctx context.Context, cat *catalog.Catalog) (any, error) { return cat.Search(ctx, req) }
	})
	f.scopeFlags(cmd, &s)
	cacheFlag(cmd, &s)
	flags.kinds(cmd)
	flags.depth(cmd)
	cmd.Flags().IntVar(&limit, "limit", catalog.DefaultPage, "the `number` of sessions in a page, 1 to 200")
	cmd.Flags().IntVar(&offset, "offset", 0, "the `number` of sessions to pass over, at most 1000000")
	cmd.Flags().BoolVar(&content, "content", false, "search what was said instead of the metadata, and cite where")
	return cmd
}

// oneQuery refuses words that the shell took apart, and says what to do.
func oneQuery(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("a query is one argument, and here are %d: put the words in quotes, or use \"%s list\"", len(args), programName(cmd))
	}
	return nil
}
