package bridge

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"agentd/presets/mcp"
	"agentd/providers/opencode"
)

// Defaults of [Options].
const (
	// DefaultExecutable is looked up in PATH.
	DefaultExecutable = "opencode"
	// DefaultToolTimeout is how long OpenCode waits for a tool. It is longer than any person is waited for.
	DefaultToolTimeout = 30 * time.Minute
	// DefaultHealthTimeout is how long a running OpenCode may take to say that it is well before it counts as hung.
	DefaultHealthTimeout = 15 * time.Second
	// DefaultIdleTimeout is how long a link without a turn is kept.
	DefaultIdleTimeout = 30 * time.Minute
)

// maxProviderBytes bounds [Options].Provider.
const maxProviderBytes = 1 << 20

// Params are what a bridge cannot do without.
type Params struct {
	// Home is the bridge's folder, an absolute path: {data-dir}/agent-opencode by habit. It holds config/, the configuration that OpenCode
	// is given, work/{session-id}/, the directories of the sessions, and what OpenCode keeps for itself. It is made if it is missing.
	Home string
}

func (p Params) validate() error {
	if !filepath.IsAbs(p.Home) {
		return fmt.Errorf("%w: Home is %q: give an absolute path", ErrInvalid, p.Home)
	}
	return nil
}

// Options tune a bridge. The zero value runs the "opencode" of PATH, offline, with the person's login and OpenCode's own providers.
type Options struct {
	// Executable is OpenCode: a path, or a name that is looked up in PATH when it is first needed. Empty means [DefaultExecutable].
	Executable string
	// Provider is the "provider" section of OpenCode's configuration, a JSON object: providers that OpenCode does not know by itself. It may
	// hold keys. Empty means none.
	Provider json.RawMessage
	// Server are the options of the OpenCode process. Real models need Online.
	Server opencode.ServerOptions
	// HTTP are the options of the tool server.
	HTTP mcp.HTTPOptions
	// ToolTimeout is how long OpenCode waits for a tool; it has to be longer than the wait for a person's approval. Version 1.2 waits five
	// minutes at most. Zero means [DefaultToolTimeout].
	ToolTimeout time.Duration
	// HealthTimeout is how long a running OpenCode may take to say that it is well; then it is replaced. Zero means
	// [DefaultHealthTimeout].
	HealthTimeout time.Duration
	// IdleTimeout is how long a link is kept that is not opened again and has no turn; later opens of other sessions close it. Zero means
	// [DefaultIdleTimeout].
	IdleTimeout time.Duration
	// Logger is told of starts, stops and replacements. Nil discards. It is the default of those of Server and HTTP.
	Logger *slog.Logger
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	out.Executable = cmp.Or(out.Executable, DefaultExecutable)
	out.ToolTimeout = cmp.Or(out.ToolTimeout, DefaultToolTimeout)
	out.HealthTimeout = cmp.Or(out.HealthTimeout, DefaultHealthTimeout)
	out.IdleTimeout = cmp.Or(out.IdleTimeout, DefaultIdleTimeout)
	if out.Logger == nil {
		out.Logger = slog.New(slog.DiscardHandler)
	}
	out.Server.Logger = cmp.Or(out.Server.Logger, out.Logger)
	out.HTTP.Logger = cmp.Or(out.HTTP.Logger, out.Logger)
	return out
}

func (o Options) validate() error {
	if len(o.Provider) > maxProviderBytes {
		return fmt.Errorf("%w: Provider has %d bytes: at most %d are allowed", ErrInvalid, len(o.Provider), maxProviderBytes)
	}
	if p := bytes.TrimSpace(o.Provider); len(p) > 0 && (p[0] != '{' || !json.Valid(p)) {
		return fmt.Errorf("%w: Provider is not a JSON object: write it as in opencode.json", ErrInvalid)
	}
	if o.ToolTimeout < 0 {
		return fmt.Errorf("%w: ToolTimeout is %s: give more than zero", ErrInvalid, o.ToolTimeout)
	}
	if o.HealthTimeout < 0 {
		return fmt.Errorf("%w: HealthTimeout is %s: give more than zero", ErrInvalid, o.HealthTimeout)
	}
	if o.IdleTimeout < 0 {
		return fmt.Errorf("%w: IdleTimeout is %s: give more than zero", ErrInvalid, o.IdleTimeout)
	}
	return nil
}
