package main

import (
	"context"
	"errors"
	"fmt"

	"agentd/actors"
	"agentd/cmd/agentd/internal/home"
	"agentd/cmd/internal/screen"
	"agentd/messages"
	"agentd/persistence"
	"agentd/presets"
)

// Exit codes. They are part of what scripts stand on: a code keeps its meaning.
const (
	exitOK        = 0
	exitFailed    = 1
	exitUsage     = 2
	exitCancelled = 3
	exitInUse     = 4
	exitNotFound  = 5
	exitDenied    = 6
)

const exitCodesTopic = `0  done: the command succeeded, the turn completed
1  failed: the turn failed, or the command could not do what it was asked for (the reason is on standard error)
2  usage: an unknown command or flag, a bad value, an id that cannot be one, an input over a limit
3  cancelled: the turn was cancelled or interrupted, by Ctrl-C, a signal or another prompt
   (a signal is how "agentd mcp --http" ends; its code is 0 then)
4  in use: another process owns the data directory (standard error names it and its process id)
5  not found: no such session, agent, preset or approval
6  denied: the turn completed, but a tool needed an approval and nobody could be asked
   (run it in a terminal, or allow the risk with --yes-risk)`

// errInterrupted is the cause of a context that Ctrl-C ended.
var errInterrupted = errors.New("interrupted")

// usageError means that the command was called wrongly.
type usageError struct{ err error }

// Error implements error.
func (e *usageError) Error() string { return e.err.Error() }

// Unwrap gives the fault.
func (e *usageError) Unwrap() error { return e.err }

// misuse makes a usage error.
func misuse(format string, args ...any) error { return &usageError{err: fmt.Errorf(format, args...)} }

// toldError ends the program with a code whose reason the person has seen already.
type toldError struct{ code int }

// Error implements error.
func (e *toldError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// exitCodeOf returns the exit code for an error.
func exitCodeOf(err error) int {
	var told *toldError
	if errors.As(err, &told) {
		return told.code
	}
	var usage *usageError
	var invalid *messages.InvalidIDError
	var ambiguous *home.AmbiguousError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage), errors.As(err, &invalid), errors.As(err, &ambiguous), errors.Is(err, messages.ErrTooLarge):
		return exitUsage
	case errors.Is(err, persistence.ErrLocked):
		return exitInUse
	case isNotFound(err):
		return exitNotFound
	case errors.Is(err, errInterrupted), errors.Is(err, context.Canceled):
		return exitCancelled
	default:
		return exitFailed
	}
}

func isNotFound(err error) bool {
	for _, absent := range []error{
		persistence.ErrNotFound, persistence.ErrDeleted, actors.ErrDeleted, actors.ErrUnknownAgent, presets.ErrUnknownPreset, presets.ErrUnknownGrant,
	} {
		if errors.Is(err, absent) {
			return true
		}
	}
	return false
}

// exitCodeOfTurn returns the exit code for the way a turn ended.
func exitCodeOfTurn(status messages.TurnStatus) int {
	switch status {
	case messages.TurnCompleted:
		return exitOK
	case messages.TurnCancelled, messages.TurnInterrupted:
		return exitCancelled
	case messages.TurnFailed, messages.TurnRunning, messages.TurnCancelling:
		return exitFailed
	default:
		return exitFailed
	}
}

// cleanMessage makes an error text harmless: it may quote a file or a tool.
func cleanMessage(text string) string { return screen.Clean(text) }
