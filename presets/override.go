package presets

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"agentd/messages"
)

// Override is a person's word on a preset. It beats the preset's default and its contexts.
type Override string

// The three states.
const (
	// OverrideAuto leaves it to the default and the contexts. It is the same as no override.
	OverrideAuto Override = "auto"
	// OverrideOn makes the preset active everywhere.
	OverrideOn Override = "on"
	// OverrideOff makes it inactive everywhere.
	OverrideOff Override = "off"
)

// Validate returns an error that wraps [ErrInvalid] and lists the three states.
func (o Override) Validate() error {
	switch o {
	case OverrideAuto, OverrideOn, OverrideOff:
		return nil
	default:
		return fmt.Errorf("override %.40q: %w: use %q, %q or %q", string(o), ErrInvalid, OverrideAuto, OverrideOn, OverrideOff)
	}
}

// OverridesSchema names the layout of stored overrides.
const OverridesSchema = "agentd.preset-overrides/1"

// Overrides are all standing overrides: those for every session, and those of single sessions, which come first. It
// never holds [OverrideAuto].
type Overrides struct {
	Global   map[string]Override                        `json:"global"`
	Sessions map[messages.SessionID]map[string]Override `json:"sessions,omitempty"`
}

// Clone returns overrides that share nothing that can change.
func (o Overrides) Clone() Overrides {
	o.Global = maps.Clone(o.Global)
	o.Sessions = maps.Clone(o.Sessions)
	for id, layer := range o.Sessions {
		o.Sessions[id] = maps.Clone(layer)
	}
	return o
}

// layer returns the overrides for all sessions (empty id) or those of one. It is not to be changed.
func (o Overrides) layer(session messages.SessionID) map[string]Override {
	if session == "" {
		return o.Global
	}
	return o.Sessions[session]
}

// OverrideStore keeps overrides over a restart. Its owner writes a file with [EncodeOverrides]. A manager calls one
// method at a time; both may block.
type OverrideStore interface {
	// Load returns what was saved last; nothing saved yet is the zero value and no error.
	Load(ctx context.Context) (Overrides, error)
	// Save replaces what is stored, all or nothing. It returns when that is durable.
	Save(ctx context.Context, overrides Overrides) error
}

type overridesDocument struct {
	Schema string `json:"schema"`
	Overrides
}

// EncodeOverrides returns the stored form: one JSON document that names its schema.
func EncodeOverrides(overrides Overrides) ([]byte, error) {
	text, err := json.MarshalIndent(overridesDocument{Schema: OverridesSchema, Overrides: overrides}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding preset overrides: %w", err)
	}
	return append(text, '\n'), nil
}

// DecodeOverrides reads the stored form. A document of another schema is [ErrSchema], a state that is none is
// [ErrInvalid]. Names of presets that are not registered are kept: their preset may come back.
func DecodeOverrides(text []byte) (Overrides, error) {
	var doc overridesDocument
	if err := decodeDocument(text, OverridesSchema, &doc); err != nil {
		return Overrides{}, fmt.Errorf("decoding preset overrides: %w", err)
	}
	layers := []map[string]Override{doc.Global}
	for _, layer := range doc.Sessions {
		layers = append(layers, layer)
	}
	for _, layer := range layers {
		for name, override := range layer {
			if err := override.Validate(); err != nil {
				return Overrides{}, fmt.Errorf("decoding preset overrides: preset %q: %w", name, err)
			}
			if override == OverrideAuto {
				delete(layer, name)
			}
		}
	}
	return doc.Overrides, nil
}

// decodeDocument checks the schema of a stored document before it trusts the rest.
func decodeDocument(text []byte, schema string, into any) error {
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return err
	}
	if head.Schema != schema {
		return fmt.Errorf("%w %.60q: this version reads %q; the file is left untouched", ErrSchema, head.Schema, schema)
	}
	return json.Unmarshal(text, into)
}
