package database

import (
	"errors"
	"io"
	"io/fs"
	"time"

	"agentd/providers/catalog/bounded"
)

const (
	mainName = "main.db"
	walName  = mainName + "-wal"
	// walHeaderBytes is the length of a log's header; the salts in it change when the log starts anew.
	walHeaderBytes = 32
)

// overlay shows a database and its log, and nothing else, to SQLite. Journals are hidden, so that SQLite never
// tries to roll back, which would be a write.
type overlay struct {
	path   string
	useWAL bool
}

// Open implements [fs.FS].
func (o *overlay) Open(name string) (fs.File, error) {
	switch {
	case name == mainName:
		f, err := bounded.Open(o.path)
		if err != nil {
			return nil, err
		}
		return &page{file: f, name: name, legacy: !o.useWAL}, nil
	case name == walName && o.useWAL:
		f, err := bounded.Open(o.path + "-wal")
		if err != nil {
			return nil, err
		}
		return &page{file: f, name: name}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// page is a file that SQLite reads page by page.
type page struct {
	file *bounded.File
	name string
	off  int64
	// legacy makes a database in WAL mode without a log look like one in rollback mode: the two differ in bytes 18
	// and 19 only, and without this SQLite would want to create the log.
	legacy bool
}

// Seek implements [io.Seeker].
func (p *page) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekStart || offset < 0 {
		return 0, errors.New("seeking in a database: only from the start")
	}
	p.off = offset
	return offset, nil
}

// Read implements [io.Reader].
func (p *page) Read(b []byte) (int, error) {
	n, err := p.file.ReadAt(b, p.off)
	if p.legacy {
		for at := int64(18); at < 20; at++ {
			if i := at - p.off; i >= 0 && i < int64(n) && b[i] == 2 {
				b[i] = 1
			}
		}
	}
	p.off += int64(n)
	return n, err
}

// Close implements [io.Closer].
func (p *page) Close() error { return p.file.Close() }

// Stat implements [fs.File].
func (p *page) Stat() (fs.FileInfo, error) { return pageInfo{p}, nil }

type pageInfo struct{ p *page }

func (i pageInfo) Name() string       { return i.p.name }
func (i pageInfo) Size() int64        { return i.p.file.Size }
func (i pageInfo) Mode() fs.FileMode  { return 0o400 }
func (i pageInfo) ModTime() time.Time { return i.p.file.ModTime }
func (i pageInfo) IsDir() bool        { return false }
func (i pageInfo) Sys() any           { return nil }
