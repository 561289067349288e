package mcp

import (
	"fmt"
	"log/slog"
	"time"
)

// Defaults of [StdioOptions].
const (
	// DefaultMaxLineBytes is the longest line of a client, without its line feed.
	DefaultMaxLineBytes = 65_536
	// DefaultHandshakeTimeout is how long a client may take to introduce itself.
	DefaultHandshakeTimeout = 10 * time.Second
	// DefaultDrainTimeout is how long work that is under way may go on after the end of the input.
	DefaultDrainTimeout = time.Second
	// maxInFlight is how many requests may be unanswered at one time, whatever they are. A client that sends more has lost count.
	maxInFlight = 256
)

// StdioOptions tune [RunStdio]. The zero value is good.
type StdioOptions struct {
	// MaxLineBytes is the longest line of a client, without its line feed; a carriage return counts. Zero means
	// [DefaultMaxLineBytes].
	MaxLineBytes int
	// HandshakeTimeout is how long a client may take until its initialize is answered, or until its first request with the metadata of
	// the newer lifecycle is there. Zero means [DefaultHandshakeTimeout].
	HandshakeTimeout time.Duration
	// DrainTimeout is how long requests that are under way may go on after the end of the input or of the context. Zero means
	// [DefaultDrainTimeout].
	DrainTimeout time.Duration
	// Guard says which methods are served, how many calls run at once, and what the answers of the guard are.
	Guard GuardOptions
	// Logger is told of refused lines and of panics. Nil discards.
	Logger *slog.Logger
}

func (o *StdioOptions) withDefaults() StdioOptions {
	var out StdioOptions
	if o != nil {
		out = *o
	}
	if out.MaxLineBytes == 0 {
		out.MaxLineBytes = DefaultMaxLineBytes
	}
	if out.HandshakeTimeout == 0 {
		out.HandshakeTimeout = DefaultHandshakeTimeout
	}
	if out.DrainTimeout == 0 {
		out.DrainTimeout = DefaultDrainTimeout
	}
	if out.Logger == nil {
		out.Logger = slog.New(slog.DiscardHandler)
	}
	if out.Guard.Logger == nil {
		out.Guard.Logger = out.Logger
	}
	return out
}

func (o StdioOptions) validate() error {
	switch {
	case o.MaxLineBytes < 0:
		return fmt.Errorf("%w: MaxLineBytes is %d: give 1 or more", ErrInvalid, o.MaxLineBytes)
	case o.HandshakeTimeout < 0:
		return fmt.Errorf("%w: HandshakeTimeout is %s: give more than zero", ErrInvalid, o.HandshakeTimeout)
	case o.DrainTimeout < 0:
		return fmt.Errorf("%w: DrainTimeout is %s: give more than zero", ErrInvalid, o.DrainTimeout)
	}
	return nil
}
