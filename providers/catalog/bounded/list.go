package bounded

import (
	"io/fs"
	"os"
	"slices"
	"strings"
)

// listed is one entry of a folder.
type listed struct {
	path string
	typ  fs.FileMode
}

// lister lists folders. The listing of a depth is valid until the next one of the same depth: the folders of a level follow one another,
// and so ten thousand entries need no more memory than the ones of the largest folder.
type lister struct {
	levels [][]listed
	raw    rawLister
}

// list returns the entries of a folder by name, each with its path. An error comes with what was read before it.
func (l *lister) list(dir string, depth int) ([]listed, error) {
	for len(l.levels) <= depth {
		l.levels = append(l.levels, nil)
	}
	prefix := dir
	if !os.IsPathSeparator(dir[len(dir)-1]) { // All but the root of a file system.
		prefix += string(os.PathSeparator)
	}
	out, err := l.raw.list(dir, prefix, l.levels[depth][:0])
	slices.SortFunc(out, func(a, b listed) int { return strings.Compare(a.path[len(prefix):], b.path[len(prefix):]) })
	l.levels[depth] = out
	return out, err
}
