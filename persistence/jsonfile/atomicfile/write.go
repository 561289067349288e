package atomicfile

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"agentd/persistence/jsonfile/diskfs"
)

// ErrUnconfirmed means that the new content is in place, but that it could not be made sure that a
// power cut will not bring the old content back.
var ErrUnconfirmed = errors.New("written, but not confirmed to survive a power cut")

// Temporary files are named .<name>.<random>.tmp, so that no listing takes one for content.
const tempSuffix = ".tmp"

// WriteJSON writes value as indented JSON, with a line end behind it, to path. The folder is made if
// need be. The error names the path.
func WriteJSON(path string, value any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("encoding %q: %w", path, err)
	}
	return Write(path, text.Bytes())
}

// Write writes data to path. The folder is made if need be. The error names the path.
func Write(path string, data []byte) error { return WriteOn(diskfs.OS{}, path, data) }

// WriteOn is [Write] on a given file system.
func WriteOn(fsys diskfs.FS, path string, data []byte) error {
	if err := write(fsys, path, data); err != nil {
		return fmt.Errorf("writing %q: %w", path, err)
	}
	return nil
}

func write(fsys diskfs.FS, path string, data []byte) error {
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	if err := fsys.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp := filepath.Join(dir, "."+name+"."+rand.Text()+tempSuffix)
	if err := writeSynced(fsys, temp, data); err != nil {
		return discard(fsys, temp, err)
	}
	if err := fsys.Rename(temp, path); err != nil {
		return discard(fsys, temp, err)
	}
	if err := fsys.SyncDir(dir); err != nil {
		return fmt.Errorf("%w: %w", ErrUnconfirmed, err)
	}
	return nil
}

func writeSynced(fsys diskfs.FS, path string, data []byte) error {
	file, err := fsys.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(data, 0)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// discard removes a temporary file that is of no use, and returns why it is not.
func discard(fsys diskfs.FS, temp string, cause error) error {
	if err := fsys.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return errors.Join(cause, err)
	}
	return cause
}

// Clean removes the temporary files that a crash left in a folder, and returns how many. It is called
// before the first write by the one who owns the folder. A folder that is not there is clean.
func Clean(dir string) (int, error) {
	fsys := diskfs.OS{}
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("cleaning %q: %w", dir, err)
	}
	removed := 0
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasPrefix(name, ".") || !strings.HasSuffix(name, tempSuffix) || !entry.Type().IsRegular() {
			continue
		}
		if err := fsys.Remove(filepath.Join(dir, name)); err != nil {
			return removed, fmt.Errorf("cleaning %q: %w", dir, err)
		}
		removed++
	}
	return removed, nil
}
