package jsonfile

import (
	"bytes"
	"io"

	"agentd/persistence/jsonfile/diskfs"
)

// writerBytes is the size of a fileWriter's buffer.
const writerBytes = 128 << 10

// fileWriter writes a new file from its beginning, in large pieces. After an error it does nothing more.
type fileWriter struct {
	file diskfs.File
	buf  []byte
	off  int64
	err  error
}

// size is how long the file is, with what is still in the buffer.
func (w *fileWriter) size() int64 { return w.off + int64(len(w.buf)) }

func (w *fileWriter) flush() {
	if w.err != nil || len(w.buf) == 0 {
		return
	}
	n, err := w.file.WriteAt(w.buf, w.off)
	w.off += int64(n)
	w.err = err
	w.buf = w.buf[:0]
}

// spill flushes when the buffer has grown to its size.
func (w *fileWriter) spill() {
	if len(w.buf) >= writerBytes {
		w.flush()
	}
}

func (w *fileWriter) writeString(text string) {
	w.buf = append(w.buf, text...)
	w.spill()
}

func (w *fileWriter) write(text []byte) {
	w.buf = append(w.buf, text...)
	w.spill()
}

// copyRange copies a part of another file, and returns how many lines ended in it. The error is that of reading; one
// of writing is kept.
func (w *fileWriter) copyRange(from io.ReaderAt, start, end int64) (lines int, err error) {
	for start < end && w.err == nil {
		if cap(w.buf)-len(w.buf) < 4<<10 {
			w.flush()
		}
		free := w.buf[len(w.buf):cap(w.buf)]
		piece := free[:min(int64(len(free)), end-start)]
		if _, err := from.ReadAt(piece, start); err != nil {
			return lines, err
		}
		lines += bytes.Count(piece, []byte("\n"))
		start += int64(len(piece))
		w.buf = w.buf[:len(w.buf)+len(piece)]
	}
	return lines, nil
}

// finish makes the content durable and closes the file.
func (w *fileWriter) finish() error {
	w.flush()
	if w.err == nil {
		w.err = w.file.Sync()
	}
	if err := w.file.Close(); w.err == nil {
		w.err = err
	}
	return w.err
}
