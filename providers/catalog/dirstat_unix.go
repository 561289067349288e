//go:build unix

package catalog

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// dirStat asks for the state of one file after the other. For files of one folder it asks through the open folder, so that
// the system need not walk down the whole path for each of ten thousand. Close it.
type dirStat struct {
	asked
	last string // the folder of the last file
	open bool
	fd   int // of last, when open
}

// stat follows links, like [os.Stat].
func (d *dirStat) stat(path string) (fileState, error) {
	dir, name := filepath.Split(path)
	if dir != d.last || name == "" {
		d.Close()
		d.last = dir
		return d.statAt(unix.AT_FDCWD, path)
	}
	if !d.open {
		fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return d.statAt(unix.AT_FDCWD, path)
		}
		d.fd, d.open = fd, true
	}
	return d.statAt(d.fd, name)
}

// Close lets go of the folder.
func (d *dirStat) Close() {
	if d.open {
		_ = unix.Close(d.fd) // It was only asked.
		d.open = false
	}
}

// fstatAt asks in the way that every Unix knows.
func fstatAt(fd int, name string) (fileState, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(fd, name, &st, 0)
		if err == unix.EINTR { // The system call returns the number itself.
			continue
		}
		if err != nil {
			return fileState{}, err
		}
		return fileState{
			size: st.Size, modNS: st.Mtim.Nano(), changeNS: st.Ctim.Nano(), inode: uint64(st.Ino), //nolint:unconvert // The types differ by system.
			regular: st.Mode&unix.S_IFMT == unix.S_IFREG,
		}, nil
	}
}
