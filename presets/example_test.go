package presets_test

import (
	"context"
	"encoding/json"
	"fmt"

	"agentd/messages"
	"agentd/presets"
)

// nobody is the approvals of a host where no person can be asked: normal risk alone runs.
type nobody struct{ presets.Approvals }

func (nobody) Standing(context.Context, presets.Caller) (presets.Standing, error) {
	return presets.Standing{Policy: presets.DefaultPolicy()}, nil
}

func Example() {
	manager, err := presets.NewManager(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	type greeting struct {
		Name string `json:"name"`
	}
	err = manager.Install(presets.Bundle{
		Preset: presets.Preset{
			Name: "greeting", Risk: messages.RiskNormal, Contexts: []presets.Pattern{{}}, ToolIDs: []string{"greeting.greet"},
		},
		Adapters: []presets.Adapter{{
			ID: "greeting.greet", Name: "space_greeting_greet", Description: "Greets somebody.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`),
			Make: presets.Bind(func(_ context.Context, _ presets.Env, in greeting) (presets.Result, error) {
				return presets.JSON(map[string]string{"text": "Hello, " + in.Name + "."})
			}),
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	surface, err := presets.NewSurface(manager, nobody{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, arguments := range []string{`{"name":"Ann"}`, `{}`} {
		result, err := surface.Call(context.Background(), presets.Call{Name: "space_greeting_greet", Arguments: json.RawMessage(arguments)})
		fmt.Println(result.Status, result.Text, err)
	}
	// Output:
	// completed {"text":"Hello, Ann."} <nil>
	// failed {"error":"calling \"space_greeting_greet\": invalid arguments: validating root: required: missing properties: [\"name\"]","ok":false} <nil>
}
