package jsonfile

import (
	"slices"
	"sync"
)

// keptBuffer is the largest buffer that waits to be used again.
const keptBuffer = 1 << 20

// buffers are pieces of memory that folds use one after another: for a session's records, and for its snapshot. The zero value is ready.
type buffers struct{ idle sync.Pool }

// get returns an empty buffer with room for size bytes at least. It may be replaced by a larger one.
func (b *buffers) get(size int) *[]byte {
	buf, _ := b.idle.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	*buf = slices.Grow((*buf)[:0], size)
	return buf
}

// put takes a buffer back. Nobody may hold it, or a part of it, any more.
func (b *buffers) put(buf *[]byte) {
	if cap(*buf) <= keptBuffer {
		b.idle.Put(buf)
	}
}
