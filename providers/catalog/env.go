package catalog

import (
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Env is the surroundings in which stores are looked for. Readers know no others: they never ask the process. So a
// host program or a test decides what is found. It is a value; it is not changed after it was given to [New].
type Env struct {
	// Home is the absolute path of the user's home directory.
	Home string
	// Dir is the absolute path that relative storage roots are relative to.
	Dir string
	// OS is the operating system, as runtime.GOOS names it. It decides where platform folders are.
	OS string
	// Vars are the environment variables.
	Vars map[string]string
	// Now returns the present time. Times later than that by more than five minutes are not believed. Nil is
	// [time.Now].
	Now func() time.Time
}

// HostEnv returns the surroundings of this process. Home is what the environment says, else that of the account. It is empty when the
// system tells neither; then stores below it are not found.
func HostEnv() Env {
	vars := map[string]string{}
	for _, kv := range os.Environ() {
		// Windows has entries such as "=C:=C:\dir".
		if i := strings.IndexByte(kv, '='); i > 0 {
			vars[kv[:i]] = kv[i+1:]
		}
	}
	dir, _ := os.Getwd() // Without it relative roots are not found; others still are.
	return Env{Home: hostHome(), Dir: dir, OS: runtime.GOOS, Vars: vars}
}

// hostHome returns the home directory, also in an environment that does not say it: some programs start servers with few variables.
// It is empty when the account has none; then there are no default roots, and a configured one still works.
func hostHome() string {
	if home, err := os.UserHomeDir(); err == nil {
		return home
	}
	account, err := user.Current()
	if err != nil || !filepath.IsAbs(account.HomeDir) {
		return ""
	}
	return account.HomeDir
}

// Var returns an environment variable, empty when it is not set. On Windows case does not matter.
func (e Env) Var(name string) string {
	if v, ok := e.Vars[name]; ok || e.OS != "windows" {
		return v
	}
	for k, v := range e.Vars {
		if strings.EqualFold(k, name) {
			return v
		}
	}
	return ""
}

// Root returns the storage root that a variable configures, or the default when the variable is empty. A relative
// value is relative to Dir. configured tells which it was.
func (e Env) Root(name, fallback string) (path string, configured bool) {
	if v := e.Var(name); v != "" {
		return e.Abs(v), true
	}
	return fallback, false
}

// Abs makes a path absolute and clean; a relative one is relative to Dir.
func (e Env) Abs(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(e.Dir, path)
	}
	return filepath.Clean(path)
}

// Tilde is [Env.Abs] for a path that may start with "~" or "~/".
func (e Env) Tilde(path string) string {
	if path == "~" {
		return e.Home
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(e.Home, filepath.FromSlash(rest))
	}
	if rest, ok := strings.CutPrefix(path, `~\`); ok && e.OS == "windows" {
		return filepath.Join(e.Home, rest)
	}
	return e.Abs(path)
}

// InHome joins a path below the home directory. It is empty when Home is.
func (e Env) InHome(parts ...string) string {
	if e.Home == "" {
		return ""
	}
	return filepath.Join(append([]string{e.Home}, parts...)...)
}

// XDGData returns $XDG_DATA_HOME when it is absolute, else ~/.local/share, on every system. configured tells which.
func (e Env) XDGData() (path string, configured bool) {
	if v := e.Var("XDG_DATA_HOME"); filepath.IsAbs(v) {
		return filepath.Clean(v), true
	}
	return e.InHome(".local", "share"), false
}

// PlatformData returns the folder for local application data: [Env.XDGData] on Linux and other Unix systems,
// ~/Library/Application Support on macOS, %LOCALAPPDATA% on Windows.
func (e Env) PlatformData() string {
	switch e.OS {
	case "darwin":
		return e.InHome("Library", "Application Support")
	case "windows":
		if v := e.Var("LOCALAPPDATA"); v != "" {
			return e.Abs(v)
		}
		return e.InHome("AppData", "Local")
	default:
		path, _ := e.XDGData()
		return path
	}
}

// now is the present time.
func (e Env) now() time.Time {
	if e.Now != nil {
		return e.Now()
	}
	return time.Now()
}
