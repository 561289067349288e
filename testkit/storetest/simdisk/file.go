package simdisk

import (
	"io"
	"io/fs"
	"path/filepath"

	"agentd/persistence/jsonfile/diskfs"
)

// file is an open file.
type file struct {
	view     *view
	path     string
	node     *inode
	writable bool
	dir      bool
	// off is where Read goes on.
	off    int64
	closed bool
}

var _ diskfs.File = (*file)(nil)

func (f *file) do(op Op, act func() error) error {
	op.Path = f.path
	return f.view.do(op, func(string) error {
		if f.closed {
			return fs.ErrClosed
		}
		return act()
	})
}

// Read implements [diskfs.File].
func (f *file) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, f.off)
	f.off += int64(n)
	if n > 0 {
		return n, nil
	}
	return n, err
}

// ReadAt implements [diskfs.File].
func (f *file) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.do(Op{Kind: Read}, func() error {
		if off < int64(len(f.node.data)) {
			n = copy(p, f.node.data[off:])
		}
		return nil
	})
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// WriteAt implements [diskfs.File].
func (f *file) WriteAt(p []byte, off int64) (int, error) {
	disk := f.view.disk
	disk.mu.Lock()
	defer disk.mu.Unlock()
	op := Op{Kind: Write, Path: f.path, Bytes: len(p)}
	written := len(p)
	var err error
	// A process that a fault kills has done its part of the write before.
	if fault := disk.begin(f.view.life, op); fault != nil {
		written, err = min(fault.Written, len(p)), fail(op, fault)
	} else if f.closed || !f.writable {
		return 0, &fs.PathError{Op: "write", Path: f.path, Err: fs.ErrClosed}
	}
	if written > 0 {
		f.node.write(p[:written], off)
	}
	return written, err
}

// Truncate implements [diskfs.File].
func (f *file) Truncate(size int64) error {
	return f.do(Op{Kind: Truncate}, func() error {
		f.node.truncate(size)
		return nil
	})
}

// Sync implements [diskfs.File]. A fault loses what was written since the last one.
func (f *file) Sync() error {
	disk := f.view.disk
	disk.mu.Lock()
	defer disk.mu.Unlock()
	op := Op{Kind: Sync, Path: f.path}
	if fault := disk.begin(f.view.life, op); fault != nil {
		if !fault.Kill && f.view.life == disk.life {
			f.node.lose()
		}
		return fail(op, fault)
	}
	f.node.sync()
	return nil
}

// Stat implements [diskfs.File].
func (f *file) Stat() (result fs.FileInfo, err error) {
	err = f.do(Op{Kind: Stat}, func() error {
		result = info{name: filepath.Base(f.path), size: int64(len(f.node.data)), dir: f.dir}
		return nil
	})
	return result, err
}

// Close implements [diskfs.File].
func (f *file) Close() error {
	disk := f.view.disk
	disk.mu.Lock()
	defer disk.mu.Unlock()
	if f.closed {
		return fs.ErrClosed
	}
	f.closed = true
	return nil
}
