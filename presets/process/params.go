package process

import (
	"fmt"
	"io"
	"strings"
)

// MarkerEnv is the environment variable that every child gets. Its value is a colon-separated list of the random ids of
// the processes above and of the child itself, so that a nested tree carries the marks of all its owners.
const MarkerEnv = "AGENTD_PROCESS_MARK"

// Params says what to run. It is not kept after [Start] returns, except for the writers.
type Params struct {
	// Path is the executable: a path, or a name that is looked up in this process's PATH. Required.
	Path string
	// Args are the arguments after the program's name.
	Args []string
	// Dir is the working directory; empty means this process's own.
	Dir string
	// Env is the whole environment as KEY=value; nil is an empty environment, not an inherited one. A later entry
	// for a key wins.
	Env []string
	// OpenStdin gives the child a pipe as stdin, which [Process.Stdin] writes to. Without it stdin is empty.
	OpenStdin bool
	// Stdout and Stderr get what the child writes, each from one goroutine; nil throws it away. The same writer for
	// both keeps the order of the two. A writer with a Flush() error method is flushed when its stream has ended. A
	// writer that blocks holds the child back, and must return once the process is stopped.
	Stdout, Stderr io.Writer
}

func (p Params) validate() error {
	if p.Path == "" {
		return fmt.Errorf("%w: Path is empty: name the executable", ErrInvalid)
	}
	for _, field := range []struct{ name, value string }{{"Path", p.Path}, {"Dir", p.Dir}} {
		if strings.ContainsRune(field.value, 0) {
			return fmt.Errorf("%w: %s holds a NUL byte", ErrInvalid, field.name)
		}
	}
	for _, entry := range p.Env {
		if i := strings.IndexByte(entry, '='); i < 1 {
			return fmt.Errorf("%w: Env holds an entry without KEY=: write KEY=value", ErrInvalid)
		}
	}
	return nil
}
