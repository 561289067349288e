package antigravity

import "agentd/providers/catalog"

// Modes implements [catalog.Reader].
func (Reader) Modes() []catalog.Mode {
	return []catalog.Mode{
		{Name: catalog.DefaultMode},
		{Name: "accept-edits", Args: []string{"--mode", "accept-edits"}},
		{Name: "plan", Args: []string{"--mode", "plan"}},
		{Name: "bypass", Args: []string{"--dangerously-skip-permissions"}, Unsafe: true},
		{Name: "sandbox", Args: []string{"--sandbox"}},
	}
}

// Launch implements [catalog.Reader].
func (Reader) Launch(_ catalog.Env, s *catalog.Session) catalog.Launch {
	return catalog.Launch{Args: []string{"--conversation", s.ID}}
}
