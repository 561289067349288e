package qwen

import (
	"path/filepath"

	"agentd/providers/catalog"
)

// Modes implements [catalog.Reader].
func (Reader) Modes() []catalog.Mode {
	return []catalog.Mode{
		{Name: catalog.DefaultMode},
		{Name: "auto-edit", Args: []string{"--approval-mode", "auto-edit"}},
		{Name: "plan (read-only)", Args: []string{"--approval-mode", "plan"}},
		{Name: "yolo (no approval)", Args: []string{"--approval-mode", "yolo"}, Unsafe: true},
	}
}

// Launch implements [catalog.Reader]. The folder of runtime files is always told: settings of the directory that the program is started
// in could name another one.
func (r Reader) Launch(env catalog.Env, s *catalog.Session) catalog.Launch {
	l := catalog.Launch{Args: []string{"--resume", s.ID}, Env: map[string]string{}}
	if h := home(env); h.Var != "" {
		l.Env[h.Var] = h.Path
	}
	for _, root := range r.Roots(env) {
		if rel, err := filepath.Rel(root.Path, s.StoreFile); root.Path != "" && err == nil && filepath.IsLocal(rel) {
			l.Env[runtimeVar] = root.Path
			break
		}
	}
	return l
}
