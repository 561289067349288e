package presets

import (
	"context"
	"fmt"
	"strings"
)

// Fragments returns the prompt fragments of the presets that are active for the caller, in their order. Where tools of a preset
// are hidden until they are approved, the fragment says so and names the way to ask; a preset whose tools are all denied has none.
func (s *Surface) Fragments(ctx context.Context, caller Caller) ([]Fragment, error) {
	standing, err := s.approvals.Standing(ctx, caller)
	if err != nil {
		return nil, fmt.Errorf("collecting prompt fragments: asking what is approved: %w", err)
	}
	resolution := s.manager.state.Load().resolution(caller.SessionID)
	out := make([]Fragment, 0, len(resolution.Fragments))
	for _, fragment := range resolution.Fragments {
		listed, hidden := s.split(standing, resolution, fragment.Preset)
		if listed == 0 && len(hidden) == 0 {
			continue
		}
		if len(hidden) > 0 {
			fragment.Prompt = strings.TrimRight(fragment.Prompt, "\n") + "\n\n" + hiddenNote(hidden)
		}
		out = append(out, fragment)
	}
	return out, nil
}

// split counts the tools of a preset that the caller sees, and names those that wait for an approval. Denied ones are neither.
func (s *Surface) split(standing Standing, resolution *Resolution, preset string) (listed int, hidden []string) {
	for _, tool := range resolution.Tools {
		switch {
		case tool.Preset != preset:
		case s.listed(standing, tool):
			listed++
		case standing.Policy.Rule(tool.Risk) == RuleAsk:
			hidden = append(hidden, tool.Name)
		}
	}
	return listed, hidden
}

func hiddenNote(names []string) string {
	return "The person has to approve each exact call of these tools first, and until then they are not in your list: " +
		strings.Join(names, ", ") + ". To ask, call " + RequestToolName + " with the tool's name and exactly the arguments that you want to use."
}
