package workspacedelete

import (
	"context"
	_ "embed" // The prompt stands beside the code.
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"agentd/messages"
	"agentd/presets"
	"agentd/presets/builtin/backup"
	"agentd/presets/builtin/folder"
)

const (
	// PresetName is the name of the preset.
	PresetName = "workspace-delete"
	toolName   = presets.ToolPrefix + "workspace_delete"
)

//go:embed workspacedelete.md
var promptText string

const schema = `{"type":"object","properties":{
"path":{"type":"string","minLength":1,"description":"The file, link or empty folder, relative to the workspace."}},
"required":["path"],"additionalProperties":false}`

// New returns the preset and its tool.
func New() presets.Bundle {
	d := &deleter{locks: folder.NewLocks()}
	return presets.Bundle{
		Preset: presets.Preset{
			Name: PresetName, Group: "workspace", Risk: messages.RiskDestructive, Contexts: []presets.Pattern{{}},
			ToolIDs: []string{"workspace.delete"}, Prompt: promptText,
		},
		Adapters: []presets.Adapter{{
			ID: "workspace.delete", Name: toolName, Description: "Deletes one file, link or empty folder of the workspace. What is deleted is kept.",
			InputSchema: json.RawMessage(schema), Risk: messages.RiskDestructive, Make: presets.Bind(d.remove),
		}},
	}
}

type deleter struct {
	locks *folder.Locks // one change of a workspace at a time
}

type arguments struct {
	Path string `json:"path"`
}

func (d *deleter) remove(ctx context.Context, env presets.Env, in arguments) (presets.Result, error) {
	workspace, err := folder.Open(env.WorkspaceRoot)
	if err != nil {
		return presets.Result{}, fmt.Errorf("opening the workspace: %w", err)
	}
	defer workspace.Close()
	local, err := workspace.Local(in.Path)
	if err == nil {
		err = deletable(workspace, local)
	}
	if err != nil {
		return presets.Result{}, err
	}
	defer d.locks.Lock(workspace.Path())()
	backups, err := backup.Open(env)
	if err != nil {
		return presets.Result{}, err
	}
	defer backups.Close()
	entry, info, err := backups.Keep(backup.Subject{Workspace: workspace, Path: local, Tool: toolName, CallID: env.CallID})
	if err != nil {
		return presets.Result{}, err
	}
	if err := ctx.Err(); err != nil { // The last moment at which nothing has changed.
		return presets.Result{}, err
	}
	if err := removeKept(workspace, local, info); err != nil {
		return presets.Result{}, fmt.Errorf("deleting %q: %w", local, err)
	}
	return presets.JSON(map[string]any{
		"ok": true, "path": filepath.ToSlash(local), "kind": entry.Kind, "bytes": entry.Size, "backup": entry.ID,
	})
}

// removeKept removes what was kept, if it still is what it was then.
func removeKept(workspace *folder.Folder, local string, kept fs.FileInfo) error {
	if kept == nil {
		return folder.ErrChanged
	}
	if err := workspace.Unchanged(local, kept); err != nil {
		return err
	}
	if err := workspace.Root().Remove(local); err != nil {
		return err
	}
	return workspace.SyncDir(filepath.Dir(local))
}

// deletable refuses what must not go.
func deletable(workspace *folder.Folder, local string) error {
	if local == "." {
		return fmt.Errorf("%w: it is the workspace itself", folder.ErrPath)
	}
	for _, part := range strings.Split(filepath.ToSlash(local), "/") {
		if folder.IsVersionControl(part) {
			return fmt.Errorf("%q: %w: %s belongs to version control", local, folder.ErrPath, part)
		}
	}
	info, err := workspace.Lstat(local)
	if err != nil || !info.IsDir() {
		return err
	}
	dir, err := workspace.OpenDir(local)
	if err != nil {
		return err
	}
	defer dir.Close()
	if names, _ := dir.Readdirnames(1); len(names) > 0 {
		return fmt.Errorf("the folder %q is not empty: delete what it holds first", local)
	}
	return nil
}
