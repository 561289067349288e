package simdisk

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
)

// names are the files of a disk by path, and the changes to them that nobody has synced.
type names struct {
	now     map[string]*inode
	durable map[string]*inode
	pending []renaming
}

// renaming is a change of names: from goes, to gets the inode. Either may be empty.
type renaming struct {
	from, to string
	inode    *inode
}

func newNames() names {
	return names{now: make(map[string]*inode), durable: make(map[string]*inode)}
}

func (r renaming) apply(files map[string]*inode) {
	if r.from != "" {
		delete(files, r.from)
	}
	if r.to != "" {
		files[r.to] = r.inode
	}
}

func (r renaming) touches(dir string) bool {
	return r.from != "" && filepath.Dir(r.from) == dir || r.to != "" && filepath.Dir(r.to) == dir
}

func (n *names) change(r renaming) {
	r.apply(n.now)
	n.pending = append(n.pending, r)
}

// sync makes the names in a folder durable.
func (n *names) sync(dir string) {
	n.pending = slices.DeleteFunc(n.pending, func(r renaming) bool {
		if r.touches(dir) {
			r.apply(n.durable)
			return true
		}
		return false
	})
}

// cut is a power cut: any of the pending changes are kept.
func (n *names) cut(random *rand.Rand) {
	for _, r := range n.pending {
		if random.IntN(2) == 0 {
			r.apply(n.durable)
		}
	}
	n.pending = nil
	n.now = make(map[string]*inode, len(n.durable))
	for path, node := range n.durable {
		n.now[path] = node
	}
}
