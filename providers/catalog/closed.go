package catalog

import (
	"errors"
	"io/fs"
	"os"
	"slices"
)

var errClosed = errors.New("the store's folders cannot be read")

// closed reports whether a store in which nothing was found could not be looked into, so that to call it empty would be a guess: no root
// that there is can be opened, or a folder below cannot. For an exact id only the roots count, because then nearly always nothing is found.
func (st *store) closed(env Env, exact string) bool {
	unreadable := st.skips[Unreadable]
	if unreadable == nil || st.shelf.len() > 0 {
		return false
	}
	if exact == "" {
		for _, path := range unreadable.Samples {
			if isDir(path) {
				return true
			}
		}
	}
	there := 0
	for _, root := range st.reader.Roots(env) {
		switch opens, err := canOpen(root.Path); {
		case root.Path == "" || errors.Is(err, fs.ErrNotExist):
		case opens && !slices.Contains(unreadable.Samples, root.Path): // The reader may have wanted a folder and found a file.
			return false
		default:
			there++
		}
	}
	return there > 0
}

// canOpen reports whether a folder can be listed or a regular file opened. Nothing else is a store. The error is why it cannot be looked at.
func canOpen(path string) (bool, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return false, err
	}
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	return true, file.Close()
}
