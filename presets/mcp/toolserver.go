package mcp

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentd/messages"
	"agentd/presets"
)

// ToolServer is an MCP server that shows the tools of a [presets.Surface] to the clients of one session: what is listed, approved and
// recorded is that session's. It is cheap; there is one for each session. It is safe for use by several goroutines.
type ToolServer struct {
	surface  *presets.Surface  // set at construction
	caller   presets.Caller    // on whose behalf tools are listed while no turn is bound
	options  ToolServerOptions // set at construction
	server   *sdk.Server       // set at construction
	registry *Registry         // set at construction
	sync     *Sync             // set at construction
	elicitor *elicitor         // nil unless the client's person is asked

	bound atomic.Pointer[Binding] // the last turn, bound or released; nil before the first one
}

// NewToolServer returns a tool server for a session, not started. The caller is on whose behalf tools are listed while no turn is bound; its
// turn id is empty by habit. The error names what is missing or wrong.
func NewToolServer(surface *presets.Surface, caller presets.Caller, opts *ToolServerOptions) (*ToolServer, error) {
	if surface == nil {
		return nil, fmt.Errorf("tool server: %w: the surface is missing", ErrInvalid)
	}
	options := opts.withDefaults()
	if err := options.validate(); err != nil {
		return nil, fmt.Errorf("tool server: %w", err)
	}
	t := &ToolServer{surface: surface, caller: caller, options: options}
	t.server = sdk.NewServer(&sdk.Implementation{Name: options.Name, Version: options.Version}, &sdk.ServerOptions{
		Instructions: options.Instructions,
		// Said outright: else logging is advertised, and tools only while there are some.
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{ListChanged: true}},
	})
	t.server.AddReceivingMiddleware(t.freshen)
	t.registry = NewRegistry(t.server)
	if options.Elicit != nil {
		t.elicitor = newElicitor(options.Elicit)
	}
	var err error
	t.sync, err = NewSync(SyncParams{
		Registry: t.registry, List: t.list, Owner: options.Owner, Changes: options.Changes, Logger: options.Logger,
		Touches: func(change presets.Change) bool { return change.Touches(caller.SessionID) },
	})
	if err != nil {
		return nil, fmt.Errorf("tool server: %w", err)
	}
	return t, nil
}

// Start lists the tools for the first time. Errors are those of [Sync.Start].
func (t *ToolServer) Start(ctx context.Context) error { return t.sync.Start(ctx) }

// Stop releases the bound turn, whose calls end, and removes the tools. It may be called more than once. The clients' sessions are ended by
// whoever serves them.
func (t *ToolServer) Stop() {
	if binding := t.bound.Load(); binding != nil {
		binding.Release()
	}
	t.sync.Stop()
}

// Sync makes what clients see equal to what is active and approved. See [Sync.Sync].
func (t *ToolServer) Sync(ctx context.Context) error { return t.sync.Sync(ctx) }

// SyncStatus returns the state of the tools.
func (t *ToolServer) SyncStatus() SyncStatus { return t.sync.Status() }

// Registry returns the list of tools, to which a host may add its own under another owner. Those are shown to every client of the session, and
// no approval stands before them.
func (t *ToolServer) Registry() *Registry { return t.registry }

// RunStdio serves one client over two streams; see [RunStdio]. Call it once, on a tool server that nothing else serves. The guard's limit of
// calls is that of the tool server's options, unless the options here give one.
func (t *ToolServer) RunStdio(ctx context.Context, in io.Reader, out io.Writer, opts *StdioOptions) error {
	var options StdioOptions
	if opts != nil {
		options = *opts
	}
	options.Guard = t.guardOptions(options.Guard)
	return RunStdio(ctx, t.server, in, out, &options)
}

func (t *ToolServer) guardOptions(guard GuardOptions) GuardOptions {
	if guard.MaxConcurrent == 0 {
		guard.MaxConcurrent = t.options.MaxConcurrent
	}
	if guard.Logger == nil {
		guard.Logger = t.options.Logger
	}
	return guard
}

// list implements [ListFunc].
func (t *ToolServer) list(ctx context.Context) ([]Tool, error) {
	set, err := t.surface.Tools(ctx, t.present())
	if err != nil {
		return nil, err
	}
	tools := make([]Tool, len(set))
	for i, tool := range set {
		tools[i] = presetTool(tool, t.call)
	}
	return tools, nil
}

// freshen syncs before a list, so that a list never shows what an approval no longer covers, and before a call of a tool that is
// not there yet.
func (t *ToolServer) freshen(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch params := req.GetParams().(type) {
		case *sdk.ListToolsParams:
			if err := t.sync.Sync(ctx); err != nil {
				t.options.Logger.Warn("A list of tools is not up to date.", slog.String("error", err.Error()))
				result, err := next(ctx, method, req)
				return t.harmless(result), err
			}
		case *sdk.CallToolParamsRaw:
			if params != nil && !t.registry.Has(params.Name) {
				_ = t.sync.Sync(ctx) // If it fails, the tool is unknown, as it was.
			}
		}
		return next(ctx, method, req)
	}
}

// harmless leaves in a list what needs no approval. It is what a client gets while nobody can say what is approved: a list that
// fails makes some clients drop all tools for good.
func (t *ToolServer) harmless(result sdk.Result) sdk.Result {
	list, ok := result.(*sdk.ListToolsResult)
	if !ok || list == nil {
		return result
	}
	kept := *list
	kept.Tools = []*sdk.Tool{}
	for _, tool := range list.Tools {
		if risk, said := tool.Meta[metaRisk]; !said || risk == string(messages.RiskNormal) {
			kept.Tools = append(kept.Tools, tool)
		}
	}
	return &kept
}
