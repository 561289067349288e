package workspaceread

import (
	_ "embed" // The prompt stands beside the code.
	"encoding/json"
	"fmt"

	"agentd/messages"
	"agentd/presets"
	"agentd/presets/builtin/folder"
)

// PresetName is the name of the preset.
const PresetName = "workspace-read"

// answerBytes is how much one answer holds, as JSON. It stays below what a surface lets through, so that no answer is cut
// in the middle of its JSON.
const answerBytes = 192 << 10

//go:embed workspaceread.md
var promptText string

// New returns the preset and its tools.
func New() presets.Bundle {
	adapter := func(name, description, schema string, make presets.MakeFunc) presets.Adapter {
		return presets.Adapter{
			ID: "workspace." + name, Name: presets.ToolPrefix + "workspace_" + name, Description: description,
			InputSchema: json.RawMessage(schema), Risk: messages.RiskFilesystemRead, Idempotent: true, Make: make,
		}
	}
	bundle := presets.Bundle{
		Preset: presets.Preset{
			Name: PresetName, Group: "workspace", Risk: messages.RiskFilesystemRead, Contexts: []presets.Pattern{{}}, Prompt: promptText,
		},
		Adapters: []presets.Adapter{
			adapter("list", "Lists the files and folders in a folder of the workspace.", listSchema, presets.Bind(list)),
			adapter("read", "Reads a text file of the workspace, or some of its lines.", readSchema, presets.Bind(read)),
			adapter("search", "Finds the lines in files of the workspace that hold a text or match a regular expression.", searchSchema, presets.Bind(search)),
		},
	}
	for _, adapter := range bundle.Adapters {
		bundle.Preset.ToolIDs = append(bundle.Preset.ToolIDs, adapter.ID)
	}
	return bundle
}

// open opens the workspace and makes the path local to it.
func open(env presets.Env, path string) (*folder.Folder, string, error) {
	workspace, err := folder.Open(env.WorkspaceRoot)
	if err != nil {
		return nil, "", fmt.Errorf("opening the workspace: %w", err)
	}
	local, err := workspace.Local(path)
	if err != nil {
		workspace.Close()
		return nil, "", err
	}
	return workspace, local, nil
}

// budget counts what an answer may still hold.
type budget struct{ left int }

// take reports whether so many bytes still fit, and takes them.
func (b *budget) take(bytes int) bool {
	if bytes > b.left {
		return false
	}
	b.left -= bytes
	return true
}

// encoded is how long a text is within JSON.
func encoded(text string) int {
	size := len(text)
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t':
			size++
		case c < ' ':
			size += 5
		case c == 0xe2: // The line separators among these are spelled out.
			size += 3
		}
	}
	return size
}
