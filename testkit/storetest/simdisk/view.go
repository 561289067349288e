package simdisk

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"agentd/persistence/jsonfile/diskfs"
)

// view is the disk as one process sees it.
type view struct {
	disk *Disk
	life int
}

var _ diskfs.FS = (*view)(nil)

// key is the form of a path in which it is looked up.
func (d *Disk) key(path string) string {
	path = filepath.Clean(path)
	if d.foldsCase {
		return strings.ToLower(path)
	}
	return path
}

// do performs an operation under the lock, if it is let.
func (v *view) do(op Op, f func(path string) error) error {
	v.disk.mu.Lock()
	defer v.disk.mu.Unlock()
	if fault := v.disk.begin(v.life, op); fault != nil {
		return fail(op, fault)
	}
	if err := f(v.disk.key(op.Path)); err != nil {
		return &fs.PathError{Op: string(op.Kind), Path: op.Path, Err: err}
	}
	return nil
}

// OpenFile implements [diskfs.FS].
func (v *view) OpenFile(path string, flag int, _ fs.FileMode) (diskfs.File, error) {
	kind := Open
	if flag&os.O_CREATE != 0 {
		kind = Create
	}
	opened := &file{view: v, path: path, writable: flag&(os.O_WRONLY|os.O_RDWR) != 0}
	err := v.do(Op{Kind: kind, Path: path}, func(key string) error {
		node := v.disk.files.now[key]
		switch {
		case node == nil && flag&os.O_CREATE == 0:
			if v.disk.dirs[key] {
				node = &inode{}
				opened.dir = true
				break
			}
			return fs.ErrNotExist
		case node == nil && !v.disk.dirs[filepath.Dir(key)]:
			return fs.ErrNotExist
		case node == nil:
			node = &inode{}
			v.disk.files.change(renaming{to: key, inode: node})
		case flag&os.O_EXCL != 0:
			return fs.ErrExist
		case flag&os.O_TRUNC != 0:
			node.truncate(0)
		}
		opened.node = node
		return nil
	})
	if err != nil {
		return nil, err
	}
	return opened, nil
}

// MkdirAll implements [diskfs.FS].
func (v *view) MkdirAll(path string, _ fs.FileMode) error {
	return v.do(Op{Kind: Mkdir, Path: path}, func(key string) error {
		for ; !v.disk.dirs[key]; key = filepath.Dir(key) {
			v.disk.dirs[key] = true
		}
		return nil
	})
}

// ReadDir implements [diskfs.FS].
func (v *view) ReadDir(path string) (entries []fs.DirEntry, err error) {
	err = v.do(Op{Kind: ReadDir, Path: path}, func(key string) error {
		if !v.disk.dirs[key] {
			return fs.ErrNotExist
		}
		for name, node := range v.disk.files.now {
			if filepath.Dir(name) == key {
				entries = append(entries, info{name: filepath.Base(name), size: int64(len(node.data))})
			}
		}
		for name := range v.disk.dirs {
			if filepath.Dir(name) == key && name != key {
				entries = append(entries, info{name: filepath.Base(name), dir: true})
			}
		}
		return nil
	})
	return entries, err
}

// Stat implements [diskfs.FS].
func (v *view) Stat(path string) (result fs.FileInfo, err error) {
	err = v.do(Op{Kind: Stat, Path: path}, func(key string) error {
		if node := v.disk.files.now[key]; node != nil {
			result = info{name: filepath.Base(path), size: int64(len(node.data))}
			return nil
		}
		if v.disk.dirs[key] {
			result = info{name: filepath.Base(path), dir: true}
			return nil
		}
		if held := v.disk.locks[key]; held != nil {
			result = info{name: filepath.Base(path)}
			return nil
		}
		return fs.ErrNotExist
	})
	return result, err
}

// Rename implements [diskfs.FS].
func (v *view) Rename(from, to string) error {
	return v.do(Op{Kind: Rename, Path: to}, func(key string) error {
		source := v.disk.key(from)
		node := v.disk.files.now[source]
		if node == nil {
			return fs.ErrNotExist
		}
		v.disk.files.change(renaming{from: source, to: key, inode: node})
		return nil
	})
}

// Remove implements [diskfs.FS].
func (v *view) Remove(path string) error {
	return v.do(Op{Kind: Remove, Path: path}, func(key string) error {
		if v.disk.files.now[key] == nil {
			return fs.ErrNotExist
		}
		v.disk.files.change(renaming{from: key})
		return nil
	})
}

// SyncDir implements [diskfs.FS].
func (v *view) SyncDir(path string) error {
	return v.do(Op{Kind: SyncDir, Path: path}, func(key string) error {
		v.disk.files.sync(key)
		return nil
	})
}

// Lock implements [diskfs.FS].
func (v *view) Lock(path string) (io.Closer, error) {
	v.disk.mu.Lock()
	defer v.disk.mu.Unlock()
	if v.life != v.disk.life {
		return nil, ErrDead
	}
	key := v.disk.key(path)
	if v.disk.locks[key] != nil {
		return nil, &diskfs.HeldError{Path: path, PID: os.Getpid()}
	}
	held := &lock{disk: v.disk, key: key}
	v.disk.locks[key] = held
	return held, nil
}

// lock is a held lock.
type lock struct {
	disk *Disk
	key  string
}

// Close gives the lock back, unless a kill has done so.
func (l *lock) Close() error {
	l.disk.mu.Lock()
	defer l.disk.mu.Unlock()
	if l.disk.locks[l.key] == l {
		delete(l.disk.locks, l.key)
	}
	return nil
}
