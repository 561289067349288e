package grok

import "agentd/providers/catalog"

// Modes implements [catalog.Reader].
func (Reader) Modes() []catalog.Mode { return []catalog.Mode{{Name: catalog.DefaultMode}} }

// Launch implements [catalog.Reader].
func (r Reader) Launch(env catalog.Env, s *catalog.Session) catalog.Launch {
	l := catalog.Launch{Args: []string{"--resume", s.ID}, Env: map[string]string{}}
	if root := r.Roots(env)[0]; root.Var != "" {
		l.Env[root.Var] = root.Path
	}
	return l
}
