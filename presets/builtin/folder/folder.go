package folder

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// MaxPathBytes is the longest path that is accepted.
const MaxPathBytes = 4096

// tempPrefix begins the names of files that are being written. One that is left over from a crash may be deleted.
const tempPrefix = ".agentd-"

// Errors of this package. They are wrapped with the path, so compare with [errors.Is].
var (
	// ErrNoFolder means that the host gave no folder.
	ErrNoFolder = errors.New("no folder is configured")
	// ErrPath means that a path is empty, malformed or leaves the folder.
	ErrPath = errors.New("path is not allowed")
	// ErrNotRegular means that a path names something other than a regular file.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge means that a file is larger than the tool reads.
	ErrTooLarge = errors.New("file too large")
	// ErrChanged means that a file was changed by somebody else while a tool worked on it.
	ErrChanged = errors.New("file changed meanwhile")
)

// Folder is an open folder. It is safe for use by several goroutines.
type Folder struct {
	path string
	root *os.Root
}

// Open opens a folder that exists.
func Open(path string) (*Folder, error) {
	if path == "" {
		return nil, ErrNoFolder
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("opening folder: %w", err)
	}
	return &Folder{path: path, root: root}, nil
}

// Create opens a folder, and makes it first if it is not there, for its owner alone.
func Create(path string) (*Folder, error) {
	if path == "" {
		return nil, ErrNoFolder
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("making folder: %w", err)
	}
	return Open(path)
}

// Close closes the folder.
func (f *Folder) Close() { _ = f.root.Close() }

// Path returns where the folder is.
func (f *Folder) Path() string { return f.path }

// Root returns the handle through which names are looked up. It is closed with the folder.
func (f *Folder) Root() *os.Root { return f.root }

// Local turns what a model wrote into a path relative to the folder: "" and "." are the folder itself, an absolute path must
// lie inside it. The error is [ErrPath].
func (f *Folder) Local(path string) (string, error) {
	if len(path) > MaxPathBytes || strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("%w: it is longer than %d bytes or holds a NUL", ErrPath, MaxPathBytes)
	}
	if filepath.IsAbs(path) {
		relative, err := filepath.Rel(f.path, path)
		if err != nil {
			return "", fmt.Errorf("%q: %w: it is outside of the folder", path, ErrPath)
		}
		path = relative
	}
	clean := filepath.Clean(path)
	if path == "" {
		clean = "."
	}
	if !filepath.IsLocal(clean) {
		return "", fmt.Errorf("%q: %w: it is outside of the folder", path, ErrPath)
	}
	return clean, nil
}

// OpenFile opens a regular file for reading and says what it is. Links are followed inside the folder.
func (f *Folder) OpenFile(name string) (*os.File, fs.FileInfo, error) {
	file, err := f.root.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, nil, explain(name, err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%q: %w: it is a %s", name, ErrNotRegular, kind(info.Mode()))
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// ReadFile returns the whole of a regular file of at most limit bytes.
func (f *Folder) ReadFile(name string, limit int64) ([]byte, fs.FileInfo, error) {
	file, info, err := f.OpenFile(name)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, nil, fmt.Errorf("reading %q: %w", name, err)
	}
	if int64(len(data)) > limit {
		return nil, nil, fmt.Errorf("%q: %w: more than %d bytes", name, ErrTooLarge, limit)
	}
	return data, info, nil
}

// Replace writes a file whole, in the place of the old one if there is one. A new file gets the permission bits perm, as far as the umask
// allows. If expect is not nil, the old file must still be what it says, else the error is [ErrChanged], and the new one gets exactly its permissions.
func (f *Folder) Replace(name string, data []byte, perm fs.FileMode, expect fs.FileInfo) error {
	temp := filepath.Join(filepath.Dir(name), tempPrefix+rand.Text()+".tmp")
	err := f.write(temp, data, perm)
	if err == nil && expect != nil {
		err = f.root.Chmod(temp, expect.Mode().Perm())
	}
	if err == nil && expect != nil {
		err = f.Unchanged(name, expect)
	}
	if err == nil {
		err = f.root.Rename(temp, name)
	}
	if err != nil {
		_ = f.root.Remove(temp)
		return fmt.Errorf("writing %q: %w", name, explain(name, err))
	}
	return f.SyncDir(filepath.Dir(name))
}

func (f *Folder) write(name string, data []byte, perm fs.FileMode) error {
	file, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm.Perm())
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// Unchanged returns [ErrChanged] if the file is not what it was any more.
func (f *Folder) Unchanged(name string, expect fs.FileInfo) error {
	now, err := f.root.Lstat(name)
	if err != nil {
		return explain(name, err)
	}
	if !os.SameFile(now, expect) || now.Size() != expect.Size() || !now.ModTime().Equal(expect.ModTime()) {
		return ErrChanged
	}
	return nil
}

// Lstat says what a name is, without following a last link.
func (f *Folder) Lstat(name string) (fs.FileInfo, error) {
	info, err := f.root.Lstat(name)
	if err != nil {
		return nil, explain(name, err)
	}
	return info, nil
}

// explain makes the system's word for leaving the folder ours.
func explain(name string, err error) error {
	if strings.Contains(err.Error(), "escapes from parent") {
		return fmt.Errorf("%q: %w: it is a link that leaves the folder", name, ErrPath)
	}
	return err
}

// kind names what is no regular file.
func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "folder"
	case mode&fs.ModeSymlink != 0:
		return "link"
	case mode&fs.ModeNamedPipe != 0:
		return "pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	default:
		return "special file"
	}
}

// Kind names what a listing shows: "file", "folder", "link" or something rarer.
func Kind(mode fs.FileMode) string {
	if mode.IsRegular() {
		return "file"
	}
	return kind(mode)
}

// OpenDir opens a folder inside this one for reading its entries.
func (f *Folder) OpenDir(name string) (*os.File, error) {
	dir, err := f.root.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, explain(name, err)
	}
	info, err := dir.Stat()
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%q is no folder: it is a %s", name, Kind(info.Mode()))
	}
	if err != nil {
		_ = dir.Close()
		return nil, err
	}
	return dir, nil
}

// IsVersionControl reports whether a folder of that name is the store of a version control system, on systems that tell
// upper from lower case and on those that do not.
func IsVersionControl(name string) bool {
	// Windows leaves out dots and spaces at the end of a name.
	switch strings.ToLower(strings.TrimRight(name, ". ")) {
	case ".git", ".hg", ".svn", ".jj", "git~1":
		return true
	default:
		return false
	}
}
