package codex

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/BurntSushi/toml"

	"agentd/providers/catalog/bounded"
)

// maxConfigBytes bounds the configuration file.
const maxConfigBytes = 1 << 20

// configuredSQLiteHome returns the folder of the databases that the configuration file names, as it stands there.
func configuredSQLiteHome(path string) (string, error) {
	data, err := bounded.ReadAll(path, maxConfigBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var config struct {
		SQLiteHome any `toml:"sqlite_home"`
	}
	if err := toml.Unmarshal(data, &config); err != nil {
		return "", fmt.Errorf("reading %q: %w", path, errors.Join(bounded.ErrCorrupt, err))
	}
	home, _ := config.SQLiteHome.(string) // What is no text names no folder.
	return home, nil
}
