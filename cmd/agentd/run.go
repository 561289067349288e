package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"agentd/actors"
)

// program is what a process is given. Tests give something else.
type program struct {
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	// presses tells of each Ctrl-C. May be nil.
	presses <-chan os.Signal
	// quit ends the process at once.
	quit func(code int)
	// agents register what sessions can name; the first one registers the default.
	agents []func(*actors.Agents) error
}

// run runs one command and returns the exit code.
func run(ctx context.Context, p *program) int {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := &app{program: p, ctrlC: newInterrupts(p, cancel)}
	done := make(chan struct{})
	defer close(done)
	go a.ctrlC.watch(done)
	root := newRoot(a)
	root.SetArgs(p.args)
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	err := root.ExecuteContext(ctx)
	if err != nil && !a.started {
		err = &usageError{err: err} // It never came to the command itself.
	}
	return a.report(ctx, err)
}

// report tells of an error, and returns the exit code.
func (a *app) report(ctx context.Context, err error) int {
	if err == nil {
		return exitOK
	}
	code := exitCodeOf(err)
	if code == exitFailed && ctx.Err() != nil {
		code = exitCancelled
	}
	var told *toldError
	if errors.As(err, &told) {
		return code
	}
	a.complain("agentd: %s", err)
	var usage *usageError
	if errors.As(err, &usage) {
		a.complain("Run \"agentd --help\", or \"agentd COMMAND --help\", to see what there is.")
	}
	return code
}

// complain writes a line to standard error.
func (a *app) complain(format string, args ...any) {
	_, _ = fmt.Fprintln(a.stderr, cleanMessage(fmt.Sprintf(format, args...))) // There is no other place to report to.
}
