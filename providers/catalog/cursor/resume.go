package cursor

import (
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
)

// Modes implements [catalog.Reader].
func (Reader) Modes() []catalog.Mode { return []catalog.Mode{{Name: catalog.DefaultMode}} }

// Launch implements [catalog.Reader]. The program is never guessed to be the newer "agent", which may be something else.
func (Reader) Launch(env catalog.Env, s *catalog.Session) catalog.Launch {
	l := catalog.Launch{Program: env.Var(programVar), Args: []string{"--resume", s.ID}, Env: map[string]string{}}
	for _, name := range []string{configVar, dataVar} {
		if path, ok := env.Root(name, ""); ok {
			l.Env[name] = path
		}
	}
	if xdg := env.Var(xdgVar); filepath.IsAbs(xdg) && strings.HasPrefix(s.StoreFile, filepath.Join(xdg, "cursor")+string(filepath.Separator)) {
		l.Env[xdgVar] = filepath.Clean(xdg)
	}
	return l
}
