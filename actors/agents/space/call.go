package space

import (
	"context"
	"slices"
	"sync"
	"time"

	"agentd/actors"
	"agentd/presets"
	"agentd/presets/lifetime"
)

// The times for which the answer of a call that changed which tools there are waits for OpenCode to have seen that.
const (
	// noticeWithin bounds it; on an idle machine it takes about 30 ms.
	noticeWithin = 3 * time.Second
	// noticeQuiet is how long nothing more may be noticed: what was changed at once may arrive in two bursts.
	noticeQuiet = 100 * time.Millisecond
)

// call is one call of OpenCode that has reached our server. It runs on a goroutine of the server.
//
// A call may change which tools there are: a person approves one that was asked for, or a preset is switched. OpenCode is told
// of it by another way than the answer, and looks again on its own time. The answer waits for that, so that the model is offered in its next step
// what it has just been told of.
//
// When the turn is cancelled the call ends at once, but its answer is held back until OpenCode has let go of it: an answer
// would make OpenCode call the model once more before it hears of the cancel.
func (t *turn) call(ctx context.Context, call presets.Call) (presets.Result, error) {
	own, release := lifetime.Join(ctx, t.life)
	defer release()
	result, err := t.perform(own, call)
	if t.life.Err() != nil {
		await(ctx, nil, abortWithin)
	}
	return result, err
}

func (t *turn) perform(ctx context.Context, call presets.Call) (presets.Result, error) {
	if ctx.Err() != nil {
		return presets.Result{}, context.Cause(ctx)
	}
	model := t.agent.options.Model
	before, seen := t.toolNames(ctx), t.tools.changed()
	result, err := t.tc.Tools.Call(ctx, actors.ToolCall{
		ID: t.ledger.arrive(ctx, call.Name, call.Arguments), Name: call.Name, Arguments: call.Arguments, Reason: call.Reason,
		NoWait: call.NoWait, Provider: model.ProviderID, Model: model.ModelID,
	})
	if err == nil && ctx.Err() == nil && !slices.Equal(before, t.toolNames(ctx)) {
		for within := noticeWithin; await(ctx, seen, within); within = noticeQuiet {
			seen = t.tools.changed()
		}
	}
	return result, err
}

// toolNames are the names of the tools that the model should be offered now. While that cannot be told there are none.
func (t *turn) toolNames(ctx context.Context) []string {
	tools, err := t.tc.Tools.List(ctx)
	if err != nil {
		return nil
	}
	names := make([]string, len(tools))
	for i, tool := range tools {
		names[i] = tool.Name
	}
	return names
}

// await waits for a channel to be closed, for some time, and reports whether it was.
func await(ctx context.Context, closed <-chan struct{}, within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-closed:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// signal tells everybody who waits that something has happened.
type signal struct {
	mu   sync.Mutex
	next chan struct{}
}

func newSignal() *signal { return &signal{next: make(chan struct{})} }

// changed returns a channel that is closed when it happens the next time.
func (s *signal) changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next
}

func (s *signal) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.next)
	s.next = make(chan struct{})
}
