package workspaceread

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentd/presets"
	"agentd/presets/builtin/folder"
)

// Limits of a listing.
const (
	defaultEntries = 200
	maxEntries     = 1000
	maxDepth       = 10
	// maxDirEntries is how many entries of one folder are looked at.
	maxDirEntries = 20_000
	// entryBytes is what an entry takes in an answer beside its path.
	entryBytes = 90
)

const listSchema = `{"type":"object","properties":{
"path":{"type":"string","description":"The folder, relative to the workspace. Without it: the workspace itself."},
"depth":{"type":"integer","minimum":1,"maximum":10,"description":"How many levels. 1 is the folder alone, which is the default."},
"limit":{"type":"integer","minimum":1,"maximum":1000,"description":"How many entries at most; 200 without it."}},"additionalProperties":false}`

type listArguments struct {
	Path  string `json:"path"`
	Depth int    `json:"depth"`
	Limit int    `json:"limit"`
}

// listEntry is one file or folder.
type listEntry struct {
	Path string `json:"path"`
	Type string `json:"type"`
	// Size is that of a file, in bytes.
	Size     int64  `json:"size,omitempty"`
	Modified string `json:"modified,omitempty"`
}

type listAnswer struct {
	OK        bool        `json:"ok"`
	Path      string      `json:"path"`
	Entries   []listEntry `json:"entries"`
	Truncated bool        `json:"truncated"`
	Note      string      `json:"note,omitempty"`
}

func list(ctx context.Context, env presets.Env, in listArguments) (presets.Result, error) {
	workspace, local, err := open(env, in.Path)
	if err != nil {
		return presets.Result{}, err
	}
	defer workspace.Close()
	l := lister{
		ctx: ctx, workspace: workspace, depth: min(max(in.Depth, 1), maxDepth), limit: min(cmp.Or(in.Limit, defaultEntries), maxEntries),
		budget: budget{left: answerBytes}, answer: listAnswer{OK: true, Path: filepath.ToSlash(local), Entries: []listEntry{}},
	}
	if err := l.walk(local, 1); err != nil && !errors.Is(err, errFull) {
		return presets.Result{}, err
	}
	l.answer.Note = strings.Join(l.notes, " ")
	return presets.JSON(l.answer)
}

// errFull ends a walk whose answer is full.
var errFull = errors.New("the answer is full")

// lister walks folders, each one's entries by name, a folder's own entries behind it.
type lister struct {
	ctx       context.Context //nolint:containedctx // It lives as long as one call.
	workspace *folder.Folder
	depth     int
	limit     int
	budget    budget
	answer    listAnswer
	notes     []string
}

func (l *lister) walk(dir string, level int) error {
	entries, cut, err := readDir(l.workspace, dir)
	if err != nil && level > 1 {
		l.cut(fmt.Sprintf("%s could not be read.", filepath.ToSlash(dir)))
		return nil
	}
	if err != nil {
		return err
	}
	if cut {
		l.cut(fmt.Sprintf("%s has more than %d entries; only those were looked at.", filepath.ToSlash(dir), maxDirEntries))
	}
	for _, entry := range entries {
		if err := l.ctx.Err(); err != nil {
			return err
		}
		path := filepath.Join(dir, entry.Name())
		if err := l.add(path, entry); err != nil {
			return err
		}
		if !entry.IsDir() || level >= l.depth {
			continue
		}
		if folder.IsVersionControl(entry.Name()) {
			l.notes = append(l.notes, filepath.ToSlash(path)+" was not opened; list it by its path.")
			continue
		}
		if err := l.walk(path, level+1); err != nil {
			return err
		}
	}
	return nil
}

func (l *lister) add(path string, entry fs.DirEntry) error {
	if len(l.answer.Entries) >= l.limit {
		l.cut(fmt.Sprintf("Only the first %d entries are shown; raise \"limit\" or list a folder below.", l.limit))
		return errFull
	}
	if !l.budget.take(encoded(path) + entryBytes) {
		l.cut("Only what fits into an answer is shown; list a folder below.")
		return errFull
	}
	out := listEntry{Path: filepath.ToSlash(path), Type: folder.Kind(entry.Type())}
	if info, err := entry.Info(); err == nil {
		out.Modified = info.ModTime().UTC().Format(time.RFC3339)
		if info.Mode().IsRegular() {
			out.Size = info.Size()
		}
	}
	l.answer.Entries = append(l.answer.Entries, out)
	return nil
}

func (l *lister) cut(note string) {
	l.answer.Truncated = true
	l.notes = append(l.notes, note)
}

// readDir returns the entries of a folder by name, and whether there are more.
func readDir(workspace *folder.Folder, name string) ([]fs.DirEntry, bool, error) {
	dir, err := workspace.OpenDir(name)
	if err != nil {
		return nil, false, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(maxDirEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, fmt.Errorf("reading folder %q: %w", name, err)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	if len(entries) > maxDirEntries {
		return entries[:maxDirEntries], true, nil
	}
	return entries, false, nil
}
