package agfcmd

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"agentd/cmd/internal/screen"
	"agentd/providers/catalog"
)

const (
	// listed is how many sessions are listed when nothing else is said.
	listed = 50
	// titleColumns is how much of a title is shown where lines are not cut to a terminal.
	titleColumns = 100
	// shortID is how much of an id is shown in a terminal, if that is enough to tell it from the others.
	shortID = 8
)

const listHelp = `List the sessions that match, the latest first, in a table. All words must match; titles and prompts are searched too ("agf help query").

In a terminal ids are shortened: a shortened id is a query, and --long shows whole ones. To a pipe goes the same table, uncut.
Programs use "agf search", whose answers have a version.

Parsed heads are kept in the user's cache folder, so that the next listing is fast. The folder can be deleted at any time.`

type listFlags struct {
	scope
	sessionFlags
	limit                  int
	content, long, noCache bool
}

func (f *finder) newList() *cobra.Command {
	var l listFlags
	cmd := &cobra.Command{
		Use: "list [WORD...]", Short: "List sessions in a table, the latest first", Long: listHelp,
		Example: `  agf list
  agf list login since:7d
  agf list --agent claude --project . -n 0`,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.RunE = running(func(cmd *cobra.Command, args []string) error {
		if l.limit < 0 {
			return &Error{Code: ExitUsage, Err: fmt.Errorf("--limit %d: give 0 for all, or how many", l.limit)}
		}
		return f.list(cmd, l, strings.Join(args, " "))
	})
	f.scopeFlags(cmd, &l.scope)
	l.kinds(cmd)
	cmd.Flags().IntVarP(&l.limit, "limit", "n", listed, "list at most this `number` of sessions; 0 is all")
	cmd.Flags().BoolVar(&l.content, "content", false, "search what was said instead of the metadata, and show where")
	cmd.Flags().BoolVarP(&l.long, "long", "l", false, "show whole ids and paths in a terminal too")
	cmd.Flags().BoolVar(&l.noCache, "no-cache", false, "write nothing, not even the cache")
	return cmd
}

func (f *finder) list(cmd *cobra.Command, l listFlags, query string) error {
	l.cache = !l.noCache && cacheFolderKnown()
	cat, err := f.open(cmd, l.scope)
	if err != nil {
		return err
	}
	req := catalog.SearchRequest{
		Query: query, IncludeSummaries: true, IncludeNonInteractive: l.nonInteractive, IncludeArchived: l.archived, Content: l.content,
	}
	if l.limit > 0 {
		req.Limit = &l.limit
	}
	for _, w := range cat.Misread(query) {
		f.note(cmd, "%q is not understood as a filter, and is searched as a word; \"%s help query\" tells how filters are written", w, programName(cmd))
	}
	found, err := cat.List(cmd.Context(), req)
	if err != nil {
		return err
	}
	if err := f.table(found, l); err != nil {
		return err
	}
	columns, _ := screen.Size(f.Out)
	switch more := found.Total - len(found.Sessions); {
	case columns > 0 && found.Total == 0:
		f.note(cmd, "No session matches. \"%s doctor\" tells what was found in each store.", programName(cmd))
	case columns > 0 && more > 0:
		f.note(cmd, "%d more; \"-n 0\" lists all.", more)
	}
	f.warn(cmd, found.Warnings)
	return nil
}

func (f *finder) table(found *catalog.SearchResult, l listFlags) error {
	if len(found.Sessions) == 0 {
		return nil
	}
	columns, _ := screen.Size(f.Out)
	short := columns > 0 && !l.long
	ids := shorten(found.Sessions)
	rows := make([][]string, len(found.Sessions))
	for i := range found.Sessions {
		s := &found.Sessions[i]
		id, project := s.SessionID, s.ProjectPath
		if short {
			id, project = ids[s.SessionID], s.ProjectName
		}
		rows[i] = []string{when(s.TimestampMS), string(s.Agent), id, project, text(s.GitBranch), screen.Truncate(screen.CleanLine(about(s)), titleColumns)}
	}
	if l.long {
		columns = 0
	}
	out := bufio.NewWriter(f.Out)
	err := screen.Table(out, f.Styles(), columns, []string{"ACTIVE", "AGENT", "SESSION", "PROJECT", "BRANCH", "ABOUT"}, rows)
	if err = cmp.Or(err, out.Flush()); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return nil
}

// about is what a session is about, or the first place where the query stands in it.
func about(s *catalog.SessionView) string {
	switch {
	case len(s.Matches) > 0:
		return s.Matches[0].Snippet
	case s.Texts != nil && len(s.Summaries) > 0:
		return s.Summaries[0]
	default:
		return ""
	}
}

func when(ms int64) string {
	if ms == 0 {
		return "unknown"
	}
	return humanize.Time(time.UnixMilli(ms))
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// shorten returns for each id the start that tells it from the other ids, at least [shortID] characters.
func shorten(sessions []catalog.SessionView) map[string]string {
	ids := make([]string, len(sessions))
	for i := range sessions {
		ids[i] = sessions[i].SessionID
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	short := make(map[string]string, len(ids))
	for i, id := range ids {
		n := shortID
		if i > 0 {
			n = max(n, common(id, ids[i-1])+1)
		}
		if i+1 < len(ids) {
			n = max(n, common(id, ids[i+1])+1)
		}
		runes := []rune(id)
		short[id] = string(runes[:min(n, len(runes))])
	}
	return short
}

// common is how many characters two ids begin with.
func common(a, b string) int {
	x, y := []rune(a), []rune(b)
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n
}
