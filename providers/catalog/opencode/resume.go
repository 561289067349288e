package opencode

import (
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
)

// Modes implements [catalog.Reader].
func (Reader) Modes() []catalog.Mode { return []catalog.Mode{{Name: catalog.DefaultMode}} }

// Launch implements [catalog.Reader].
func (r Reader) Launch(env catalog.Env, s *catalog.Session) catalog.Launch {
	l := catalog.Launch{Args: []string{"-s", s.ID}, Env: map[string]string{}}
	if data, configured := env.XDGData(); configured {
		l.Env[dataVar] = data
	}
	usual := filepath.Join(r.Roots(env)[0].Path, usualName)
	if strings.HasSuffix(s.StoreFile, ".db") && s.StoreFile != usual || configuredDatabase(env) != "" && s.StoreFile == usual {
		l.Env[databaseVar] = s.StoreFile
	}
	return l
}
