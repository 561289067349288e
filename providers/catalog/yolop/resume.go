package yolop

import (
	"path/filepath"

	"agentd/providers/catalog"
)

// Modes implements [catalog.Reader].
func (Reader) Modes() []catalog.Mode { return []catalog.Mode{{Name: catalog.DefaultMode}} }

// Launch implements [catalog.Reader].
func (r Reader) Launch(env catalog.Env, s *catalog.Session) catalog.Launch {
	l := catalog.Launch{Args: []string{"--session", s.ID}, Env: map[string]string{}}
	switch root := r.Roots(env)[0]; root.Var {
	case dataVar:
		l.Env[dataVar] = root.Path
	case xdgVar:
		l.Env[xdgVar] = filepath.Dir(root.Path)
	}
	return l
}
