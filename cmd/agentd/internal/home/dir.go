package home

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"agentd/messages"
)

// EnvHome names the variable that says where the data directory is.
const EnvHome = "AGENTD_HOME"

// Dir is the absolute path of a data directory.
type Dir string

// Find returns the data directory: the one that was asked for, else AGENTD_HOME, else XDG_DATA_HOME/agentd, else the platform's place
// for a program's data. It need not exist. The error says what to set.
func Find(asked string, getenv func(string) string) (Dir, error) {
	path := asked
	if path == "" {
		path = getenv(EnvHome)
	}
	if path == "" {
		base, err := dataHome(runtime.GOOS, getenv)
		if err != nil {
			return "", err
		}
		path = filepath.Join(base, "agentd")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("finding the data directory: %w", err)
	}
	return Dir(path), nil
}

// dataHome is where programs keep a person's data on a system.
func dataHome(system string, getenv func(string) string) (string, error) {
	if xdg := getenv("XDG_DATA_HOME"); filepath.IsAbs(xdg) {
		return xdg, nil
	}
	variable, below := "HOME", filepath.Join(".local", "share")
	switch system {
	case "darwin":
		below = filepath.Join("Library", "Application Support")
	case "windows":
		variable, below = "LOCALAPPDATA", ""
	}
	base := getenv(variable)
	if base == "" {
		return "", fmt.Errorf("finding the data directory: %s is not set: set it, or %s, or use --data-dir", variable, EnvHome)
	}
	return filepath.Join(base, below), nil
}

// Path is the path itself.
func (d Dir) Path() string { return string(d) }

// Sessions is the folder of the session files.
func (d Dir) Sessions() string { return filepath.Join(string(d), "agent-sessions") }

// Session is the file of a session.
func (d Dir) Session(id messages.SessionID) string {
	return filepath.Join(d.Sessions(), string(id)+sessionSuffix)
}

// Artifacts is the folder under which each session has one for the files that its tools make.
func (d Dir) Artifacts() string { return filepath.Join(string(d), "agent-artifacts") }

// Grants is the file of standing approvals.
func (d Dir) Grants() string { return filepath.Join(string(d), "agent-approvals", "grants.json") }

// Overrides is the file of preset overrides.
func (d Dir) Overrides() string {
	return filepath.Join(string(d), "agent-presets", "overrides.json")
}

// History is the file of the lines that were typed in a chat.
func (d Dir) History() string { return filepath.Join(string(d), "chat-history") }

// MCPToken is the file of what clients of "agentd mcp --http" prove themselves with.
func (d Dir) MCPToken() string { return filepath.Join(string(d), "agent-mcp", "token") }

// lock is the file whose lock the owner holds.
func (d Dir) lock() string { return filepath.Join(string(d), "LOCK") }

const sessionSuffix = ".json"

// Exists reports whether there is a data directory. Something else under the path is an error.
func (d Dir) Exists() (bool, error) {
	info, err := os.Stat(string(d))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reading the data directory: %w", err)
	case !info.IsDir():
		return false, fmt.Errorf("the data directory %q is a file: choose another with --data-dir or %s", string(d), EnvHome)
	}
	return true, nil
}
