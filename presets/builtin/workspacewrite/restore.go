package workspacewrite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"agentd/presets"
	"agentd/presets/builtin/backup"
	"agentd/presets/builtin/folder"
)

// Limits of a listing of backups.
const (
	defaultBackups = 50
	maxBackups     = 500
)

const (
	backupsSchema = `{"type":"object","properties":{
"limit":{"type":"integer","minimum":1,"maximum":500,"description":"How many at most; 50 without it."}},"additionalProperties":false}`
	restoreSchema = `{"type":"object","properties":{
"backup":{"type":"string","description":"The id of the backup, as the answer of a change or space_workspace_backups gives it."}},
"required":["backup"],"additionalProperties":false}`
)

type (
	backupsArguments struct {
		Limit int `json:"limit"`
	}
	restoreArguments struct {
		Backup string `json:"backup"`
	}
	// listed is one backup in an answer.
	listed struct {
		Backup string      `json:"backup"`
		Path   string      `json:"path"`
		Kind   backup.Kind `json:"kind"`
		Size   int64       `json:"size,omitempty"`
		Tool   string      `json:"tool"`
		At     string      `json:"at"`
	}
)

func listBackups(_ context.Context, env presets.Env, in backupsArguments) (presets.Result, error) {
	store, err := backup.Open(env)
	if err != nil {
		return presets.Result{}, err
	}
	defer store.Close()
	entries, total, err := store.List(min(cmp.Or(in.Limit, defaultBackups), maxBackups))
	if err != nil {
		return presets.Result{}, err
	}
	out := make([]listed, len(entries))
	for i, entry := range entries {
		out[i] = listed{
			Backup: entry.ID, Path: entry.Path, Kind: entry.Kind, Size: entry.Size, Tool: entry.Tool,
			At: time.Unix(entry.At, 0).UTC().Format(time.RFC3339),
		}
	}
	return presets.JSON(map[string]any{"ok": true, "backups": out, "total": total, "truncated": total > len(out)})
}

func (w *writer) restore(ctx context.Context, env presets.Env, in restoreArguments) (presets.Result, error) {
	store, err := backup.Open(env)
	if err != nil {
		return presets.Result{}, err
	}
	defer store.Close()
	entry, err := store.Load(in.Backup)
	if err != nil {
		return presets.Result{}, err
	}
	c, err := w.begin(env, "restore", filepath.FromSlash(entry.Path))
	if errors.Is(err, folder.ErrPath) {
		err = fmt.Errorf("backup %q: %w: %w", in.Backup, backup.ErrDamaged, err)
	}
	if err != nil {
		return presets.Result{}, err
	}
	defer c.close()
	if err := ctx.Err(); err != nil {
		return presets.Result{}, err
	}
	restored, kept, err := store.Restore(in.Backup, c.subject())
	if err != nil {
		return presets.Result{}, err
	}
	return presets.JSON(map[string]any{
		"ok": true, "path": restored.Path, "kind": restored.Kind, "bytes": restored.Size, "backup": kept.ID,
	})
}
