package backup

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"agentd/messages"
	"agentd/presets"
	"agentd/presets/builtin/folder"
)

const (
	// Dir is the folder of the backups in the artifact folder.
	Dir = "backups"
	// MaxEntries is how many backups one session may have.
	MaxEntries = 10_000
	// MaxContentBytes is the largest file that is kept.
	MaxContentBytes = 64 << 20

	schema      = "agentd.backup/1"
	entryFile   = "entry.json"
	contentFile = "content"
	idDigits    = 6
	dirPerm     = 0o700
	filePerm    = 0o600
)

// Errors of this package. They are wrapped, so compare with [errors.Is].
var (
	// ErrUnknown means that there is no backup of that id.
	ErrUnknown = errors.New("unknown backup")
	// ErrOtherWorkspace means that the backup was made of another workspace.
	ErrOtherWorkspace = errors.New("backup of another workspace")
	// ErrFull means that the session has as many backups as it may have.
	ErrFull = errors.New("too many backups")
	// ErrDamaged means that a backup is not what it was.
	ErrDamaged = errors.New("damaged backup")
)

// Kind says what stood in the place.
type Kind string

// The kinds.
const (
	KindFile   Kind = "file"
	KindFolder Kind = "folder"
	KindLink   Kind = "link"
	// KindAbsent means that nothing stood there: restoring it removes what does now.
	KindAbsent Kind = "absent"
)

// Entry is what is known of one backup.
type Entry struct {
	Schema string `json:"schema"`
	ID     string `json:"id"`
	// Workspace is the absolute path of the workspace, Path the place in it.
	Workspace string `json:"workspace"`
	Path      string `json:"path"`
	Kind      Kind   `json:"kind"`
	// Mode are the permission bits, Size and SHA256 those of the content of a file, Target that of a link.
	Mode   fs.FileMode `json:"mode,omitempty"`
	Size   int64       `json:"size,omitempty"`
	SHA256 string      `json:"sha256,omitempty"`
	Target string      `json:"target,omitempty"`
	// Tool and CallID say what was about to change it, At when, in Unix seconds.
	Tool   string          `json:"tool"`
	CallID messages.CallID `json:"call-id"`
	At     int64           `json:"at"`
}

// Store keeps the backups of one session.
type Store struct{ artifacts *folder.Folder }

// Open opens the backups of the session, and makes the folder for them if needed. Close it.
func Open(env presets.Env) (*Store, error) {
	artifacts, err := folder.Create(env.ArtifactDir)
	if err != nil {
		return nil, fmt.Errorf("opening the artifact folder of the session, in which old content is kept: %w", err)
	}
	if err := artifacts.Root().MkdirAll(Dir, dirPerm); err != nil {
		artifacts.Close()
		return nil, fmt.Errorf("making the folder for backups: %w", err)
	}
	return &Store{artifacts: artifacts}, nil
}

// Close closes the store.
func (s *Store) Close() { s.artifacts.Close() }

// Subject is what is about to be changed, and by what.
type Subject struct {
	Workspace *folder.Folder
	// Path is local to the workspace.
	Path   string
	Tool   string
	CallID messages.CallID
}

// Keep stores what stands in the place and returns the backup and what was seen there (nil if nothing was), once that is durable.
func (s *Store) Keep(subject Subject) (Entry, fs.FileInfo, error) {
	entry := Entry{
		Schema: schema, Workspace: subject.Workspace.Path(), Path: filepath.ToSlash(subject.Path), Kind: KindAbsent,
		Tool: subject.Tool, CallID: subject.CallID, At: time.Now().Unix(),
	}
	temp := filepath.Join(Dir, ".agentd-"+rand.Text())
	if err := s.artifacts.Root().Mkdir(temp, dirPerm); err != nil {
		return Entry{}, nil, fmt.Errorf("making a backup: %w", err)
	}
	defer func() { _ = s.artifacts.Root().RemoveAll(temp) }() // Renamed away when all went well.
	info, err := s.fill(temp, subject, &entry)
	if err == nil {
		err = s.file(temp, &entry)
	}
	if err != nil {
		return Entry{}, nil, fmt.Errorf("keeping the old content of %q: %w", subject.Path, err)
	}
	return entry, info, nil
}

// fill notes what stands in the place and copies its content.
func (s *Store) fill(temp string, subject Subject, entry *Entry) (fs.FileInfo, error) {
	info, err := subject.Workspace.Lstat(subject.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // Nothing stands there, which is no fault.
	}
	if err != nil {
		return nil, err
	}
	entry.Mode = info.Mode().Perm()
	switch {
	case info.IsDir():
		entry.Kind = KindFolder
	case info.Mode()&fs.ModeSymlink != 0:
		entry.Kind = KindLink
		entry.Target, err = subject.Workspace.Root().Readlink(subject.Path)
	case info.Mode().IsRegular():
		entry.Kind = KindFile
		info, err = s.copy(filepath.Join(temp, contentFile), subject, entry)
	default:
		err = fmt.Errorf("%w: it is a %s", folder.ErrNotRegular, folder.Kind(info.Mode()))
	}
	return info, err
}

