package modelserver

import (
	"fmt"
	"slices"
	"time"
)

// Defaults of [Options].
const (
	// DefaultModel is the one model that the server knows if no others are named.
	DefaultModel = "fake-1"
	// DefaultMaxBodyBytes bounds a request.
	DefaultMaxBodyBytes = 32 << 20
	// DefaultKeepRequests is how many requests are remembered.
	DefaultKeepRequests = 1000
	// DefaultChunkBytes is the size of a piece of streamed text.
	DefaultChunkBytes = 24
)

// Options say what the server knows and how it answers. The zero value knows [DefaultModel] and has no script.
type Options struct {
	// Script is what the model says; see [Step] for how a step is chosen. [Server.Add] adds to it later.
	Script []Step
	// Models are the ids that exist; a request for another gets 404. Empty means [DefaultModel].
	Models []string
	// APIKey, if not empty, must come as a bearer token, x-api-key, x-goog-api-key or ?key=; otherwise 401.
	APIKey string
	// Addr is where to listen; empty means a free port of 127.0.0.1. Anything but loopback is refused.
	Addr string
	// Side tells requests that a client makes for itself, such as one for a title, from the turns of a conversation. They are
	// answered with SideReply, use up no step, and are recorded as such. Nil means [IsSide].
	Side func(Request) bool
	// SideReply answers side requests; its zero value says "Scripted session".
	SideReply Reply
	// ChunkBytes is the size of a piece of streamed text, cut between characters; zero means [DefaultChunkBytes].
	ChunkBytes int
	// Pause is the time between two pieces of streamed text; zero means none.
	Pause time.Duration
	// MaxBodyBytes bounds a request; a larger one gets 413. Zero means [DefaultMaxBodyBytes].
	MaxBodyBytes int64
	// KeepRequests is how many requests are remembered, the newest; zero means [DefaultKeepRequests].
	KeepRequests int
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if len(out.Models) == 0 {
		out.Models = []string{DefaultModel}
	}
	out.Models = slices.Clone(out.Models)
	out.Script = slices.Clone(out.Script)
	if out.Addr == "" {
		out.Addr = "127.0.0.1:0"
	}
	if out.Side == nil {
		out.Side = IsSide
	}
	if out.SideReply.empty() {
		out.SideReply = Say("Scripted session")
	}
	if out.ChunkBytes == 0 {
		out.ChunkBytes = DefaultChunkBytes
	}
	if out.MaxBodyBytes == 0 {
		out.MaxBodyBytes = DefaultMaxBodyBytes
	}
	if out.KeepRequests == 0 {
		out.KeepRequests = DefaultKeepRequests
	}
	return out
}

func (o Options) validate() error {
	switch {
	case o.ChunkBytes < 0:
		return fmt.Errorf("%w: ChunkBytes is %d: give zero or more", ErrInvalid, o.ChunkBytes)
	case o.MaxBodyBytes < 0:
		return fmt.Errorf("%w: MaxBodyBytes is %d: give zero or more", ErrInvalid, o.MaxBodyBytes)
	case o.KeepRequests < 0:
		return fmt.Errorf("%w: KeepRequests is %d: give zero or more", ErrInvalid, o.KeepRequests)
	case o.Pause < 0:
		return fmt.Errorf("%w: Pause is %s: give zero or more", ErrInvalid, o.Pause)
	}
	return validateScript(o.Script)
}
