package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"agentd/actors"
	"agentd/cmd/agentd/internal/home"
	"agentd/messages"
	"agentd/persistence/jsonfile"
	"agentd/presets"
	"agentd/presets/builtin"
	"agentd/providers/opencode/bridge"
)

// personWait is how long the tool that asks for an approval waits for a person at the terminal. OpenCode waits longer for a tool,
// see bridge.DefaultToolTimeout.
const personWait = 10 * time.Minute

// host is the default runtime of agentd on a data directory that this process owns.
type host struct {
	app       *app
	dir       home.Dir
	workspace string
	runtime   *actors.Runtime
	store     *jsonfile.Store
	// bridge is nil until the space agent's first turn. It is written by that turn, and read when the runtime has stopped.
	bridge *bridge.Bridge
}

// hostOptions are what a command asks of its runtime.
type hostOptions struct {
	// allow are the risks that need no approval in this process.
	allow []messages.Risk
	// exposure is what happens to tools that need one. Empty means that they are hidden.
	exposure presets.Exposure
	// requestWait is how long the tool that asks for an approval waits. Zero means the default.
	requestWait time.Duration
	// space is what flags say about the space agent.
	space spaceFlags
}

// host takes the data directory and starts a runtime on it. The caller stops it.
func (a *app) host(ctx context.Context, opts hostOptions) (*host, error) {
	dir, err := a.home()
	if err != nil {
		return nil, err
	}
	workspace, err := a.workspaceRoot()
	if err != nil {
		return nil, err
	}
	h := &host{app: a, dir: dir, workspace: workspace}
	agents, err := a.registered(opts.space, h.connectSpace)
	if err != nil {
		return nil, err
	}
	manager, err := loadPresets(ctx, dir, a.logger())
	if err != nil {
		return nil, err
	}
	store, err := a.own(dir)
	if err != nil {
		return nil, err
	}
	policy := presets.DefaultPolicy()
	for _, risk := range opts.allow {
		policy[risk] = presets.RuleAuto
	}
	h.store = store
	h.runtime, err = actors.Start(actors.Deps{Store: store, Agents: agents, Presets: manager, Grants: dir.GrantFile()}, &actors.Options{
		Policy: policy, Exposure: opts.exposure, RequestWait: opts.requestWait,
		ArtifactRoot: dir.Artifacts(), WorkspaceRoot: workspace, DataDir: dir.Path(), Logger: a.logger(),
	})
	if err != nil {
		return nil, errors.Join(err, store.Close(ctx))
	}
	return h, nil
}

// own opens the store of a data directory, and tells what a crash left in it.
func (a *app) own(dir home.Dir) (*jsonfile.Store, error) {
	store, err := jsonfile.Open(dir.Path(), nil)
	if err != nil {
		return nil, err
	}
	report := store.Report()
	if report.TornBytes > 0 {
		a.complain("agentd: a crash tore the last %d bytes of %q; they were passed over, and nothing that was acknowledged is lost", report.TornBytes, report.TornFile)
	}
	for _, bad := range report.Bad {
		a.complain("agentd: session %q cannot be used, the others can: %s", bad.ID, bad.Err)
	}
	a.logger().Info("data directory opened", slog.String("dir", dir.Path()), slog.Int("unfolded", report.Sessions), slog.Int("interrupted", len(report.Running)))
	return store, nil
}

// stop ends the runtime: sessions are written to their files, and the data directory is free. Then OpenCode ends, if it was used.
func (h *host) stop() error {
	return errors.Join(h.runtime.Stop(context.Background()), h.stopBridge())
}

// loadPresets returns the built-in presets with what the person has set. It does not need the data directory for itself.
func loadPresets(ctx context.Context, dir home.Dir, logger *slog.Logger) (*presets.Manager, error) {
	manager, err := presets.NewManager(&presets.ManagerOptions{
		Context: presets.Context{Surface: "terminal", CanvasVisible: true}, Store: dir.OverrideFile(), Logger: logger,
	})
	if err != nil {
		return nil, err
	}
	bundles, err := builtin.All(nil)
	if err == nil {
		err = manager.Install(bundles...)
	}
	if err != nil {
		return nil, fmt.Errorf("installing the built-in presets: %w", err)
	}
	if err := manager.Load(ctx); err != nil {
		return nil, err
	}
	return manager, nil
}
