package pi

import "agentd/providers/catalog"

// Modes implements [catalog.Reader].
func (Reader) Modes() []catalog.Mode { return []catalog.Mode{{Name: catalog.DefaultMode}} }

// Launch implements [catalog.Reader].
func (Reader) Launch(env catalog.Env, s *catalog.Session) catalog.Launch {
	l := catalog.Launch{Args: []string{"--session", s.ID}, Env: map[string]string{}}
	if path, name := agentDir(env); name != "" {
		l.Env[name] = path
	}
	if v := env.Var(sessionVar); v != "" {
		l.Env[sessionVar] = env.Tilde(v)
	}
	return l
}
