package simdisk

import (
	"math/rand/v2"
	"slices"
)

// pageBytes is the piece of a write that survives a power cut or does not.
const pageBytes = 4096

// inode is the content of a file, under whatever names.
type inode struct {
	// data is what a reader sees.
	data []byte
	// durable is what a power cut leaves for sure.
	durable []byte
	// pending are the changes that nobody has synced.
	pending []change
}

// change is a write, or a truncation when data is nil.
type change struct {
	off  int64
	data []byte
}

func (n *inode) write(p []byte, off int64) {
	n.data = apply(n.data, change{off, p})
	n.pending = append(n.pending, change{off, slices.Clone(p)})
}

func (n *inode) truncate(size int64) {
	n.data = apply(n.data, change{off: size})
	n.pending = append(n.pending, change{off: size})
}

func (n *inode) sync() {
	for _, c := range n.pending {
		n.durable = apply(n.durable, c)
	}
	n.pending = nil
}

// lose is a sync that fails: the system takes the pages for clean, and will never write them.
func (n *inode) lose() { n.pending = nil }

// cut is a power cut: any pages of the pending writes are kept.
func (n *inode) cut(random *rand.Rand) {
	for _, c := range n.pending {
		if c.data == nil {
			if random.IntN(2) == 0 {
				n.durable = apply(n.durable, c)
			}
			continue
		}
		for start := 0; start < len(c.data); {
			end := min(len(c.data), start+pageBytes-int((c.off+int64(start))%pageBytes))
			if random.IntN(2) == 0 {
				n.durable = apply(n.durable, change{c.off + int64(start), c.data[start:end]})
			}
			start = end
		}
	}
	n.pending = nil
	n.data = slices.Clone(n.durable)
}

// apply makes a change. What lies between the old end and a write is zeros.
func apply(data []byte, c change) []byte {
	end := c.off + int64(len(c.data))
	if c.data == nil && end <= int64(len(data)) {
		return data[:end:end]
	}
	if end > int64(len(data)) {
		data = append(data, make([]byte, end-int64(len(data)))...)
	}
	copy(data[c.off:], c.data)
	return data
}
