package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"agentd/providers/catalog"
	"agentd/providers/catalog/readers"
)

// version is set by the linker in a release build.
var version = "0.1.0-dev"

// Exit codes.
const (
	exitOK    = 0
	exitFail  = 1
	exitUsage = 2
)

// errAnswered means that the failure stands in an envelope on standard output.
var errAnswered = errors.New("the operation failed; see the envelope on standard output")

// run runs one command and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot(stdout)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	_, _ = fmt.Fprintln(stderr, "agf:", err) // There is no other place to report to.
	if errors.Is(err, errAnswered) {
		return exitFail
	}
	return exitUsage
}

func newRoot(stdout io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use: "agf", Short: "Find the sessions of coding agents on this machine", Version: version,
		SilenceErrors: true, SilenceUsage: true,
	}
	c := &command{out: stdout}
	root.AddCommand(newSearch(c), newShow(c), newPlan(c), newCapabilities(c))
	return root
}

// command is what the JSON commands share.
type command struct {
	out            io.Writer
	agent, project string
	details        bool
	texts          bool
	nonInteractive bool
	archived       bool
	cache          bool
}

// scopeFlags adds the flags of the scope.
func (c *command) scopeFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.agent, "agent", "", "only this agent, by name or alias")
	cmd.Flags().StringVar(&c.project, "project", "", "only this exact project directory")
	cmd.Flags().BoolVar(&c.cache, "cache", false, "keep parsed heads in the user's cache folder; without it nothing is written")
	cmd.Flags().BoolVar(&c.details, "details", false, "add what default answers leave out")
}

// sessionFlags adds the flags that say which sessions are wanted.
func (c *command) sessionFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.nonInteractive, "include-non-interactive", false, "add sessions that no person held")
	cmd.Flags().BoolVar(&c.archived, "include-archived", false, "add archived sessions")
}

func (c *command) textFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.texts, "include-summaries", false, "add titles, prompts and recaps")
}

// catalog makes the catalog for the scope of the flags. On a failure it answers with the envelope.
func (c *command) catalog(cmd *cobra.Command) (*catalog.Catalog, error) {
	opts := &catalog.Options{Version: version}
	if cmd.Flags().Changed("agent") {
		opts.Agent = c.agent
	}
	if cmd.Flags().Changed("project") {
		opts.Project = c.project
	}
	if c.cache {
		dir, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("finding the cache folder: %w", err)
		}
		opts.CacheDir = filepath.Join(dir, "agf")
	}
	cat, err := catalog.New(readers.All(), opts)
	if err != nil {
		return nil, c.seal(opts, err)
	}
	return cat, nil
}

// seal answers that the catalog could not be made.
func (c *command) seal(opts *catalog.Options, err error) error {
	bare, bareErr := catalog.New(nil, &catalog.Options{Version: opts.Version})
	if bareErr != nil {
		return bareErr
	}
	return c.answer(bare, nil, err)
}

// answer writes the envelope.
func (c *command) answer(cat *catalog.Catalog, data any, err error) error {
	enc := json.NewEncoder(c.out)
	enc.SetEscapeHTML(false)
	if writeErr := enc.Encode(cat.Seal(data, err)); writeErr != nil {
		return fmt.Errorf("writing the answer: %w", writeErr)
	}
	if err != nil {
		return errAnswered
	}
	return nil
}
