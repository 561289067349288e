package actors

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"agentd/actors/internal/session"
	"agentd/messages"
	"agentd/presets"
)

// turnParts is everything that one turn needs, in one piece of memory: turns are short and many. It is also the message that makes
// the turn's actor begin.
type turnParts struct {
	agent Agent
	// grace is how long the agent and its hook may take to stop.
	grace time.Duration
	// owner is the turn's actor, and job what the agent's goroutine does.
	owner      *actor.PID
	job        job
	drive      drive
	run        turnRun
	context    TurnContext
	controller TurnController
	tools      TurnTools
	recorder   viewRecorder
	view       presets.View
}

// newTurn builds a turn, and what its agent is given.
func (s *sessionActor) newTurn(e *session.StartTurn, prompt *promptCall) *turnParts {
	rt := s.runtime
	p := &turnParts{agent: prompt.agent, grace: prompt.grace}
	ctx, cancel := context.WithCancelCause(context.Background())
	p.run.id, p.run.ctx, p.run.cancel, p.run.logger = e.Turn.ID, ctx, cancel, s.runtime.logger
	p.controller.run, p.controller.entry = &p.run, s.entry
	p.context = TurnContext{
		Input: e.Input, Session: SessionView{Head: s.state.Head(), Items: s.state.Items()},
		Turn: &p.controller, Tools: &p.tools, Agents: rt.deps.Agents,
		App: rt.deps.App, Providers: rt.deps.Providers,
		WorkspaceRoot: rt.options.WorkspaceRoot, DataDir: rt.options.DataDir,
	}
	if rt.options.ArtifactRoot != "" {
		p.context.ArtifactDir = filepath.Join(rt.options.ArtifactRoot, string(s.entry.id))
	}
	p.tools = TurnTools{
		surface: rt.surface, turn: &p.controller, parent: lastUserItem(p.context.Session.Items),
		caller:      presets.Caller{SessionID: s.entry.id, TurnID: e.Turn.ID, AgentID: s.entry.agentID},
		artifactDir: p.context.ArtifactDir, workspaceRoot: p.context.WorkspaceRoot,
	}
	p.recorder.tools = &p.tools
	p.view, p.context.Presets = rt.view(p.tools.caller, &p.recorder), &p.view
	return p
}

// view returns an agent's face of the presets.
func (rt *Runtime) view(caller presets.Caller, recorder presets.Recorder) presets.View {
	view, err := presets.NewView(presets.ViewParams{
		Manager: rt.deps.Presets, Approvals: rt.approvals, Caller: caller, Recorder: recorder,
	})
	if err != nil {
		panic(fmt.Errorf("building a view: %w", err)) // It only fails without the services that Start has checked.
	}
	return view
}

// lastUserItem is the message that the turn answers.
func lastUserItem(items []*messages.Item) messages.ItemID {
	for i := len(items) - 1; i >= 0; i-- {
		if items[i].Role == messages.RoleUser {
			return items[i].ID
		}
	}
	return ""
}
