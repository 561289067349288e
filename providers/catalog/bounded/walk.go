package bounded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WalkOptions bounds a walk.
type WalkOptions struct {
	// Depth is how many levels below the root are looked at: 1 means the entries of the root itself.
	// Default 1, at most 64.
	Depth int
	// MaxEntries is how many entries are looked at in all. Default [MaxWalkEntries].
	MaxEntries int
	// Enter decides whether a directory is entered, by its path relative to the root and its depth, from 1.
	// Nil enters every one.
	Enter func(rel string, depth int) bool
}

// MaxWalkEntries is the default bound of a walk.
const MaxWalkEntries = 2_000_000

// Entry is one thing that a walk found and that is not a directory.
type Entry struct {
	// Path is the root joined with Rel.
	Path string
	// Rel is the path relative to the root, in the system's own form.
	Rel string
	// Depth counts from 1 for the entries of the root itself.
	Depth int
	// Type is the kind of file as the directory tells it: a symbolic link is one, wherever it leads.
	Type fs.FileMode
}

// Walk calls visit for each entry below root that is not a directory, in lexical order. Links to directories are
// followed; each directory is entered at most once, so that loops end and nothing is seen twice through one. A root that does
// not exist is an empty one. A directory that cannot be read is told to fault, which may be nil, and the walk goes on.
// The walk ends early with the error of ctx or with [ErrTooLarge].
func Walk(ctx context.Context, root string, opts WalkOptions, visit func(Entry), fault func(path string, err error)) error {
	opts.Depth = min(max(opts.Depth, 1), 64)
	if opts.MaxEntries <= 0 {
		opts.MaxEntries = MaxWalkEntries
	}
	if fault == nil {
		fault = func(string, error) {}
	}
	root = filepath.Clean(root)
	w := walker{ctx: ctx, root: root, below: len(root) + 1, opts: opts, visit: visit, fault: fault, left: opts.MaxEntries, seen: map[any]bool{}}
	info, err := os.Stat(root)
	if err != nil || !info.IsDir() {
		if err == nil {
			err = fmt.Errorf("listing %q: %w", root, errNotDir)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			fault(root, err)
		}
		return nil
	}
	if os.IsPathSeparator(root[len(root)-1]) {
		w.below = len(root) // The root of a file system.
	}
	w.enter(root, info) // The root itself may be the target of a link below it.
	return w.dir(root, 1)
}

var errNotDir = errors.New("not a directory")

type walker struct {
	ctx   context.Context //nolint:containedctx // A walker lives for one call.
	root  string
	below int // where a path relative to the root begins in a path
	opts  WalkOptions
	visit func(Entry)
	fault func(string, error)
	left  int
	seen  map[any]bool // directories, by fileID
	lister
}

// enter notes a directory and reports whether it is new.
func (w *walker) enter(path string, info fs.FileInfo) bool {
	id := fileID(path, info)
	if w.seen[id] {
		return false
	}
	w.seen[id] = true
	return true
}

func (w *walker) dir(path string, depth int) error {
	if err := w.ctx.Err(); err != nil {
		return context.Cause(w.ctx)
	}
	entries, err := w.lister.list(path, depth)
	if err != nil {
		w.fault(path, err)
	}
	for _, e := range entries {
		if w.left--; w.left < 0 {
			return fmt.Errorf("walking %q: %w of %d entries", w.root, ErrTooLarge, w.opts.MaxEntries)
		}
		if err := w.entry(e, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) entry(e listed, depth int) error {
	path, rel := e.path, e.path[w.below:]
	isDir := e.typ.IsDir()
	if e.typ&fs.ModeSymlink != 0 {
		info, err := os.Stat(path)
		isDir = err == nil && info.IsDir()
	}
	if !isDir {
		w.visit(Entry{Path: path, Rel: rel, Depth: depth, Type: e.typ})
		return nil
	}
	if depth >= w.opts.Depth || (w.opts.Enter != nil && !w.opts.Enter(rel, depth)) {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		w.fault(path, err)
		return nil
	}
	if !w.enter(path, info) {
		return nil
	}
	return w.dir(path, depth+1)
}
