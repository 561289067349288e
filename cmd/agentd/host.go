package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"agentd/actors"
	"agentd/cmd/agentd/internal/home"
	"agentd/messages"
	"agentd/persistence/jsonfile"
	"agentd/presets"
	"agentd/presets/builtin"
)

// host is the default runtime of agentd on a data directory that this process owns.
type host struct {
	dir     home.Dir
	runtime *actors.Runtime
	store   *jsonfile.Store
}

// hostOptions are what a command asks of its runtime.
type hostOptions struct {
	// allow are the risks that need no approval in this process.
	allow []messages.Risk
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
	agents, err := a.registered()
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
	runtime, err := actors.Start(actors.Deps{Store: store, Agents: agents, Presets: manager, Grants: dir.GrantFile()}, &actors.Options{
		Policy: policy, ArtifactRoot: dir.Artifacts(), WorkspaceRoot: workspace, DataDir: dir.Path(), Logger: a.logger(),
	})
	if err != nil {
		return nil, errors.Join(err, store.Close(ctx))
	}
	return &host{dir: dir, runtime: runtime, store: store}, nil
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

// stop ends the runtime: sessions are written to their files, and the data directory is free.
func (h *host) stop() error { return h.runtime.Stop(context.Background()) }

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
