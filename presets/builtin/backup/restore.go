package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Restore brings a backup back to its place. What stands there now is kept first; the second entry is that backup. subject.Path is ignored: the
// place is that of the backup, which must be of the same workspace.
func (s *Store) Restore(id string, subject Subject) (restored, kept Entry, err error) {
	entry, err := s.Load(id)
	if err != nil {
		return Entry{}, Entry{}, err
	}
	workspace := subject.Workspace
	if entry.Workspace != workspace.Path() {
		return Entry{}, Entry{}, fmt.Errorf("backup %q: %w: %s", id, ErrOtherWorkspace, entry.Workspace)
	}
	if subject.Path, err = workspace.Local(filepath.FromSlash(entry.Path)); err != nil {
		return Entry{}, Entry{}, fmt.Errorf("backup %q: %w: %w", id, ErrDamaged, err)
	}
	var data []byte
	if entry.Kind == KindFile {
		if data, err = s.content(entry); err != nil {
			return Entry{}, Entry{}, err
		}
	}
	kept, info, err := s.Keep(subject)
	if err != nil {
		return Entry{}, Entry{}, err
	}
	if err := put(subject, entry, data, info); err != nil {
		return Entry{}, Entry{}, fmt.Errorf("restoring %q: %w", entry.Path, err)
	}
	return entry, kept, nil
}

// put makes the place what the entry says. info is what stands there.
func put(subject Subject, entry Entry, data []byte, info fs.FileInfo) error {
	const newDirPerm = 0o755
	workspace, path := subject.Workspace, subject.Path
	if err := workspace.Root().MkdirAll(filepath.Dir(path), newDirPerm); err != nil {
		return err
	}
	if info != nil && info.IsDir() && entry.Kind == KindFolder {
		return nil
	}
	if info != nil && (entry.Kind != KindFile || !info.Mode().IsRegular()) {
		if err := workspace.Unchanged(path, info); err != nil {
			return err
		}
		if err := workspace.Root().Remove(path); err != nil { // A folder that is not empty stays, with an error.
			return err
		}
		info = nil
	}
	switch entry.Kind {
	case KindAbsent:
		return workspace.SyncDir(filepath.Dir(path))
	case KindFolder:
		return errors.Join(workspace.Root().Mkdir(path, entry.Mode), workspace.SyncDir(filepath.Dir(path)))
	case KindLink:
		return errors.Join(workspace.Root().Symlink(entry.Target, path), workspace.SyncDir(filepath.Dir(path)))
	case KindFile:
		if err := workspace.Replace(path, data, entry.Mode, info); err != nil {
			return err
		}
		return workspace.Root().Chmod(path, entry.Mode)
	default:
		return fmt.Errorf("%w: the kind %.40q", ErrDamaged, string(entry.Kind))
	}
}
