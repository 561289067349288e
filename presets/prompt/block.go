package prompt

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"agentd/presets"
)

// NoPresets is what [FormatPresets] says when nothing is active.
const NoPresets = "No presets are active."

// FormatPresets lists the active presets by name, each with its risk and why it is active.
func FormatPresets(active []presets.ActivePreset) string {
	if len(active) == 0 {
		return NoPresets
	}
	sorted := slices.Clone(active)
	slices.SortStableFunc(sorted, func(a, b presets.ActivePreset) int { return cmp.Compare(a.Name, b.Name) })
	var out strings.Builder
	out.WriteString("Active presets:")
	for _, preset := range sorted {
		out.WriteString("\n- " + preset.Name + " (" + string(preset.Cause) + ", risk " + string(preset.Risk) + ")")
	}
	return out.String()
}

// FormatFragments joins the prompts of presets, each under the preset's name.
func FormatFragments(fragments []presets.Fragment) string {
	parts := make([]string, 0, len(fragments))
	for _, fragment := range fragments {
		if text := strings.TrimSpace(fragment.Prompt); text != "" {
			parts = append(parts, "### "+fragment.Preset+"\n\n"+text)
		}
	}
	return strings.Join(parts, "\n\n")
}

// Block is a named part of a prompt.
type Block struct {
	Name    string
	Content string
}

// AssembleBlocks joins blocks, in their order, each under a heading of its name. One without a name or without content
// is left out.
func AssembleBlocks(blocks []Block) string {
	parts := make([]string, 0, len(blocks))
	for _, block := range blocks {
		name, content := strings.TrimSpace(block.Name), strings.TrimSpace(block.Content)
		if name != "" && content != "" {
			parts = append(parts, "## "+name+"\n\n"+content+"\n")
		}
	}
	return strings.Join(parts, "\n")
}

// placeholder is a name of letters, digits and '_' between ${ and }.
var placeholder = regexp.MustCompile(`\$\{([A-Za-z0-9_]+)\}`)

// RenderTemplate puts values in the place of ${name}. A name that has no value stays as it is. What a value says is not
// rendered again.
func RenderTemplate(template string, values map[string]string) string {
	return placeholder.ReplaceAllStringFunc(template, func(match string) string {
		if value, set := values[match[2:len(match)-1]]; set {
			return value
		}
		return match
	})
}
