package presets

import (
	"fmt"
	"slices"
	"strings"

	"agentd/messages"
)

// Limits of a preset.
const (
	// MaxNameBytes is the longest name of a preset or group, and the longest id of a tool.
	MaxNameBytes = 128
	// MaxPromptBytes is the longest prompt fragment of a preset.
	MaxPromptBytes = 64 << 10
)

// DefaultState says whether a preset becomes active by context alone.
type DefaultState string

// The default states. The empty one counts as DefaultAuto.
const (
	// DefaultAuto lets the preset be active wherever one of its contexts matches.
	DefaultAuto DefaultState = "auto"
	// DefaultOff keeps the preset inactive until a person turns it on.
	DefaultOff DefaultState = "off"
)

// Preset is a named set of tools of one risk, with the contexts in which they make sense and the text that tells a
// model how to use them. It is a value: a [Manager] copies it in and out.
type Preset struct {
	// Name is unique. Required.
	Name string `json:"name"`
	// Group puts presets together for people. It means nothing to the rules.
	Group string `json:"group,omitempty"`
	// Default says whether a matching context is enough. Empty means [DefaultAuto].
	Default DefaultState `json:"default-state,omitempty"`
	// Risk is the risk of every tool in the preset. Required.
	Risk messages.Risk `json:"risk"`
	// Contexts are the patterns of which one has to match. At least one; an empty pattern matches everywhere.
	Contexts []Pattern `json:"contexts"`
	// ToolIDs are the ids of the adapters that make the tools, in the order of listing. At least one.
	ToolIDs []string `json:"tool-ids"`
	// Prompt is the fragment for the system prompt of an agent. Empty is none.
	Prompt string `json:"system-prompt,omitempty"`
}

// Validate returns an error that wraps [ErrInvalid] and names the preset and the first fault.
func (p Preset) Validate() error {
	if p.Name == "" || len(p.Name) > MaxNameBytes || strings.TrimSpace(p.Name) != p.Name {
		return fmt.Errorf("preset name %.40q: %w: give 1 to %d bytes without spaces around them", p.Name, ErrInvalid, MaxNameBytes)
	}
	if fault := p.fault(); fault != "" {
		return fmt.Errorf("preset %q: %w: %s", p.Name, ErrInvalid, fault)
	}
	return nil
}

func (p Preset) fault() string {
	if len(p.Group) > MaxNameBytes {
		return fmt.Sprintf("its group has %d bytes, the limit is %d", len(p.Group), MaxNameBytes)
	}
	if p.Default != "" && p.Default != DefaultAuto && p.Default != DefaultOff {
		return fmt.Sprintf("its default state %q is neither %q nor %q", p.Default, DefaultAuto, DefaultOff)
	}
	if err := p.Risk.Validate(); err != nil {
		return err.Error()
	}
	if len(p.Contexts) == 0 {
		return "it has no contexts: give at least one pattern, {} for everywhere"
	}
	for _, pattern := range p.Contexts {
		if err := pattern.validate(); err != nil {
			return err.Error()
		}
	}
	if len(p.Prompt) > MaxPromptBytes {
		return fmt.Sprintf("its prompt has %d bytes, the limit is %d", len(p.Prompt), MaxPromptBytes)
	}
	return p.toolFault()
}

func (p Preset) toolFault() string {
	if len(p.ToolIDs) == 0 {
		return "it has no tool ids"
	}
	for i, id := range p.ToolIDs {
		if id == "" {
			return fmt.Sprintf("its tool id number %d is empty", i+1)
		}
		if slices.Contains(p.ToolIDs[:i], id) {
			return fmt.Sprintf("it names the tool %q twice", id)
		}
	}
	return ""
}

// Clone returns a preset that shares nothing that can change.
func (p Preset) Clone() Preset {
	p.ToolIDs = slices.Clone(p.ToolIDs)
	p.Contexts = slices.Clone(p.Contexts)
	for i := range p.Contexts {
		p.Contexts[i] = p.Contexts[i].clone()
	}
	return p
}
