package bridge

import (
	"fmt"
	"os"
	"path/filepath"
)

// Env returns the variables with which an OpenCode that is started by hand sees the bridge's configuration.
func (b *Bridge) Env() []string { return []string{"XDG_CONFIG_HOME=" + b.paths.configRoot()} }

// serverEnv are the variables that keep OpenCode from the person's configuration. It looks into ~/.opencode beside its configuration
// folder, so it is given another home; logins are in its data folder, which stays the person's.
func (b *Bridge) serverEnv() ([]string, error) {
	if b.options.Server.IsolateIn != "" {
		return b.options.Server.Env, nil
	}
	data, err := PersonalData()
	if err != nil {
		return nil, err
	}
	home := filepath.Join(b.paths.home, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, fmt.Errorf("making OpenCode's home folder: %w", err)
	}
	env := []string{
		"HOME=" + home, "USERPROFILE=" + home, "XDG_DATA_HOME=" + data,
		"XDG_STATE_HOME=" + filepath.Join(b.paths.home, "state"), "XDG_CACHE_HOME=" + filepath.Join(b.paths.home, "cache"),
	}
	return append(env, b.options.Server.Env...), nil
}

// PersonalData returns the person's data folder, in which OpenCode keeps logins as opencode/auth.json. It need not exist. The error says that the person has no home.
func PersonalData() (string, error) {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding the data folder with the logins of OpenCode: %w: set XDG_DATA_HOME", err)
	}
	return filepath.Join(home, ".local", "share"), nil
}
