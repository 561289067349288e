package main

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/lmittmann/tint"

	"agentd/actors"
	"agentd/cmd/agentd/internal/home"
	"agentd/cmd/internal/screen"
)

// app is one run of the program: what the process was given, and the global flags.
type app struct {
	*program
	ctrlC *interrupts

	// The global flags.
	dataDir   string
	workspace string
	noColor   bool
	verbose   int

	// started says that a command began to run, so that an error is not one of usage.
	started bool
}

// home finds the data directory. It need not exist, but nothing else may lie in its place.
func (a *app) home() (home.Dir, error) {
	dir, err := home.Find(a.dataDir, a.getenv)
	if err == nil {
		_, err = dir.Exists()
	}
	return dir, err
}

// workspaceRoot is the absolute path of the folder that workspace tools are held to.
func (a *app) workspaceRoot() (string, error) {
	root, err := filepath.Abs(a.workspace)
	if err != nil {
		return "", fmt.Errorf("finding the workspace: %w", err)
	}
	info, err := os.Stat(root)
	switch {
	case err != nil:
		return "", misuse("the workspace cannot be used: %w", err)
	case !info.IsDir():
		return "", misuse("the workspace %q is not a folder: give one with --workspace", root)
	}
	return root, nil
}

// registered returns the agents that sessions can name. Connect is for the space agent, see registerSpace.
func (a *app) registered(flags spaceFlags, connect connectFunc) (*actors.Agents, error) {
	agents := &actors.Agents{}
	if err := a.registerSpace(agents, flags, connect); err != nil {
		return nil, err
	}
	for _, register := range a.agents {
		if err := register(agents); err != nil {
			return nil, err
		}
	}
	return agents, nil
}

// logger writes to standard error, if -v was given.
func (a *app) logger() *slog.Logger {
	if a.verbose == 0 {
		return slog.New(slog.DiscardHandler)
	}
	level := slog.LevelInfo
	if a.verbose > 1 {
		level = slog.LevelDebug
	}
	return slog.New(tint.NewHandler(a.stderr, &tint.Options{Level: level, NoColor: !a.colours(a.stderr)}))
}

// terminal returns the file behind a stream if it is a terminal.
func terminal(stream any) (*os.File, bool) { return screen.Terminal(stream) }

// interactive reports whether a person sits there: asks can be made, and answers seen.
func (a *app) interactive() bool {
	_, in := terminal(a.stdin)
	_, out := terminal(a.stdout)
	return in && out && a.getenv("TERM") != "dumb"
}

// colours reports whether a stream gets colour.
func (a *app) colours(stream any) bool {
	_, isTerminal := terminal(stream)
	return isTerminal && !a.noColor && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb"
}

// styles are those for standard output.
func (a *app) styles() screen.Styles { return screen.NewStyles(a.colours(a.stdout)) }

// size returns the columns and rows of the terminal behind standard output; 0 columns if it is none.
func (a *app) size() (columns, rows int) { return screen.Size(a.stdout) }
