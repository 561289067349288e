package gemini

import (
	"path/filepath"

	"agentd/providers/catalog"
)

// Modes implements [catalog.Reader].
func (Reader) Modes() []catalog.Mode {
	return []catalog.Mode{
		{Name: catalog.DefaultMode},
		{Name: "auto_edit", Args: []string{"--approval-mode", "auto_edit"}},
		{Name: "yolo (no approval)", Args: []string{"-y"}, Unsafe: true},
		{Name: "plan (read-only)", Args: []string{"--approval-mode", "plan"}},
		{Name: "sandbox", Args: []string{"-s"}},
	}
}

// Launch implements [catalog.Reader].
func (r Reader) Launch(env catalog.Env, s *catalog.Session) catalog.Launch {
	l := catalog.Launch{Args: []string{"--resume", s.ID}, Env: map[string]string{}}
	if root := r.Roots(env)[0]; root.Var != "" {
		l.Env[root.Var] = filepath.Dir(root.Path)
	}
	return l
}
