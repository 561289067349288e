package jsonfile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"agentd/messages"
	"agentd/persistence/jsonfile/diskfs"
)

// Names in a data directory.
const (
	lockName       = "LOCK"
	sessionsName   = "agent-sessions"
	journalName    = "journal"
	tombstonesName = "deleted"
	tempName       = "tmp"
	quarantineName = "quarantine"

	snapshotSuffix = ".json"
	segmentSuffix  = ".log"
)

// Modes of what is made: sessions are private.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// layout knows where things lie in a data directory.
type layout struct {
	root, sessions, journal, tombstones, temp, quarantine string
	// foldsCase says that the file system takes "A" and "a" for one name.
	foldsCase bool
}

func newLayout(root string) layout {
	sessions := filepath.Join(root, sessionsName)
	return layout{
		root:       root,
		sessions:   sessions,
		journal:    filepath.Join(sessions, journalName),
		tombstones: filepath.Join(sessions, tombstonesName),
		temp:       filepath.Join(sessions, tempName),
		quarantine: filepath.Join(sessions, quarantineName),
	}
}

// make makes the folders, and makes their names durable if any was missing.
func (l *layout) make(fsys diskfs.FS) error {
	dirs := []string{l.journal, l.tombstones, l.temp}
	if !slices.ContainsFunc(dirs, func(dir string) bool { _, err := fsys.Stat(dir); return err != nil }) {
		return nil
	}
	for _, dir := range dirs {
		if err := fsys.MkdirAll(dir, dirMode); err != nil {
			return err
		}
	}
	for _, dir := range []string{l.sessions, l.root, filepath.Dir(l.root)} {
		if err := fsys.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// probe finds out whether the file system folds case, by asking for the lock file in another spelling.
func (l *layout) probe(fsys diskfs.FS) {
	_, err := fsys.Stat(filepath.Join(l.root, strings.ToLower(lockName)))
	l.foldsCase = err == nil
}

// key is what a session is known by in memory: ids that would share a file share a key.
func (l *layout) key(id messages.SessionID) messages.SessionID {
	if l.foldsCase {
		return messages.SessionID(strings.ToLower(string(id)))
	}
	return id
}

func (l *layout) snapshot(id messages.SessionID) string {
	return filepath.Join(l.sessions, string(id)+snapshotSuffix)
}

func (l *layout) tombstone(id messages.SessionID) string {
	return filepath.Join(l.tombstones, string(id)+snapshotSuffix)
}

func (l *layout) segment(number uint64) string {
	return filepath.Join(l.journal, fmt.Sprintf("%08d%s", number, segmentSuffix))
}

// segmentNumber reads the number in a segment's name, or false.
func segmentNumber(name string) (uint64, bool) {
	digits, found := strings.CutSuffix(name, segmentSuffix)
	if !found || len(digits) < 8 {
		return 0, false
	}
	number, err := strconv.ParseUint(digits, 10, 63)
	return number, err == nil && number > 0 && fmt.Sprintf("%08d", number) == digits
}

// validateID holds an id to the rules of [messages.SessionID.Validate], and to what can be a file's name on every system: a
// data directory may be carried to another machine.
func validateID(id messages.SessionID) error {
	if err := id.Validate(); err != nil {
		return err
	}
	stem, _, _ := strings.Cut(strings.ToLower(string(id)), ".")
	switch stem {
	case "con", "prn", "aux", "nul":
	default:
		if len(stem) != 4 || !strings.HasPrefix(stem, "com") && !strings.HasPrefix(stem, "lpt") || stem[3] < '0' || stem[3] > '9' {
			return nil
		}
	}
	return &messages.InvalidIDError{Noun: "session", ID: string(id), Reason: "it names a device on some systems: choose another"}
}
