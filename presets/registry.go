package presets

import (
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"agentd/messages"
)

// registry holds what is registered. It is immutable: a change makes a new one, so that a reader may keep what it has.
type registry struct {
	presets  []Preset // in the order of registration
	adapters map[string]*adapterEntry
}

// adapterEntry is an adapter with its compiled schema. It is never changed.
type adapterEntry struct {
	Adapter
	schema *jsonschema.Resolved
}

func (r registry) has(preset string) bool {
	return slices.ContainsFunc(r.presets, func(p Preset) bool { return p.Name == preset })
}

// named reports whether an adapter makes a tool of that name.
func (r registry) named(tool string) bool {
	for _, adapter := range r.adapters {
		if adapter.Name == tool {
			return true
		}
	}
	return false
}

func (r registry) withPreset(preset Preset) (registry, error) {
	if err := preset.Validate(); err != nil {
		return r, err
	}
	if r.has(preset.Name) {
		return r, fmt.Errorf("preset %q: %w", preset.Name, ErrExists)
	}
	for _, id := range preset.ToolIDs {
		if r.adapters[id] == nil {
			return r, fmt.Errorf("preset %q names the tool %q: %w: register the adapter first", preset.Name, id, ErrUnknownAdapter)
		}
	}
	r.presets = append(slices.Clip(r.presets), preset.Clone())
	return r, nil
}

func (r registry) withoutPreset(name string) (registry, error) {
	if !r.has(name) {
		return r, fmt.Errorf("preset %q: %w", name, ErrUnknownPreset)
	}
	r.presets = slices.DeleteFunc(slices.Clone(r.presets), func(p Preset) bool { return p.Name == name })
	return r, nil
}

func (r registry) withAdapter(adapter Adapter) (registry, error) {
	if err := adapter.Validate(); err != nil {
		return r, err
	}
	if r.adapters[adapter.ID] != nil {
		return r, fmt.Errorf("adapter %q: %w", adapter.ID, ErrExists)
	}
	adapter = adapter.Clone()
	schema, err := compileSchema(adapter.InputSchema)
	if err != nil {
		return r, fmt.Errorf("adapter %q: %w: its input schema: %w", adapter.ID, ErrInvalid, err)
	}
	r.adapters = cloneMap(r.adapters)
	r.adapters[adapter.ID] = &adapterEntry{Adapter: adapter, schema: schema}
	return r, nil
}

func (r registry) withoutAdapter(id string) (registry, error) {
	if r.adapters[id] == nil {
		return r, fmt.Errorf("adapter %q: %w", id, ErrUnknownAdapter)
	}
	for _, preset := range r.presets {
		if slices.Contains(preset.ToolIDs, id) {
			return r, fmt.Errorf("adapter %q: %w: the preset %q names it", id, ErrInUse, preset.Name)
		}
	}
	r.adapters = cloneMap(r.adapters)
	delete(r.adapters, id)
	return r, nil
}

// risk is the strictest risk that anybody gave the tool. A preset that calls a shell normal loosens nothing.
func (r registry) risk(id string) messages.Risk {
	risk := messages.RiskNormal
	if entry := r.adapters[id]; entry != nil && entry.Risk != "" {
		risk = messages.Stricter(risk, entry.Risk)
	}
	for _, preset := range r.presets {
		if slices.Contains(preset.ToolIDs, id) {
			risk = messages.Stricter(risk, preset.Risk)
		}
	}
	return risk
}

func cloneMap[K comparable, V any](m map[K]V) map[K]V {
	out := make(map[K]V, len(m)+1)
	for key, value := range m {
		out[key] = value
	}
	return out
}
