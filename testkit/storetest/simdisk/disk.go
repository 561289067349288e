package simdisk

import (
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"time"

	"agentd/persistence/jsonfile/diskfs"
)

// Disk is the simulated disk. Make one with [New].
type Disk struct {
	mu    sync.Mutex
	files names
	// dirs are the folders. They are durable when they are made: no test is about a lost folder.
	dirs  map[string]bool
	locks map[string]*lock
	fault FaultFunc
	// life is the number of the process that is running.
	life int
	ops  map[OpKind]int
	// foldsCase makes "A" and "a" one name.
	foldsCase bool
}

// New returns an empty disk.
func New() *Disk {
	return &Disk{
		files: newNames(), dirs: map[string]bool{"/": true, ".": true},
		locks: make(map[string]*lock), ops: make(map[OpKind]int),
	}
}

// FoldCase makes the disk take "A" and "a" for one name, as those of macOS and Windows do. It is called before anything else.
func (d *Disk) FoldCase() { d.foldsCase = true }

// FS returns the disk as the process that is running sees it.
func (d *Disk) FS() diskfs.FS {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &view{disk: d, life: d.life}
}

// Inject sets what decides about every operation from now on. Nil ends all faults.
func (d *Disk) Inject(fault FaultFunc) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault = fault
}

// Count tells how many operations of a kind there were.
func (d *Disk) Count(kind OpKind) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ops[kind]
}

// Kill ends the process: its files and locks are gone, what it wrote stays. Faults end too.
func (d *Disk) Kill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kill()
	d.fault = nil
}

func (d *Disk) kill() {
	d.life++
	clear(d.locks)
}

// PowerCut ends the process and takes away what was not synced, or a part of it, as the seed decides. Seed 0 takes all of it.
func (d *Disk) PowerCut(seed uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kill()
	d.fault = nil
	random := rand.New(rand.NewPCG(seed, 1))
	if seed == 0 {
		d.files.pending = nil
	}
	d.files.cut(random)
	seen := make(map[*inode]bool)
	for _, node := range d.files.now {
		if seen[node] {
			continue
		}
		seen[node] = true
		if seed == 0 {
			node.pending = nil
		}
		node.cut(random)
	}
}

// Read returns the content of a file, or false.
func (d *Disk) Read(path string) ([]byte, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	node := d.files.now[d.key(path)]
	if node == nil {
		return nil, false
	}
	return append([]byte(nil), node.data...), true
}

// Write replaces the content of a file, durably, without asking for faults.
func (d *Disk) Write(path string, data []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	path = d.key(path)
	for dir := filepath.Dir(path); !d.dirs[dir]; dir = filepath.Dir(dir) {
		d.dirs[dir] = true
	}
	node := &inode{data: append([]byte(nil), data...), durable: append([]byte(nil), data...)}
	d.files.now[path], d.files.durable[path] = node, node
}

// Paths lists the files, in no order.
func (d *Disk) Paths() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var paths []string
	for path := range d.files.now {
		paths = append(paths, path)
	}
	return paths
}

// begin asks whether an operation may happen. The lock is held.
func (d *Disk) begin(life int, op Op) *Fault {
	if life != d.life {
		return &Fault{Err: ErrDead}
	}
	d.ops[op.Kind]++
	if d.fault == nil {
		return nil
	}
	fault := d.fault(op)
	if fault != nil && fault.Kill {
		d.kill()
	}
	return fault
}

// fail makes the error of a fault.
func fail(op Op, fault *Fault) error {
	return &fs.PathError{Op: string(op.Kind), Path: op.Path, Err: fault.Err}
}

// info describes a file.
type info struct {
	name string
	size int64
	dir  bool
}

func (i info) Name() string               { return i.name }
func (i info) Size() int64                { return i.size }
func (i info) ModTime() time.Time         { return time.Time{} }
func (i info) IsDir() bool                { return i.dir }
func (i info) Sys() any                   { return nil }
func (i info) Type() fs.FileMode          { return i.Mode().Type() }
func (i info) Info() (fs.FileInfo, error) { return i, nil }

func (i info) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o700
	}
	return 0o600
}
