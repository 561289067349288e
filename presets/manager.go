package presets

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"agentd/messages"
)

// MaxSessionPlaces is how many sessions may have a context or overrides of their own at one time.
const MaxSessionPlaces = 100_000

// ManagerOptions tune a manager. The zero value is good.
type ManagerOptions struct {
	// Context is where the person is at first. The zero value is the surface "app".
	Context Context
	// Store keeps overrides over a restart. Nil keeps them in memory only. Call [Manager.Load] to read it.
	Store OverrideStore
	// Logger is told of listeners that panic. Nil discards.
	Logger *slog.Logger
}

func (o *ManagerOptions) withDefaults() ManagerOptions {
	var out ManagerOptions
	if o != nil {
		out = *o
	}
	if out.Context.Surface == "" && out.Context.Activity == "" && len(out.Context.Facts) == 0 {
		out.Context.Surface = "app"
	}
	if out.Logger == nil {
		out.Logger = slog.New(slog.DiscardHandler)
	}
	return out
}

// Manager holds the registered presets and adapters, where the person is, and the person's overrides, and says which presets are active.
// It is the person's face of the presets; agents get a [View]. Contexts and overrides may be set for all sessions (an empty id) or for
// one: a session's own come before those for all.
type Manager struct {
	store    OverrideStore // set at construction
	listener *listeners    // set at construction

	mu    sync.Mutex             // orders changes
	state atomic.Pointer[layout] // written under mu; what it points to is never changed
}

// NewManager returns a manager in which nothing is registered. The error names a bad option.
func NewManager(opts *ManagerOptions) (*Manager, error) {
	options := opts.withDefaults()
	if err := options.Context.Validate(); err != nil {
		return nil, fmt.Errorf("preset manager: %w", err)
	}
	m := &Manager{store: options.Store, listener: &listeners{logger: options.Logger}}
	m.state.Store(&layout{
		context:  options.Context.Clone(),
		resolved: map[messages.SessionID]*Resolution{"": {}},
	})
	return m, nil
}

