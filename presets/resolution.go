package presets

import (
	"fmt"
	"slices"

	"agentd/messages"
)

// Cause says why a preset is active or not.
type Cause string

// The causes.
const (
	// CauseOverride is a person's override.
	CauseOverride Cause = "override"
	// CauseContext is a context that matches, or that none does.
	CauseContext Cause = "context"
	// CauseDefault is a default state of off.
	CauseDefault Cause = "default"
)

// ActivePreset is a preset that is active, and why.
type ActivePreset struct {
	Name  string        `json:"name"`
	Group string        `json:"group,omitempty"`
	Risk  messages.Risk `json:"risk"`
	Cause Cause         `json:"reason"`
}

// Fragment is the prompt text of one active preset.
type Fragment struct {
	Preset string `json:"preset"`
	Prompt string `json:"prompt"`
}

// Resolution is what is active in one place. It is a copy.
type Resolution struct {
	// Presets are the active ones, in the order of registration.
	Presets []ActivePreset
	// Tools are theirs, in the order of the presets and of their tool ids, approved or not.
	Tools Toolset
	// Fragments are the prompts of the active presets that have one.
	Fragments []Fragment
}

func (r *Resolution) clone() Resolution {
	return Resolution{Presets: slices.Clone(r.Presets), Tools: slices.Clone(r.Tools), Fragments: slices.Clone(r.Fragments)}
}

// equal reports whether the two offer the same in every respect that a listener can see.
func (r *Resolution) equal(other *Resolution) bool {
	return slices.Equal(r.Presets, other.Presets) && slices.Equal(r.Fragments, other.Fragments) &&
		slices.EqualFunc(r.Tools, other.Tools, sameTool)
}

func sameTool(a, b Tool) bool {
	return a.ID == b.ID && a.Name == b.Name && a.Description == b.Description && string(a.InputSchema) == string(b.InputSchema) &&
		a.Risk == b.Risk && a.Preset == b.Preset && a.Idempotent == b.Idempotent
}

// place is what decides which presets are active: where the person is, and the person's word.
type place struct {
	context   Context
	overrides []map[string]Override // the first that names the preset wins
}

func (p place) override(preset string) Override {
	for _, layer := range p.overrides {
		if override, set := layer[preset]; set {
			return override
		}
	}
	return OverrideAuto
}

// decide says whether a preset is active there, and why.
func (p place) decide(preset Preset) (bool, Cause) {
	switch p.override(preset.Name) {
	case OverrideOn:
		return true, CauseOverride
	case OverrideOff:
		return false, CauseOverride
	case OverrideAuto:
	}
	if preset.Default == DefaultOff {
		return false, CauseDefault
	}
	return slices.ContainsFunc(preset.Contexts, func(pattern Pattern) bool { return pattern.Matches(p.context) }), CauseContext
}

// resolve is the pure rule. The error wraps [ErrConflict] and names both presets.
func (r registry) resolve(p place) (*Resolution, error) {
	out := new(Resolution)
	owner, named := map[string]string{}, map[string]string{}
	for _, preset := range r.presets {
		active, cause := p.decide(preset)
		if !active {
			continue
		}
		out.Presets = append(out.Presets, ActivePreset{Name: preset.Name, Group: preset.Group, Risk: preset.Risk, Cause: cause})
		if preset.Prompt != "" {
			out.Fragments = append(out.Fragments, Fragment{Preset: preset.Name, Prompt: preset.Prompt})
		}
		for _, id := range preset.ToolIDs {
			tool := r.tool(id, preset.Name)
			if other, twice := owner[id]; twice {
				return nil, fmt.Errorf("%w: the presets %q and %q both offer the tool %q: turn one of them off", ErrConflict, other, preset.Name, id)
			}
			if other, twice := named[tool.Name]; twice {
				return nil, fmt.Errorf("%w: the tools %q and %q both have the name %q: turn one of their presets off", ErrConflict, other, id, tool.Name)
			}
			owner[id], named[tool.Name] = preset.Name, id
			out.Tools = append(out.Tools, tool)
		}
	}
	return out, nil
}

func (r registry) tool(id, preset string) Tool {
	entry := r.adapters[id]
	return Tool{
		ID: id, Name: entry.Name, Description: entry.Description, InputSchema: entry.InputSchema,
		Risk: r.risk(id), Preset: preset, Idempotent: entry.Idempotent,
	}
}
