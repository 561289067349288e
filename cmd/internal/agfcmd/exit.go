package agfcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// Exit codes. They are part of what scripts stand on: a code keeps its meaning.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitInterrupted = 130
	ExitBrokenPipe  = 141
)

const exitCodesTopic = `0    done: there is an answer, which may be an empty list
1    failed: the operation came to nothing; a JSON command says why in its envelope, and all say it on standard error
2    usage: an unknown command or flag, a missing or a malformed argument; there is no envelope
130  interrupted by Ctrl-C or a signal; there is no envelope ("agf mcp" ends with 0)
141  whoever read the output went away`

// Error is a command that ran and failed.
type Error struct {
	// Code is the exit code.
	Code int
	// Err is why. It is nil when nothing is to be said.
	Err error
}

// Error implements error.
func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap gives the reason.
func (e *Error) Unwrap() error { return e.Err }

var errInterrupted = errors.New("interrupted")

// ExitCode returns the exit code for what the execution of the tree returned. An error that no command made is one of usage.
func ExitCode(err error) int {
	var failed *Error
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &failed):
		return failed.Code
	default:
		return ExitUsage
	}
}

type runFunc = func(cmd *cobra.Command, args []string) error

// running makes what a command does say how it ended: every error of it is an [Error].
func running(do runFunc) runFunc {
	return func(cmd *cobra.Command, args []string) error {
		err := do(cmd, args)
		var failed *Error
		switch {
		case err == nil:
			return nil
		case errors.As(err, &failed):
			return failed
		case isBrokenPipe(err):
			return &Error{Code: ExitBrokenPipe}
		case cmd.Context().Err() != nil, errors.Is(err, context.Canceled):
			return &Error{Code: ExitInterrupted, Err: errInterrupted}
		default:
			return &Error{Code: ExitFailed, Err: err}
		}
	}
}