// Load takes over the stored overrides, in place of those that are set. Call it once, after the presets are registered
// and before the manager is used. A store that holds a conflict or another version is an error, and nothing is taken over.
func (m *Manager) Load(ctx context.Context) error {
	if m.store == nil {
		return nil
	}
	overrides, err := m.store.Load(ctx)
	if err == nil {
		err = m.change(ctx, everywhere, func(next *layout) error {
			next.overrides = overrides.Clone()
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("loading preset overrides: %w", err)
	}
	return nil
}

// RegisterAdapter adds an adapter. Errors: [ErrInvalid], [ErrExists].
func (m *Manager) RegisterAdapter(adapter Adapter) error {
	return m.register(func(r registry) (registry, error) { return r.withAdapter(adapter) })
}

// UnregisterAdapter removes an adapter that no preset names. Errors: [ErrUnknownAdapter], [ErrInUse].
func (m *Manager) UnregisterAdapter(id string) error {
	return m.register(func(r registry) (registry, error) { return r.withoutAdapter(id) })
}

// RegisterPreset adds a preset whose adapters are registered already. Errors: [ErrInvalid], [ErrExists],
// [ErrUnknownAdapter], and [ErrConflict] if it would be active at once and clash.
func (m *Manager) RegisterPreset(preset Preset) error {
	return m.register(func(r registry) (registry, error) { return r.withPreset(preset) })
}

// UnregisterPreset removes a preset. Overrides on it stay, in case it comes back. Error: [ErrUnknownPreset].
func (m *Manager) UnregisterPreset(name string) error {
	return m.register(func(r registry) (registry, error) { return r.withoutPreset(name) })
}

func (m *Manager) register(change func(registry) (registry, error)) error {
	return m.change(context.Background(), everywhere, func(next *layout) (err error) {
		next.registry, err = change(next.registry)
		return err
	})
}

// Presets returns the registered presets, in the order of registration.
func (m *Manager) Presets() []Preset {
	registered := m.state.Load().registry.presets
	out := make([]Preset, len(registered))
	for i, preset := range registered {
		out[i] = preset.Clone()
	}
	return out
}

// Context returns where the person is, as the session sees it.
func (m *Manager) Context(session messages.SessionID) Context {
	return m.state.Load().place(session).context.Clone()
}

// SetContext says where the person is: for all sessions (empty id) or for one. Errors: [ErrInvalid], [ErrConflict].
func (m *Manager) SetContext(session messages.SessionID, where Context) error {
	if err := where.Validate(); err != nil {
		return err
	}
	return m.change(context.Background(), session, func(next *layout) error {
		if session == "" {
			next.context = where.Clone()
			return nil
		}
		next.contexts = cloneMap(next.contexts)
		next.contexts[session] = where.Clone()
		return nil
	})
}

// SetOverride sets a person's word on a preset, for all sessions (empty id) or for one. [OverrideAuto] takes it back. It returns
// when the store has it. Errors: [ErrInvalid], [ErrUnknownPreset], [ErrConflict], and those of the store; then nothing has changed.
func (m *Manager) SetOverride(ctx context.Context, session messages.SessionID, preset string, override Override) error {
	if err := override.Validate(); err != nil {
		return err
	}
	return m.change(ctx, session, func(next *layout) error {
		if !next.registry.has(preset) {
			return fmt.Errorf("preset %q: %w", preset, ErrUnknownPreset)
		}
		next.setOverride(session, preset, override)
		return nil
	})
}

// ResetOverrides takes back every override: those for all sessions (empty id; single sessions keep theirs), or those of
// one. Errors are those of [Manager.SetOverride].
func (m *Manager) ResetOverrides(ctx context.Context, session messages.SessionID) error {
	return m.change(ctx, session, func(next *layout) error {
		next.dropOverrides(session)
		return nil
	})
}

// Forget drops what is set for one session, when the session is deleted. Errors are those of the store; then nothing
// has changed.
func (m *Manager) Forget(ctx context.Context, session messages.SessionID) error {
	if session == "" {
		return nil
	}
	return m.change(ctx, session, func(next *layout) error {
		next.dropOverrides(session)
		if _, own := next.contexts[session]; own {
			next.contexts = cloneMap(next.contexts)
			delete(next.contexts, session)
		}
		return nil
	})
}

// Overrides returns all standing overrides.
func (m *Manager) Overrides() Overrides { return m.state.Load().overrides.Clone() }

// Resolve returns what is active for a session (or, with an empty id, for those without settings of their own).
func (m *Manager) Resolve(session messages.SessionID) Resolution {
	return m.state.Load().resolution(session).clone()
}

// OnChange adds a listener for effective changes and returns the function that removes it. Listeners are called one at a
// time, in the order of the changes, on the goroutine of some change, without a lock: they may call the manager. A change that a listener makes
// is told after the present one.
func (m *Manager) OnChange(listener func(Change)) (remove func()) { return m.listener.add(listener) }

// change makes the next state of the present one, checks it, saves it if overrides changed, and only then makes it the present
// one and tells the listeners. On an error nothing has happened. The scope is the session whose place changes, or everywhere.
func (m *Manager) change(ctx context.Context, scope messages.SessionID, edit func(next *layout) error) error {
	defer m.listener.drain() // After mu is free, so that a listener may change something.
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.state.Load()
	next := *now
	next.dirty = false
	if err := edit(&next); err != nil {
		return err
	}
	if err := next.resolve(scope); err != nil {
		return err
	}
	if next.dirty && m.store != nil {
		if err := m.store.Save(ctx, next.overrides.Clone()); err != nil {
			return fmt.Errorf("saving preset overrides: %w", err)
		}
	}
	m.state.Store(&next)
	if change := now.diff(&next); change.Global || len(change.Sessions) > 0 {
		m.listener.queue(change)
	}
	return nil
}
