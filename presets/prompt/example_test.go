package prompt_test

import (
	"context"
	"fmt"

	"agentd/messages"
	"agentd/presets"
	"agentd/presets/prompt"
)

func Example() {
	var enrichers prompt.Enrichers
	err := enrichers.Register("clock", func(context.Context, prompt.Subject) (string, error) { return "It is noon.", nil })
	if err != nil {
		fmt.Println(err)
		return
	}
	about, err := enrichers.Format(context.Background(), prompt.Subject{})
	if err != nil {
		fmt.Println(err)
		return
	}
	active := []presets.ActivePreset{{Name: "drawing", Risk: messages.RiskNormal, Cause: presets.CauseContext}}
	fmt.Print(prompt.AssembleBlocks([]prompt.Block{
		{Name: "Context", Content: about},
		{Name: "Available Capabilities", Content: prompt.FormatPresets(active)},
	}))
	// Output:
	// ## Context
	//
	// It is noon.
	//
	// ## Available Capabilities
	//
	// Active presets:
	// - drawing (context, risk normal)
}
