package bridge

import (
	"fmt"
	"os"
	"path/filepath"

	"agentd/messages"
)

// layout are the paths below the bridge's folder.
type layout struct{ home string }

// configRoot is what OpenCode is given as XDG_CONFIG_HOME.
func (l layout) configRoot() string { return filepath.Join(l.home, "config") }

func (l layout) configPath() string {
	return filepath.Join(l.configRoot(), "opencode", "opencode.json")
}

func (l layout) workRoot() string { return filepath.Join(l.home, "work") }

// work is the directory of a session, whose id is valid and so a file name.
func (l layout) work(session messages.SessionID) string {
	return filepath.Join(l.workRoot(), string(session))
}

// made makes a folder with its parents, and returns a function that removes those that were not there, as far as they are empty.
func made(dir string) (undo func(), err error) {
	var missing []string
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	undo = func() {
		for _, dir := range missing {
			_ = os.Remove(dir) // One that is not empty stays.
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		undo()
		return func() {}, fmt.Errorf("making the folder of the OpenCode bridge: %w", err)
	}
	return undo, nil
}
