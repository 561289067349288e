package presets

import (
	"fmt"
	"maps"
	"strconv"
)

// Names of the facts that every context has, as patterns spell them.
const (
	FactSurface       = "surface"
	FactCanvasVisible = "canvas-visible"
	FactActivity      = "activity"
)

// Words with a meaning of their own in a pattern.
const (
	// Any matches every value, and a fact that is not there.
	Any = "any"
	// None matches only a fact that is not there.
	None = "none"
)

// Limits of a context.
const (
	// MaxFacts is how many facts beside the three named ones a context may have.
	MaxFacts = 64
	// MaxFactBytes is the longest name or value of a fact.
	MaxFactBytes = 256
)

// Context says where the person is: the facts that decide which presets make sense.
type Context struct {
	// Surface is the part of the host that is in front: "app", "terminal", "drawing". Required.
	Surface string `json:"surface"`
	// CanvasVisible says whether a canvas can be seen. Patterns spell it "true" and "false".
	CanvasVisible bool `json:"canvas-visible"`
	// Activity is what the person is doing there; empty means nothing in particular, which [None] matches.
	Activity string `json:"activity,omitempty"`
	// Facts are further facts of the host. An empty value counts as not there.
	Facts map[string]string `json:"facts,omitempty"`
}

// Validate returns an error that wraps [ErrInvalid] and names the fault.
func (c Context) Validate() error {
	if c.Surface == "" {
		return fmt.Errorf("context: %w: its surface is empty: say which part of the host is in front", ErrInvalid)
	}
	if len(c.Facts) > MaxFacts {
		return fmt.Errorf("context: %w: it has %d facts, the limit is %d", ErrInvalid, len(c.Facts), MaxFacts)
	}
	for name, value := range map[string]string{FactSurface: c.Surface, FactActivity: c.Activity} {
		if len(value) > MaxFactBytes || value == Any || value == None {
			return fmt.Errorf("context: %w: its %s %.40q is too long or a word of patterns", ErrInvalid, name, value)
		}
	}
	for name, value := range c.Facts {
		switch {
		case name == "" || name == FactSurface || name == FactCanvasVisible || name == FactActivity:
			return fmt.Errorf("context: %w: the fact name %q is empty or stands for a field", ErrInvalid, name)
		case len(name) > MaxFactBytes || len(value) > MaxFactBytes:
			return fmt.Errorf("context: %w: the fact %.40q is longer than %d bytes", ErrInvalid, name, MaxFactBytes)
		case value == Any || value == None:
			return fmt.Errorf("context: %w: the fact %q is %q, which is a word of patterns", ErrInvalid, name, value)
		}
	}
	return nil
}

// Fact returns the value of a fact, or false if it is not there.
func (c Context) Fact(name string) (string, bool) {
	switch name {
	case FactSurface:
		return c.Surface, c.Surface != ""
	case FactCanvasVisible:
		return strconv.FormatBool(c.CanvasVisible), true
	case FactActivity:
		return c.Activity, c.Activity != ""
	default:
		value := c.Facts[name]
		return value, value != ""
	}
}

// Clone returns a context that shares nothing that can change.
func (c Context) Clone() Context {
	c.Facts = maps.Clone(c.Facts)
	return c
}

// Pattern says which contexts fit: every fact that it names must have the value that it gives, [Any] or [None]. A
// fact that it does not name does not matter, so the empty pattern fits everywhere.
type Pattern map[string]string

// Matches reports whether the context fits the pattern.
func (p Pattern) Matches(c Context) bool {
	for name, want := range p {
		got, there := c.Fact(name)
		switch {
		case want == Any:
		case want == None:
			if there {
				return false
			}
		case !there || got != want:
			return false
		}
	}
	return true
}

func (p Pattern) validate() error {
	if p == nil {
		return fmt.Errorf("one of its contexts is null: give {} for everywhere")
	}
	if len(p) > MaxFacts {
		return fmt.Errorf("one of its contexts names %d facts, the limit is %d", len(p), MaxFacts)
	}
	for name, value := range p {
		if name == "" || value == "" || len(name) > MaxFactBytes || len(value) > MaxFactBytes {
			return fmt.Errorf("one of its contexts has an empty or too long fact %.40q = %.40q", name, value)
		}
		if name == FactCanvasVisible && value != Any && value != None && value != "true" && value != "false" {
			return fmt.Errorf("one of its contexts has %s = %.40q: give \"true\", \"false\" or %q", name, value, Any)
		}
	}
	return nil
}

func (p Pattern) clone() Pattern { return maps.Clone(p) }