// copy copies the content of a file. What it returns is of the file that was copied, not of one that may have come since.
func (s *Store) copy(to string, subject Subject, entry *Entry) (fs.FileInfo, error) {
	from, info, err := subject.Workspace.OpenFile(subject.Path)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	content, err := s.artifacts.Root().OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return nil, err
	}
	hash := sha256.New()
	entry.Size, err = io.Copy(io.MultiWriter(content, hash), io.LimitReader(from, MaxContentBytes+1))
	if err == nil && entry.Size > MaxContentBytes {
		err = fmt.Errorf("%w: more than %d bytes cannot be kept; change it by hand", folder.ErrTooLarge, int64(MaxContentBytes))
	}
	if err == nil {
		err = content.Sync()
	}
	entry.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return info, errors.Join(err, content.Close())
}

// file gives the backup its number and makes it durable. Another tool may take a number at the same time: then the next one is tried.
func (s *Store) file(temp string, entry *Entry) error {
	ids, err := s.ids()
	if err != nil {
		return err
	}
	next := 1
	if len(ids) > 0 {
		next = ids[len(ids)-1] + 1
	}
	if len(ids) >= MaxEntries || next > MaxEntries {
		return fmt.Errorf("%w: %d stand in %s; take some away", ErrFull, len(ids), filepath.Join(s.artifacts.Path(), Dir))
	}
	const tries = 100
	for i := range tries {
		entry.ID = fmt.Sprintf("%0*d", idDigits, next+i)
		text, err := json.MarshalIndent(entry, "", "  ")
		if err != nil {
			return err
		}
		if err := s.artifacts.Replace(filepath.Join(temp, entryFile), append(text, '\n'), filePerm, nil); err != nil {
			return err
		}
		place := filepath.Join(Dir, entry.ID)
		if _, err := s.artifacts.Lstat(place); err == nil {
			continue
		}
		if err := s.artifacts.Root().Rename(temp, place); err == nil {
			return s.artifacts.SyncDir(Dir)
		} else if i == tries-1 {
			return err
		}
	}
	return fmt.Errorf("%w: no number is free", ErrFull)
}

// ids returns the numbers of the backups, in order.
func (s *Store) ids() ([]int, error) {
	dir, err := s.artifacts.OpenDir(Dir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(2 * MaxEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var out []int
	for _, name := range names {
		if number, err := strconv.Atoi(name); err == nil && number > 0 && len(name) == idDigits {
			out = append(out, number)
		}
	}
	slices.Sort(out)
	return out, nil
}

// List returns the backups, the newest first, at most limit of them, and how many there are. Damaged ones are left out.
func (s *Store) List(limit int) ([]Entry, int, error) {
	ids, err := s.ids()
	if err != nil {
		return nil, 0, fmt.Errorf("listing backups: %w", err)
	}
	var out []Entry
	for _, id := range slices.Backward(ids) {
		if len(out) == limit {
			break
		}
		if entry, err := s.Load(fmt.Sprintf("%0*d", idDigits, id)); err == nil {
			out = append(out, entry)
		}
	}
	return out, len(ids), nil
}

// Load returns one backup. The error is [ErrUnknown] or [ErrDamaged].
func (s *Store) Load(id string) (Entry, error) {
	if number, err := strconv.Atoi(id); err != nil || number < 1 || len(id) != idDigits {
		return Entry{}, fmt.Errorf("backup %.40q: %w", id, ErrUnknown)
	}
	const maxEntryBytes = 64 << 10
	text, _, err := s.artifacts.ReadFile(filepath.Join(Dir, id, entryFile), maxEntryBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return Entry{}, fmt.Errorf("backup %q: %w", id, ErrUnknown)
	}
	if err != nil {
		return Entry{}, fmt.Errorf("backup %q: %w: %w", id, ErrDamaged, err)
	}
	var entry Entry
	if err := json.Unmarshal(text, &entry); err != nil {
		return Entry{}, fmt.Errorf("backup %q: %w: %w", id, ErrDamaged, err)
	}
	if entry.Schema != schema || entry.ID != id {
		return Entry{}, fmt.Errorf("backup %q: %w: its entry is of the schema %.40q and the id %.40q", id, ErrDamaged, entry.Schema, entry.ID)
	}
	return entry, nil
}

// content returns what a file held, checked against its hash.
func (s *Store) content(entry Entry) ([]byte, error) {
	data, _, err := s.artifacts.ReadFile(filepath.Join(Dir, entry.ID, contentFile), MaxContentBytes)
	if err != nil {
		return nil, fmt.Errorf("backup %q: %w: %w", entry.ID, ErrDamaged, err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != entry.SHA256 {
		return nil, fmt.Errorf("backup %q: %w: its content does not have the SHA-256 of its entry", entry.ID, ErrDamaged)
	}
	return data, nil
}
