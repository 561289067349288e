package testkit

import (
	"context"
	"testing"
	"time"

	"agentd/actors"
	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/jsonfile"
	"agentd/persistence/memory"
	"agentd/presets"
)

// Patience is how long the functions of this package wait for what should happen at once. It is long, since a loaded
// machine under the race detector is slow, and is used up only by a test that fails.
const Patience = 30 * time.Second

// Options say what a test runtime is made of. The zero value is a memory store, no agents and no presets.
type Options struct {
	// Actors are the options of the runtime itself.
	Actors actors.Options
	// Agents are registered under their ids.
	Agents map[messages.AgentID]actors.Agent
	// Store keeps the sessions. Nil means what Dir says.
	Store persistence.Store
	// Dir is the data directory of a jsonfile store. Empty means a memory store. Use tb.TempDir() for a fresh one.
	Dir string
	// Files tunes the jsonfile store in Dir. Nil is good.
	Files *jsonfile.Options
	// Presets is the person's face of the presets. Nil means an empty one.
	Presets *presets.Manager
	// Grants keeps standing approvals. Nil keeps them in memory.
	Grants presets.GrantStore
}

// Runtime is an [actors.Runtime] that belongs to a test. Its own methods end the test when something fails that
// the test does not ask about; those of the embedded runtime return errors.
type Runtime struct {
	*actors.Runtime
	// Store is what the runtime stores into.
	Store persistence.Store

	tb      testing.TB
	leaving bool
}

// NewRuntime starts a runtime for a test. When the test ends it is stopped, and the test fails if that gives an error or if anything
// of it is left, see [Runtime.VerifyStopped]. It may be used in a bubble of testing/synctest.
func NewRuntime(tb testing.TB, opts *Options) *Runtime {
	tb.Helper()
	if opts == nil {
		opts = &Options{}
	}
	rt := &Runtime{Store: openStore(tb, opts), tb: tb}
	agents := &actors.Agents{}
	for id, agent := range opts.Agents {
		if err := agents.Register(id, func() (actors.Agent, error) { return agent, nil }); err != nil {
			tb.Fatal(err)
		}
	}
	manager := opts.Presets
	if manager == nil {
		var err error
		if manager, err = presets.NewManager(nil); err != nil {
			tb.Fatal(err)
		}
	}
	settings := opts.Actors
	started, err := actors.Start(actors.Deps{Store: rt.Store, Agents: agents, Presets: manager, Grants: opts.Grants}, &settings)
	if err != nil {
		tb.Fatal(err)
	}
	rt.Runtime = started
	tb.Cleanup(rt.cleanup)
	return rt
}

func openStore(tb testing.TB, opts *Options) persistence.Store {
	tb.Helper()
	switch {
	case opts.Store != nil:
		return opts.Store
	case opts.Dir == "":
		return memory.New()
	}
	store, err := jsonfile.Open(opts.Dir, opts.Files)
	if err != nil {
		tb.Fatal(err)
	}
	return store
}

func (r *Runtime) cleanup() {
	r.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	err := r.Stop(ctx)
	if r.leaving {
		return
	}
	if err != nil {
		r.tb.Errorf("stopping the test's runtime: %v", err)
	}
	r.VerifyStopped()
}

// Abandon says that the runtime cannot be expected to stop well, because the test breaks it on purpose: at the end of the test
// it is stopped all the same, and neither errors nor leaks are looked at.
func (r *Runtime) Abandon() { r.leaving = true }

// Context returns a context that ends when the test ends, or has been too slow.
func (r *Runtime) Context() context.Context {
	ctx, cancel := context.WithTimeout(r.tb.Context(), Patience)
	r.tb.Cleanup(cancel)
	return ctx
}

// Create makes a session for an agent. An empty id means a fresh one.
func (r *Runtime) Create(agent messages.AgentID, id messages.SessionID) messages.SessionID {
	r.tb.Helper()
	head, err := r.CreateSession(r.Context(), agent, actors.CreateOptions{ID: id})
	if err != nil {
		r.tb.Fatal(err)
	}
	return head.ID
}

// Run starts a turn.
func (r *Runtime) Run(id messages.SessionID, input string, opts actors.RunOptions) *actors.TurnHandle {
	r.tb.Helper()
	handle, err := r.RunTurn(r.Context(), id, input, opts)
	if err != nil {
		r.tb.Fatal(err)
	}
	return handle
}

// Wait waits for the end of a turn.
func (r *Runtime) Wait(handle *actors.TurnHandle) messages.Turn {
	r.tb.Helper()
	turn, err := handle.Wait(r.Context())
	if err != nil {
		r.tb.Fatal(err)
	}
	return turn
}

// Complete runs a turn to its end, and ends the test if it does not complete.
func (r *Runtime) Complete(id messages.SessionID, input string) messages.Turn {
	r.tb.Helper()
	turn := r.Wait(r.Run(id, input, actors.RunOptions{}))
	if turn.Status != messages.TurnCompleted {
		r.tb.Fatalf("turn %q with input %q: %s: %s, want completed", turn.ID, input, turn.Status, turn.Error)
	}
	return turn
}

// View returns a session as it is stored.
func (r *Runtime) View(id messages.SessionID) actors.SessionView {
	r.tb.Helper()
	view, err := r.Session(r.Context(), id)
	if err != nil {
		r.tb.Fatal(err)
	}
	return view
}
