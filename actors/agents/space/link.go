package space

import (
	"context"

	"agentd/presets"
	"agentd/presets/mcp"
	"agentd/providers/opencode"
	"agentd/providers/opencode/bridge"
)

// link is a session's way to OpenCode: a client in the session's own directory, where our tools are connected.
type link interface {
	// Client works in the session's directory.
	Client() *opencode.Client
	// ToolName and LocalName translate between our names of tools and those by which OpenCode knows them.
	ToolName(name string) string
	LocalName(tool string) (name string, ours bool)
	// Knows reports whether one of our tools has that name of ours, whether the model may use it or not.
	Knows(name string) bool
	// Bind lets OpenCode's calls in, on behalf of a turn.
	Bind(turn mcp.Turn) (*mcp.Binding, error)
	// Died is closed when OpenCode has ended; it stands for one life of it. Cause says why.
	Died() <-chan struct{}
	Cause() error
}

// openFunc returns the link of a session, and starts what is needed for it. It blocks until that stands.
type openFunc func(ctx context.Context, caller presets.Caller) (link, error)

// bridged is the link that the bridge makes.
type bridged struct{ *bridge.Link }

var _ link = bridged{}

func (b bridged) Died() <-chan struct{} { return b.Server().Done() }

func (b bridged) Cause() error { return b.Server().Err() }

// through opens links by a bridge.
func through(br *bridge.Bridge) openFunc {
	return func(ctx context.Context, caller presets.Caller) (link, error) {
		l, err := br.Open(ctx, caller)
		if err != nil {
			return nil, err
		}
		return bridged{l}, nil
	}
}
