package presets

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func goodAdapter(id, name string) Adapter {
	return Adapter{
		ID: id, Name: name, Description: "Does it.", InputSchema: json.RawMessage(`{"type":"object"}`),
		Make: Bind(func(context.Context, Env, struct{}) (Result, error) { return Text("done"), nil }),
	}
}

func TestAdapterValidate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		spoil func(*Adapter)
		want  string
	}{
		{"good", func(*Adapter) {}, ""},
		{"the longest name", func(a *Adapter) { a.Name = ToolPrefix + strings.Repeat("x", 58) }, ""},
		{"a dash in the name", func(a *Adapter) { a.Name = "space_a-b" }, ""},
		{"no id", func(a *Adapter) { a.ID = "" }, "adapter id"},
		{"a space in the id", func(a *Adapter) { a.ID = "a b" }, "adapter id"},
		{"a kept id", func(a *Adapter) { a.ID = "agent.enable-preset" }, "kept"},
		{"no prefix", func(a *Adapter) { a.Name = "draw" }, "begin with"},
		{"prefix alone", func(a *Adapter) { a.Name = ToolPrefix }, "begin with"},
		{"one byte too long", func(a *Adapter) { a.Name = ToolPrefix + strings.Repeat("x", 59) }, "64"},
		{"a dot, which one of the shapes forbids", func(a *Adapter) { a.Name = "space_a.b" }, "letters, digits"},
		{"a letter that is not ASCII", func(a *Adapter) { a.Name = "space_é" }, "letters, digits"},
		{"a kept name", func(a *Adapter) { a.Name = RequestToolName }, "kept"},
		{"no description", func(a *Adapter) { a.Description = " " }, "description"},
		{"unknown risk", func(a *Adapter) { a.Risk = "mild" }, "mild"},
		{"no Make", func(a *Adapter) { a.Make = nil }, "Make"},
		{"no schema", func(a *Adapter) { a.InputSchema = nil }, "schema"},
		{"a schema that is not JSON", func(a *Adapter) { a.InputSchema = json.RawMessage(`{`) }, "schema"},
		{"a schema of a string", func(a *Adapter) { a.InputSchema = json.RawMessage(`{"type":"string"}`) }, "object"},
		{"a schema without a type", func(a *Adapter) { a.InputSchema = json.RawMessage(`{}`) }, "object"},
		{"a schema elsewhere", func(a *Adapter) {
			a.InputSchema = json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"https://example.com/s"}}}`)
		}, "schema"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			adapter := goodAdapter("a.b", "space_a_b")
			test.spoil(&adapter)
			err := adapter.Validate()
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
