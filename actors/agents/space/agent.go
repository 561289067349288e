package space

import (
	"context"
	"fmt"
	"time"

	"agentd/actors"
	"agentd/messages"
	"agentd/providers/opencode"
	"agentd/providers/opencode/bridge"
)

// ID is the id under which the agent is registered by habit.
const ID messages.AgentID = "space"

// DataKey is where the id of the OpenCode session is kept in the session's data.
const DataKey = "opencode-session-id"

// CancelGrace is how long a cancelled turn may take to leave OpenCode before the runtime goes on without it. OpenCode takes up to half a second to
// abort, and is asked then what it had done; on a machine under load the runtime's two seconds may be too few.
const CancelGrace = 5 * time.Second

// Register puts the agent under [ID]. The bridge has to be started before the first turn, and stopped after the runtime. Options without a
// model are accepted: then building the agent fails with [ErrNoModel], so that a host without one can still list its agents. Other faults of
// the options are [ErrInvalid].
func Register(agents *actors.Agents, br *bridge.Bridge, opts Options) error {
	if br == nil {
		return fmt.Errorf("registering the space agent: %w: the bridge is missing", ErrInvalid)
	}
	if err := opts.validate(); err != nil {
		return fmt.Errorf("registering the space agent: %w", err)
	}
	return agents.Register(ID, func() (actors.Agent, error) { return newAgent(through(br), opts) })
}

type agent struct {
	open    openFunc
	options Options
	rooms   rooms
}

var _ actors.LingeringAgent = (*agent)(nil)

func newAgent(open openFunc, opts Options) (*agent, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	if opts.Model == (opencode.Model{}) {
		return nil, ErrNoModel
	}
	return &agent{open: open, options: opts.withDefaults()}, nil
}

// Name implements [actors.Agent].
func (*agent) Name() string { return "Space Agent" }

// CancelGrace implements [actors.LingeringAgent].
func (*agent) CancelGrace() time.Duration { return CancelGrace }

// Run implements [actors.Agent].
func (a *agent) Run(ctx context.Context, tc *actors.TurnContext) error {
	room, leave, err := a.rooms.enter(ctx, tc.Session.Head.ID)
	if err != nil {
		return err
	}
	defer leave()
	t := &turn{agent: a, tc: tc, room: room}
	return explained(t.run(ctx))
}
