package kiro

import "agentd/providers/catalog"

// Modes implements [catalog.Reader].
func (Reader) Modes() []catalog.Mode { return []catalog.Mode{{Name: catalog.DefaultMode}} }

// Launch implements [catalog.Reader].
func (r Reader) Launch(env catalog.Env, s *catalog.Session) catalog.Launch {
	l := catalog.Launch{Args: []string{"chat", "--resume-id", s.ID}, Env: map[string]string{}}
	if root := r.Roots(env)[0]; root.Var != "" {
		l.Env[root.Var] = root.Path
	}
	if data, configured := env.XDGData(); configured && s.Ref != "" && env.PlatformData() == data {
		l.Env["XDG_DATA_HOME"] = data // The database lies below it.
	}
	return l
}
