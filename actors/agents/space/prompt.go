package space

import (
	"context"
	"fmt"

	"agentd/presets/prompt"
)

// system assembles the system prompt of a turn.
func (t *turn) system(ctx context.Context) (string, error) {
	resolution := t.tc.Presets.Resolve()
	about, err := t.agent.options.Prompts.Format(ctx, prompt.Subject{
		Caller: t.tc.Tools.Caller(), Context: t.tc.Presets.Context(), Presets: resolution.Presets,
	})
	if err != nil {
		return "", fmt.Errorf("assembling the prompt: %w", err)
	}
	fragments, err := t.tc.Tools.Fragments(ctx)
	if err != nil {
		return "", fmt.Errorf("assembling the prompt: %w", err)
	}
	return prompt.AssembleBlocks([]prompt.Block{
		{Name: "Instructions", Content: t.agent.options.Instructions + naming(t.link)},
		{Name: "Context", Content: about},
		{Name: "Available Capabilities", Content: prompt.FormatPresets(resolution.Presets)},
		{Name: "Capability Guidance", Content: prompt.FormatFragments(fragments)},
	}), nil
}

// naming tells the model how the tools are called that the guidance names, if OpenCode calls them otherwise.
func naming(l link) string {
	const example = "space_example"
	if named := l.ToolName(example); named != example {
		return fmt.Sprintf("\nThe tools are offered to you under longer names: what is called %s below is %s.", example, named)
	}
	return ""
}
