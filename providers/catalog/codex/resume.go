package codex

import "agentd/providers/catalog"

// Modes implements [catalog.Reader].
func (Reader) Modes() []catalog.Mode {
	return []catalog.Mode{
		{Name: catalog.DefaultMode},
		{Name: "workspace-write", Args: []string{"-a", "on-request", "-s", "workspace-write"}},
		{Name: "full-auto", Args: []string{"-a", "never", "-s", "workspace-write"}, Unsafe: true},
		{Name: "bypass sandbox", Args: []string{"--dangerously-bypass-approvals-and-sandbox"}, Unsafe: true},
	}
}

// Launch implements [catalog.Reader].
func (Reader) Launch(env catalog.Env, s *catalog.Session) catalog.Launch {
	p := locate(env)
	l := catalog.Launch{Args: []string{"resume", s.ID}, Env: map[string]string{}}
	if p.homeConfigured {
		l.Env[homeVar] = p.home
	}
	if p.sqlite != "" {
		// Always, because its default depends on the configuration of the place where it is started.
		l.Env[sqliteVar] = p.sqlite
	}
	return l
}
