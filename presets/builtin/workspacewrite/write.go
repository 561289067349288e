package workspacewrite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"agentd/presets"
	"agentd/presets/builtin/folder"
)

// maxEditBytes is the largest file that is edited in place.
const maxEditBytes = 8 << 20

const (
	writeSchema = `{"type":"object","properties":{
"path":{"type":"string","description":"The file, relative to the workspace."},
"content":{"type":"string","description":"The whole content."},
"only_new":{"type":"boolean","description":"Refuse if the file is there already."}},
"required":["path","content"],"additionalProperties":false}`
	editSchema = `{"type":"object","properties":{
"path":{"type":"string","description":"The file, relative to the workspace."},
"old_text":{"type":"string","minLength":1,"description":"The text to replace, exactly as it stands in the file, with enough around it to be unique."},
"new_text":{"type":"string","description":"What stands there afterwards."},
"replace_all":{"type":"boolean","description":"Replace the text wherever it stands."}},
"required":["path","old_text","new_text"],"additionalProperties":false}`
)

type (
	writeArguments struct {
		Path    string `json:"path"`
		Content string `json:"content"`
		OnlyNew bool   `json:"only_new"`
	}
	editArguments struct {
		Path       string `json:"path"`
		OldText    string `json:"old_text"`
		NewText    string `json:"new_text"`
		ReplaceAll bool   `json:"replace_all"`
	}
)

// changed is the answer of a change.
type changed struct {
	OK   bool   `json:"ok"`
	Path string `json:"path"`
	// Bytes is the size of the file now.
	Bytes int `json:"bytes"`
	// Created says that it was not there before; Unchanged that it held this content already, and nothing was done.
	Created   bool `json:"created,omitempty"`
	Unchanged bool `json:"unchanged,omitempty"`
	// Replaced is how many places an edit changed.
	Replaced int `json:"replaced,omitempty"`
	// Backup is the id of the old content.
	Backup string `json:"backup,omitempty"`
}

func (w *writer) write(ctx context.Context, env presets.Env, in writeArguments) (presets.Result, error) {
	c, err := w.begin(env, "write", in.Path)
	if err != nil {
		return presets.Result{}, err
	}
	defer c.close()
	if err := c.parents(); err != nil {
		return presets.Result{}, err
	}
	if err := c.replaceable(in.OnlyNew); err != nil {
		return presets.Result{}, err
	}
	old, _, err := c.workspace.ReadFile(c.path, int64(len(in.Content)))
	if err == nil && bytes.Equal(old, []byte(in.Content)) {
		return presets.JSON(changed{OK: true, Path: filepath.ToSlash(c.path), Bytes: len(old), Unchanged: true})
	}
	entry, info, err := c.backups.Keep(c.subject())
	if err != nil {
		return presets.Result{}, err
	}
	return c.store(ctx, info, []byte(in.Content), changed{Backup: entry.ID})
}

// parents makes the folders above the file.
func (c *change) parents() error {
	if err := c.workspace.Root().MkdirAll(filepath.Dir(c.path), dirPerm); err != nil {
		return fmt.Errorf("making the folders above %q: %w", c.path, err)
	}
	return nil
}

// replaceable refuses what is there and is no plain file.
func (c *change) replaceable(onlyNew bool) error {
	info, err := c.workspace.Lstat(c.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case onlyNew:
		return fmt.Errorf("%q: %w", c.path, fs.ErrExist)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%q: %w: it is a %s; write to a file", c.path, folder.ErrNotRegular, folder.Kind(info.Mode()))
	default:
		return nil
	}
}

// store replaces the file, which must still be what was kept, and completes the answer.
func (c *change) store(ctx context.Context, info fs.FileInfo, data []byte, out changed) (presets.Result, error) {
	if err := ctx.Err(); err != nil { // The last moment at which nothing has changed.
		return presets.Result{}, err
	}
	if _, err := c.workspace.Lstat(c.path); info == nil && !errors.Is(err, fs.ErrNotExist) {
		return presets.Result{}, fmt.Errorf("%q: %w: somebody else has made it", c.path, folder.ErrChanged)
	}
	if err := c.workspace.Replace(c.path, data, filePerm, info); err != nil {
		return presets.Result{}, err
	}
	out.OK, out.Path, out.Bytes, out.Created = true, filepath.ToSlash(c.path), len(data), info == nil
	return presets.JSON(out)
}

func (w *writer) edit(ctx context.Context, env presets.Env, in editArguments) (presets.Result, error) {
	if in.OldText == in.NewText {
		return presets.Result{}, errors.New("old_text and new_text are the same: there is nothing to change")
	}
	c, err := w.begin(env, "edit", in.Path)
	if err != nil {
		return presets.Result{}, err
	}
	defer c.close()
	if err := c.replaceable(false); err != nil {
		return presets.Result{}, err
	}
	text, read, err := c.workspace.ReadFile(c.path, maxEditBytes)
	if err != nil {
		return presets.Result{}, err
	}
	next, count, err := in.apply(string(text))
	if err != nil {
		return presets.Result{}, fmt.Errorf("%q: %w", c.path, err)
	}
	entry, info, err := c.backups.Keep(c.subject())
	if err != nil {
		return presets.Result{}, err
	}
	if info == nil || c.workspace.Unchanged(c.path, read) != nil {
		return presets.Result{}, fmt.Errorf("%q: %w: read it again", c.path, folder.ErrChanged)
	}
	return c.store(ctx, info, []byte(next), changed{Backup: entry.ID, Replaced: count})
}

// apply makes the edit on a text and counts the places.
func (in editArguments) apply(text string) (string, int, error) {
	old, replacement := in.OldText, in.NewText
	count := strings.Count(text, old)
	if count == 0 && strings.Contains(text, "\r\n") && !strings.Contains(old, "\r") { // A model does not see how lines end.
		old, replacement = strings.ReplaceAll(old, "\n", "\r\n"), strings.ReplaceAll(strings.ReplaceAll(replacement, "\r\n", "\n"), "\n", "\r\n")
		count = strings.Count(text, old)
	}
	switch {
	case count == 0:
		return "", 0, errors.New("old_text does not stand in the file: read it again and give the text exactly as it is")
	case count > 1 && !in.ReplaceAll:
		return "", 0, fmt.Errorf("old_text stands in the file %d times: give more of what is around it, or set \"replace_all\"", count)
	default:
		return strings.ReplaceAll(text, old, replacement), count, nil
	}
}
