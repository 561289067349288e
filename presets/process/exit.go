package process

import (
	"fmt"
	"time"
)

// Exit tells how a process ended. It is complete once [Process.Done] is closed.
type Exit struct {
	// Code is the exit status, or -1 when a signal ended the child or its end was not seen.
	Code int
	// Signal names the signal that ended the child, such as "killed"; empty when it exited by itself.
	Signal string
	// Stopped says that [Process.Stop] or [Process.Kill] was called before the child had exited.
	Stopped bool
	// Killed counts the processes, child included, that were living when SIGKILL had to be sent.
	Killed int
	// Survivors are the ids of the processes that could not be ended.
	Survivors []int
	// Lifetime is the time from the start to an empty tree.
	Lifetime time.Duration
	// OutputErr is the first error of a writer of [Params] or of reading a pipe; nil when all output was passed on.
	OutputErr error
}

// Success reports whether the child exited with status zero.
func (e Exit) Success() bool { return e.Code == 0 }

// String says in a few words how the process ended, fit for an error text.
func (e Exit) String() string {
	switch {
	case e.Signal != "":
		return "signal: " + e.Signal
	case e.Code < 0:
		return "exit not seen"
	default:
		return fmt.Sprintf("exit status %d", e.Code)
	}
}

// err is the error of a wait that saw this end.
func (e Exit) err() error {
	if len(e.Survivors) == 0 {
		return nil
	}
	return fmt.Errorf("%w: process ids %v: end them by hand", ErrSurvivors, e.Survivors)
}
