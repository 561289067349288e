package muse

import (
	"path/filepath"

	"agentd/providers/catalog"
)

// Modes implements [catalog.Reader].
func (Reader) Modes() []catalog.Mode {
	return []catalog.Mode{
		{Name: catalog.DefaultMode},
		{Name: "no approval (sandbox on)", Args: []string{"--disable-approval"}, Unsafe: true},
		{Name: "yolo (no sandbox)", Args: []string{"--yolo"}, Unsafe: true},
	}
}

// Launch implements [catalog.Reader].
func (r Reader) Launch(env catalog.Env, s *catalog.Session) catalog.Launch {
	l := catalog.Launch{Args: []string{"resume", s.ID}, Env: map[string]string{}}
	if root := r.Roots(env)[0]; root.Var != "" {
		l.Env[root.Var] = filepath.Dir(filepath.Dir(root.Path))
	}
	return l
}
