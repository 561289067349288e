package bounded

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// listBytes is how much of a folder the system tells at once.
const listBytes = 32 << 10

// rawLister asks the system itself, because package os makes four objects for each entry, and a search looks at ten thousand.
type rawLister struct {
	buf   []byte
	paths []byte // of one folder, one behind the other
	ends  []int
}

// list adds the entries of a folder to out, in the system's order. The paths of a folder are pieces of one text.
func (r *rawLister) list(dir, prefix string, out []listed) ([]listed, error) {
	fd, err := openDir(dir)
	if err != nil {
		return out, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	defer func() { _ = unix.Close(fd) }() // It was only read.
	if r.buf == nil {
		r.buf = make([]byte, listBytes)
	}
	r.ends, r.paths = r.ends[:0], r.paths[:0]
	first := len(out)
	for {
		n, err := unix.Getdents(fd, r.buf)
		if err == unix.EINTR { // The system call returns the number itself.
			continue
		}
		if err != nil || n <= 0 {
			out = r.name(out, first)
			if err != nil {
				return out, &fs.PathError{Op: "readdirent", Path: dir, Err: err}
			}
			return out, nil
		}
		out = r.parse(r.buf[:n], prefix, out)
	}
}

func openDir(dir string) (int, error) {
	for {
		fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// parse decodes records: inode, offset, length of the record, type, name up to a NUL.
func (r *rawLister) parse(records []byte, prefix string, out []listed) []listed {
	const lengthAt, typeAt, nameAt = 16, 18, 19
	for len(records) > nameAt {
		size := int(binary.NativeEndian.Uint16(records[lengthAt:]))
		if size <= nameAt || size > len(records) {
			break // The system would not say that.
		}
		record := records[:size]
		records = records[size:]
		name := record[nameAt:]
		if end := bytes.IndexByte(name, 0); end >= 0 {
			name = name[:end]
		}
		if binary.NativeEndian.Uint64(record) == 0 || string(name) == "." || string(name) == ".." || len(name) == 0 {
			continue
		}
		r.paths = append(append(r.paths, prefix...), name...)
		r.ends = append(r.ends, len(r.paths))
		out = append(out, listed{typ: typeOf(record[typeAt])})
	}
	return out
}

// name gives the entries from the first one on their paths, now that the text does not grow any more.
func (r *rawLister) name(out []listed, first int) []listed {
	all, from := string(r.paths), 0
	kept := out[:first]
	for i, end := range r.ends {
		e := listed{path: all[from:end], typ: out[first+i].typ}
		from = end
		if e.typ == fs.ModeIrregular { // The file system does not tell types in listings.
			info, err := os.Lstat(e.path)
			if err != nil {
				continue // Gone meanwhile.
			}
			e.typ = info.Mode().Type()
		}
		kept = append(kept, e)
	}
	return kept
}

// typeOf returns the type that a record tells, [fs.ModeIrregular] when it does not.
func typeOf(t byte) fs.FileMode {
	switch t {
	case unix.DT_REG:
		return 0
	case unix.DT_DIR:
		return fs.ModeDir
	case unix.DT_LNK:
		return fs.ModeSymlink
	case unix.DT_FIFO:
		return fs.ModeNamedPipe
	case unix.DT_SOCK:
		return fs.ModeSocket
	case unix.DT_CHR:
		return fs.ModeDevice | fs.ModeCharDevice
	case unix.DT_BLK:
		return fs.ModeDevice
	default:
		return fs.ModeIrregular
	}
}
