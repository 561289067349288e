//go:build !linux

package bounded

import "os"

// rawLister asks package os.
type rawLister struct{}

// list adds the entries of a folder to out.
func (r *rawLister) list(dir, prefix string, out []listed) ([]listed, error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		out = append(out, listed{path: prefix + e.Name(), typ: e.Type()})
	}
	return out, err
}
