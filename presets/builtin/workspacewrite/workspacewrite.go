package workspacewrite

import (
	_ "embed" // The prompt stands beside the code.
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"agentd/messages"
	"agentd/presets"
	"agentd/presets/builtin/backup"
	"agentd/presets/builtin/folder"
)

const (
	// PresetName is the name of the preset.
	PresetName = "workspace-write"
	filePerm   = 0o644
	dirPerm    = 0o755
)

//go:embed workspacewrite.md
var promptText string

// New returns the preset and its tools.
func New() presets.Bundle {
	w := &writer{locks: folder.NewLocks()}
	adapter := func(name, description, schema string, make presets.MakeFunc) presets.Adapter {
		return presets.Adapter{
			ID: "workspace." + name, Name: presets.ToolPrefix + "workspace_" + name, Description: description,
			InputSchema: json.RawMessage(schema), Risk: messages.RiskFilesystemWrite, Make: make,
		}
	}
	list := adapter("backups", "Lists what was changed in this session and can be brought back, the newest first.", backupsSchema, presets.Bind(listBackups))
	list.Idempotent = true
	write := adapter("write", "Writes a whole file of the workspace. The old content is kept.", writeSchema, presets.Bind(w.write))
	write.Idempotent = true
	bundle := presets.Bundle{
		Preset: presets.Preset{
			Name: PresetName, Group: "workspace", Risk: messages.RiskFilesystemWrite, Contexts: []presets.Pattern{{}}, Prompt: promptText,
		},
		Adapters: []presets.Adapter{
			write,
			adapter("edit", "Replaces a text that stands exactly once in a file of the workspace. The old content is kept.", editSchema, presets.Bind(w.edit)),
			list,
			adapter("restore", "Brings back what stood in a place before a change of this session. What stands there now is kept.", restoreSchema, presets.Bind(w.restore)),
		},
	}
	for _, adapter := range bundle.Adapters {
		bundle.Preset.ToolIDs = append(bundle.Preset.ToolIDs, adapter.ID)
	}
	return bundle
}

// writer runs the tools that change files.
type writer struct {
	locks *folder.Locks // one change of a workspace at a time
}

// change is one change of one file on its way.
type change struct {
	workspace *folder.Folder
	backups   *backup.Store
	path      string // local to the workspace
	tool      string
	callID    messages.CallID
	unlock    func()
}

// begin takes the lock and opens what a change needs. Close it.
func (w *writer) begin(env presets.Env, tool, path string) (*change, error) {
	workspace, err := folder.Open(env.WorkspaceRoot)
	if err != nil {
		return nil, fmt.Errorf("opening the workspace: %w", err)
	}
	local, err := workspace.Local(path)
	if err == nil {
		err = writable(local)
	}
	if err != nil {
		workspace.Close()
		return nil, err
	}
	backups, err := backup.Open(env)
	if err != nil {
		workspace.Close()
		return nil, err
	}
	return &change{
		workspace: workspace, backups: backups, path: local, tool: presets.ToolPrefix + "workspace_" + tool, callID: env.CallID,
		unlock: w.locks.Lock(workspace.Path()),
	}, nil
}

func (c *change) close() {
	c.unlock()
	c.backups.Close()
	c.workspace.Close()
}

func (c *change) subject() backup.Subject {
	return backup.Subject{Workspace: c.workspace, Path: c.path, Tool: c.tool, CallID: c.callID}
}

// writable refuses the workspace itself and the stores of version control.
func writable(local string) error {
	if local == "." {
		return fmt.Errorf("%w: it is the workspace itself: name a file", folder.ErrPath)
	}
	for _, part := range strings.Split(filepath.ToSlash(local), "/") {
		if folder.IsVersionControl(part) {
			return fmt.Errorf("%q: %w: %s belongs to version control", local, folder.ErrPath, part)
		}
	}
	return nil
}
