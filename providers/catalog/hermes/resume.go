package hermes

import (
	"path/filepath"

	"agentd/providers/catalog"
)

// Modes implements [catalog.Reader].
func (Reader) Modes() []catalog.Mode { return []catalog.Mode{{Name: catalog.DefaultMode}} }

// Launch implements [catalog.Reader]. The home of a session is the folder of its database.
func (r Reader) Launch(env catalog.Env, s *catalog.Session) catalog.Launch {
	l := catalog.Launch{Args: []string{"--resume", s.ID}, Env: map[string]string{}}
	home := r.Roots(env)[0].Path
	if filepath.Base(s.StoreFile) == databaseName {
		home = filepath.Dir(s.StoreFile)
	}
	if home != usualHome(env) {
		l.Env[homeVar] = home
	}
	return l
}
