package presets

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"agentd/messages"
)

// Exposure says what happens to a tool that a person would have to approve.
type Exposure string

// The exposures.
const (
	// Hidden leaves it out of every list and refuses its calls, until something approves the caller's use of it. It
	// is the default.
	Hidden Exposure = "hidden"
	// Gated lists it, and a call waits for the person.
	Gated Exposure = "gated"
)

// Defaults of [SurfaceOptions].
const (
	// minResultBytes leaves room for the words that tell of a cut.
	minResultBytes = 256
	// DefaultMaxResultBytes is the longest result text that a model is given.
	DefaultMaxResultBytes = 256 << 10
	// DefaultRequestWait is how long the request tool waits for the person before it answers that the request is open.
	DefaultRequestWait = 45 * time.Second
)

// SurfaceOptions tune a surface. The zero value is good.
type SurfaceOptions struct {
	// Exposure is what happens to unapproved risky tools. Empty means [Hidden].
	Exposure Exposure
	// MaxResultBytes bounds the text of a result; a longer one is cut in the middle and says so. Zero means
	// [DefaultMaxResultBytes]; the least is 256, the most [messages.MaxItemBytes].
	MaxResultBytes int
	// RequestWait is how long the tool [RequestToolName] waits for the person. Zero means [DefaultRequestWait]; less than zero means
	// not at all.
	RequestWait time.Duration
	// Logger is told of tools that panic. Nil discards.
	Logger *slog.Logger
}

func (o *SurfaceOptions) withDefaults() SurfaceOptions {
	var out SurfaceOptions
	if o != nil {
		out = *o
	}
	if out.Exposure == "" {
		out.Exposure = Hidden
	}
	if out.MaxResultBytes == 0 {
		out.MaxResultBytes = DefaultMaxResultBytes
	}
	if out.RequestWait == 0 {
		out.RequestWait = DefaultRequestWait
	}
	if out.Logger == nil {
		out.Logger = slog.New(slog.DiscardHandler)
	}
	return out
}

func (o SurfaceOptions) validate() error {
	if o.Exposure != Hidden && o.Exposure != Gated {
		return fmt.Errorf("%w: Exposure is %.40q: use %q or %q", ErrInvalid, string(o.Exposure), Hidden, Gated)
	}
	if o.MaxResultBytes < minResultBytes || o.MaxResultBytes > messages.MaxItemBytes {
		return fmt.Errorf("%w: MaxResultBytes is %d: give %d to %d", ErrInvalid, o.MaxResultBytes, minResultBytes, messages.MaxItemBytes)
	}
	return nil
}

// Surface lists the active tools for a caller and calls them, under the rules of risk and approval. One serves every session. It is made
// of a manager and of approvals, and holds no state of its own.
type Surface struct {
	manager   *Manager
	approvals Approvals
	options   SurfaceOptions
	request   Tool          // the surface's own tool
	entry     *adapterEntry // its schema
}

// NewSurface returns a surface. Both services are required; the error names the one that is missing, or the bad option.
func NewSurface(manager *Manager, approvals Approvals, opts *SurfaceOptions) (*Surface, error) {
	if manager == nil {
		return nil, errors.New("tool surface: the preset manager is missing")
	}
	if approvals == nil {
		return nil, errors.New("tool surface: the approvals are missing")
	}
	options := opts.withDefaults()
	if err := options.validate(); err != nil {
		return nil, fmt.Errorf("tool surface: %w", err)
	}
	request := requestTool()
	schema, err := compileSchema(request.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("tool surface: %q: its input schema: %w", request.Name, err)
	}
	entry := &adapterEntry{schema: schema}
	return &Surface{manager: manager, approvals: approvals, options: options, request: request, entry: entry}, nil
}

// Exposure returns what happens to unapproved risky tools.
func (s *Surface) Exposure() Exposure { return s.options.Exposure }

// Tools returns what the caller may see: the request tool, then the tools of the active presets in their order. With
// [Hidden], risky ones are there only if the policy or a grant lets the caller use them. With either exposure, those that the policy
// denies are not.
func (s *Surface) Tools(ctx context.Context, caller Caller) (Toolset, error) {
	standing, err := s.approvals.Standing(ctx, caller)
	if err != nil {
		return nil, fmt.Errorf("listing tools: asking what is approved: %w", err)
	}
	active := s.manager.state.Load().resolution(caller.SessionID).Tools
	out := make(Toolset, 1, len(active)+1)
	out[0] = s.request
	for _, tool := range active {
		if s.listed(standing, tool) {
			out = append(out, tool)
		}
	}
	return out, nil
}

// Knows reports whether there is a tool of that name at all: its preset need not be active, and nobody need have approved it. It is for telling
// a tool of ours from a name that a model made up.
func (s *Surface) Knows(name string) bool {
	return name == RequestToolName || s.manager.state.Load().registry.named(name)
}

func (s *Surface) listed(standing Standing, tool Tool) bool {
	if s.options.Exposure == Gated {
		return standing.Policy.Rule(tool.Risk) != RuleDeny
	}
	return standing.Usable(tool.ID, tool.Risk)
}
