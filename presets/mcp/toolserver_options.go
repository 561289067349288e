package mcp

import (
	"fmt"
	"log/slog"
	"time"

	"agentd/presets"
)

// Defaults of [ToolServerOptions].
const (
	// DefaultServerName is the name by which we introduce ourselves.
	DefaultServerName = "agentd"
	// DefaultServerCalls is how many calls of one tool server run at one time. Calls that wait for a person count.
	DefaultServerCalls = 16
	// DefaultProgressInterval is how often a client that asked for it is told that its call goes on.
	DefaultProgressInterval = 2 * time.Second
)

// ToolServerOptions tune a [ToolServer]. The zero value is good.
type ToolServerOptions struct {
	// Name and Version are those by which we introduce ourselves. Empty means [DefaultServerName], and "dev".
	Name    string
	Version string
	// Instructions are for the client's model. May be empty.
	Instructions string
	// Owner is the owner of the tools in the registry. Empty means [DefaultOwner].
	Owner string
	// Changes is a source of changes, which makes the tool server sync by itself, on the goroutine of the change. Nil means that somebody calls
	// [ToolServer.Sync].
	Changes ChangeSource
	// MaxConcurrent is how many calls run at one time. Zero means [DefaultServerCalls].
	MaxConcurrent int
	// ProgressInterval is how often a client that gave a progress token is told that its call goes on, so that it does not give up while a
	// person decides. Zero means [DefaultProgressInterval]; less than zero means never.
	ProgressInterval time.Duration
	// NoWait makes a call that needs a person answer "approval_required" at once instead of waiting.
	NoWait bool
	// Elicit asks the client's own person for approvals, if the client can ask one, and passes the answers on to these approvals. It is
	// for clients that a person sits in front of: the client is believed. It works with [presets.Gated]. Nil means that people decide
	// elsewhere.
	Elicit presets.Approvals
	// Logger is told of panics and of syncs that fail. Nil discards.
	Logger *slog.Logger
}

func (o *ToolServerOptions) withDefaults() ToolServerOptions {
	var out ToolServerOptions
	if o != nil {
		out = *o
	}
	if out.Name == "" {
		out.Name = DefaultServerName
	}
	if out.Version == "" {
		out.Version = "dev"
	}
	if out.Owner == "" {
		out.Owner = DefaultOwner
	}
	if out.MaxConcurrent == 0 {
		out.MaxConcurrent = DefaultServerCalls
	}
	if out.ProgressInterval == 0 {
		out.ProgressInterval = DefaultProgressInterval
	}
	if out.Logger == nil {
		out.Logger = slog.New(slog.DiscardHandler)
	}
	return out
}

func (o ToolServerOptions) validate() error {
	if o.MaxConcurrent < 0 {
		return fmt.Errorf("%w: MaxConcurrent is %d: give 1 or more", ErrInvalid, o.MaxConcurrent)
	}
	return nil
}
