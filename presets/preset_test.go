package presets

import (
	"errors"
	"strings"
	"testing"

	"agentd/messages"
)

func goodPreset() Preset {
	return Preset{Name: "drawing", Risk: messages.RiskNormal, Contexts: []Pattern{{}}, ToolIDs: []string{"drawing.insert"}}
}

// Checklist 44: what breaks a rule is refused, naming the fault.
func TestPresetValidate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		spoil func(*Preset)
		want  string
	}{
		{"good", func(*Preset) {}, ""},
		{"default auto", func(p *Preset) { p.Default = DefaultAuto }, ""},
		{"no name", func(p *Preset) { p.Name = "" }, "preset name"},
		{"spaces around the name", func(p *Preset) { p.Name = " x" }, "preset name"},
		{"long name", func(p *Preset) { p.Name = strings.Repeat("x", MaxNameBytes+1) }, "preset name"},
		{"long group", func(p *Preset) { p.Group = strings.Repeat("x", MaxNameBytes+1) }, "group"},
		{"unknown risk", func(p *Preset) { p.Risk = "mild" }, `unknown risk "mild"`},
		{"no risk", func(p *Preset) { p.Risk = "" }, "unknown risk"},
		{"unknown default state", func(p *Preset) { p.Default = "on" }, `default state "on"`},
		{"no contexts", func(p *Preset) { p.Contexts = nil }, "no contexts"},
		{"a null context", func(p *Preset) { p.Contexts = []Pattern{nil} }, "null"},
		{"an empty fact", func(p *Preset) { p.Contexts = []Pattern{{"surface": ""}} }, "fact"},
		{"a canvas that is neither", func(p *Preset) { p.Contexts = []Pattern{{"canvas-visible": "yes"}} }, "canvas-visible"},
		{"no tools", func(p *Preset) { p.ToolIDs = nil }, "no tool ids"},
		{"an empty tool", func(p *Preset) { p.ToolIDs = []string{"a", ""} }, "number 2 is empty"},
		{"a tool twice", func(p *Preset) { p.ToolIDs = []string{"a", "a"} }, `"a" twice`},
		{"long prompt", func(p *Preset) { p.Prompt = strings.Repeat("x", MaxPromptBytes+1) }, "prompt"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			preset := goodPreset()
			test.spoil(&preset)
			err := preset.Validate()
			if test.want == "" {
				if err != nil {
					t.Fatalf("Validate() = %v, want nil", err)
				}
				return
			}
			if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Validate() = %v, want ErrInvalid with %q", err, test.want)
			}
		})
	}
}

// Checklist 42.
func TestPatternMatches(t *testing.T) {
	t.Parallel()
	where := Context{Surface: "app", CanvasVisible: true, Facts: map[string]string{"world": "w1", "nothing": ""}}
	for _, test := range []struct {
		name    string
		pattern Pattern
		want    bool
	}{
		{"empty fits everywhere", Pattern{}, true},
		{"exact", Pattern{"surface": "app"}, true},
		{"other value", Pattern{"surface": "terminal"}, false},
		{"two facts", Pattern{"surface": "app", "canvas-visible": "true"}, true},
		{"one of two differs", Pattern{"surface": "app", "canvas-visible": "false"}, false},
		{"any of a fact that is there", Pattern{"world": Any}, true},
		{"any of a fact that is not there", Pattern{"activity": Any}, true},
		{"none of a fact that is not there", Pattern{"activity": None}, true},
		{"none of a fact that is there", Pattern{"world": None}, false},
		{"none of an empty fact", Pattern{"nothing": None}, true},
		{"a value for a fact that is not there", Pattern{"activity": "drawing"}, false},
		{"further fact", Pattern{"world": "w1"}, true},
		{"unknown further fact", Pattern{"moon": "w1"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := test.pattern.Matches(where); got != test.want {
				t.Errorf("%v.Matches(%+v) = %t, want %t", test.pattern, where, got, test.want)
			}
		})
	}
}

func TestContextValidate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		context Context
		ok      bool
	}{
		{"least", Context{Surface: "app"}, true},
		{"no surface", Context{}, false},
		{"a word of patterns", Context{Surface: Any}, false},
		{"a fact with the name of a field", Context{Surface: "app", Facts: map[string]string{"surface": "x"}}, false},
		{"a fact that is a word of patterns", Context{Surface: "app", Facts: map[string]string{"x": None}}, false},
		{"a long fact", Context{Surface: "app", Facts: map[string]string{"x": strings.Repeat("x", MaxFactBytes+1)}}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if err := test.context.Validate(); (err == nil) != test.ok || err != nil && !errors.Is(err, ErrInvalid) {
				t.Errorf("Validate() = %v, want ok %t", err, test.ok)
			}
		})
	}
}
