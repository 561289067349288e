package bounded

import (
	"bufio"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxWindowBytes bounds the memory that a compressed file may ask for.
const maxWindowBytes = 64 << 20

// Zstd returns a reader of what the zstd-compressed file holds. It works in the calling goroutine. Close it before
// the file. A corrupt file gives an error at the place where it is corrupt. Bound what you read: a small file can hold
// very much.
func (f *File) Zstd() (io.ReadCloser, error) {
	source := bufio.NewReaderSize(io.NewSectionReader(f, 0, f.Size), firstChunk)
	d, err := zstd.NewReader(source, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindowBytes))
	if err != nil {
		return nil, fmt.Errorf("decompressing %q: %w", f.Path, err)
	}
	return d.IOReadCloser(), nil
}
