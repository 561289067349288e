package actors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"agentd/messages"
)

// Agent does the work of a turn: it reads the input and the session, talks to whatever it was built with, and
// tells what happens through the turn's controller.
type Agent interface {
	// Name is the display name.
	Name() string
	// Run drives one turn. It is called on a goroutine of the turn, for one turn at a time in each session but for
	// several sessions at once, and may block. The context ends when the turn is cancelled or the runtime
	// stops: return soon then. To return is to end the turn: nil completes it (with an empty
	// result, unless [TurnController.Finish] was called), an error fails it with the error's text. A panic, or [runtime.Goexit], fails the turn and nothing else. What is
	// done through the controller after the end of the turn changes nothing.
	Run(ctx context.Context, turn *TurnContext) error
}

// LingeringAgent is an [Agent] that needs longer to stop than most, because what it drives has to stop first.
type LingeringAgent interface {
	Agent
	// CancelGrace is how long the agent and its hook may take to stop. Whichever is longer counts, this or [Options.CancelGrace], but never
	// more than four fifths of [Options.StopTimeout], so that a stop still records how the turn ended. It must not block.
	CancelGrace() time.Duration
}

// graceOf returns how long an agent and its hook may take to stop.
func (o *Options) graceOf(agent Agent) (grace time.Duration) {
	grace = o.CancelGrace
	lingering, ok := agent.(LingeringAgent)
	if !ok {
		return grace
	}
	defer func() { _ = recover() }() // Then the agent has said nothing.
	return max(grace, min(lingering.CancelGrace(), o.StopTimeout*4/5))
}

// AgentFunc is a function that is an [Agent] without a name of its own.
type AgentFunc func(ctx context.Context, turn *TurnContext) error

// Name implements [Agent].
func (f AgentFunc) Name() string { return "" }

// Run implements [Agent].
func (f AgentFunc) Run(ctx context.Context, turn *TurnContext) error { return f(ctx, turn) }

// AgentFactory builds an agent. It is called when the agent is first needed, on the goroutine of who needs it, and closes over
// whatever the agent depends on.
type AgentFactory func() (Agent, error)

// AgentInfo is a line of [Agents.List].
type AgentInfo struct {
	ID   messages.AgentID `json:"id"`
	Name string           `json:"name"`
	// Err says why the factory failed, if it did. The others are listed all the same.
	Err error `json:"-"`
}

// Agents maps agent ids to factories. The zero value is empty and ready. It is safe for concurrent use.
type Agents struct {
	mu      sync.Mutex
	entries map[messages.AgentID]*agentEntry
}

// agentEntry builds its agent once. A failure is tried again at the next call.
type agentEntry struct {
	mu      sync.Mutex
	factory AgentFactory
	agent   Agent
}

// Register puts a factory under an id. An id that is taken gets the new factory, and builds anew.
func (a *Agents) Register(id messages.AgentID, factory AgentFactory) error {
	if err := id.Validate(); err != nil {
		return fmt.Errorf("registering an agent: %w", err)
	}
	if factory == nil {
		return fmt.Errorf("registering agent %q: its factory is nil", id)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.entries == nil {
		a.entries = map[messages.AgentID]*agentEntry{}
	}
	a.entries[id] = &agentEntry{factory: factory}
	return nil
}

// Unregister removes an agent. An unknown one is fine.
func (a *Agents) Unregister(id messages.AgentID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.entries, id)
}

// Get returns the agent, and builds it if this is the first call. It blocks as long as the factory. The error wraps
// [ErrUnknownAgent], or names the agent and why it could not be built.
func (a *Agents) Get(id messages.AgentID) (Agent, error) {
	a.mu.Lock()
	entry := a.entries[id]
	a.mu.Unlock()
	if entry == nil {
		return nil, fmt.Errorf("agent %q: %w: known are %v", id, ErrUnknownAgent, a.ids())
	}
	agent, err := entry.get()
	if err != nil {
		return nil, fmt.Errorf("building agent %q: %w", id, err)
	}
	return agent, nil
}

func (e *agentEntry) get() (Agent, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.agent != nil {
		return e.agent, nil
	}
	agent, err := build(e.factory)
	if err != nil {
		return nil, err
	}
	e.agent = agent
	return agent, nil
}

// build calls a factory, and makes an error of a panic.
func build(factory AgentFactory) (agent Agent, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("its factory panicked: %v", reason)
		}
	}()
	agent, err = factory()
	if err == nil && agent == nil {
		err = errors.New("its factory returned no agent")
	}
	return agent, err
}

// List returns the agents by id. It builds those that are not built; one that cannot be built is listed with its error.
func (a *Agents) List() []AgentInfo {
	ids := a.ids()
	list := make([]AgentInfo, 0, len(ids))
	for _, id := range ids {
		info := AgentInfo{ID: id, Name: string(id)}
		agent, err := a.Get(id)
		if errors.Is(err, ErrUnknownAgent) {
			continue // Unregistered meanwhile.
		}
		if info.Err = err; err == nil {
			info.Name = cmp.Or(agent.Name(), string(id))
		}
		list = append(list, info)
	}
	return list
}

func (a *Agents) ids() []messages.AgentID {
	a.mu.Lock()
	defer a.mu.Unlock()
	ids := make([]messages.AgentID, 0, len(a.entries))
	for id := range a.entries {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
