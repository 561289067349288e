package mcp

import (
	"fmt"
	"log/slog"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// DefaultMaxConcurrent is how many tool calls of one server run at one time.
const DefaultMaxConcurrent = 2

// GuardOptions tune [Guard]. The zero value is good for a server that has tools only.
type GuardOptions struct {
	// MaxConcurrent is how many tool calls run at one time; one beyond is answered Busy at once. A call holds its place until its
	// handler returns, even if the client has cancelled it. Zero means [DefaultMaxConcurrent].
	MaxConcurrent int
	// Busy makes the answer to a call for which there is no place. It is called for each such call, by several goroutines. Nil means
	// an envelope whose code is "busy".
	Busy func() *sdk.CallToolResult
	// Panicked makes the answer to a call whose handler panicked. It is called as Busy is. Nil means an envelope whose code is "internal_error".
	Panicked func() *sdk.CallToolResult
	// Methods are the methods that the server has, notifications included; all others are answered "method not found". Nil means
	// [ToolMethods].
	Methods []string
	// Logger is told of handlers that panic and of errors that are kept from the client. Nil discards.
	Logger *slog.Logger
}

// ToolMethods returns the methods of a server that has tools and nothing else.
func ToolMethods() []string {
	return []string{
		methodInitialize, "notifications/initialized", methodPing, methodDiscover,
		methodListTools, methodCallTool, methodListen,
		notificationCancelled, "notifications/progress", "notifications/roots/list_changed",
	}
}

func (o GuardOptions) withDefaults() GuardOptions {
	if o.MaxConcurrent == 0 {
		o.MaxConcurrent = DefaultMaxConcurrent
	}
	if o.Busy == nil {
		o.Busy = func() *sdk.CallToolResult {
			return Failure("busy", "Too many calls are under way. Wait for one of them to end, then try again.")
		}
	}
	if o.Panicked == nil {
		o.Panicked = func() *sdk.CallToolResult { return Failure("internal_error", "The tool failed by a fault of its own.") }
	}
	if o.Methods == nil {
		o.Methods = ToolMethods()
	}
	o.Methods = slices.Clone(o.Methods)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func (o GuardOptions) validate() error {
	if o.MaxConcurrent < 0 {
		return fmt.Errorf("%w: MaxConcurrent is %d: give 1 or more", ErrInvalid, o.MaxConcurrent)
	}
	return nil
}
