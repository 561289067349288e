package process

import (
	"fmt"
	"time"
)

// Defaults of [Options]. Together they stop a tree that ignores everything in well under a second.
const (
	// DefaultTermGrace is what a tree gets between SIGTERM and SIGKILL.
	DefaultTermGrace = 400 * time.Millisecond
	// DefaultKillWait is how long a killed tree may take to be gone before it is reported as surviving.
	DefaultKillWait = 5 * time.Second
	// DefaultDrainWait is how long the output is read after the tree has gone.
	DefaultDrainWait = 500 * time.Millisecond
)

// Options tune how a process is stopped. The zero value is good for tools.
type Options struct {
	// StdinGrace closes stdin first and gives the tree this long to end by itself; zero leaves the rung out.
	StdinGrace time.Duration
	// TermGrace is the time between SIGTERM and SIGKILL; zero means [DefaultTermGrace].
	TermGrace time.Duration
	// TermEvery repeats SIGTERM at this interval within TermGrace, for programs that swallow the first one; zero
	// sends it once.
	TermEvery time.Duration
	// KillWait bounds the wait for a killed tree; zero means [DefaultKillWait].
	KillWait time.Duration
	// DrainWait bounds the reading of output after the tree has gone, in case something that was not found holds
	// the pipe; zero means [DefaultDrainWait].
	DrainWait time.Duration
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.TermGrace == 0 {
		out.TermGrace = DefaultTermGrace
	}
	if out.KillWait == 0 {
		out.KillWait = DefaultKillWait
	}
	if out.DrainWait == 0 {
		out.DrainWait = DefaultDrainWait
	}
	return out
}

func (o Options) validate() error {
	fields := []struct {
		name  string
		value time.Duration
	}{
		{"StdinGrace", o.StdinGrace},
		{"TermGrace", o.TermGrace},
		{"TermEvery", o.TermEvery},
		{"KillWait", o.KillWait},
		{"DrainWait", o.DrainWait},
	}
	for _, field := range fields {
		if field.value < 0 {
			return fmt.Errorf("%w: %s is %s: give zero or more", ErrInvalid, field.name, field.value)
		}
	}
	return nil
}
