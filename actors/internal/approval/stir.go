package approval

import (
	"slices"

	"agentd/messages"
	"agentd/presets"
)

// maxStirred is how many sessions are told apart. Beyond it a change concerns all.
const maxStirred = 64

// stir says for whom something has changed that lists of tools depend on. An empty session is everybody.
func (s *State) stir(session messages.SessionID) {
	switch {
	case session == "" || len(s.stirred.Sessions) >= maxStirred:
		s.stirred = presets.Change{Global: true}
	case !s.stirred.Touches(session):
		s.stirred.Sessions = append(s.stirred.Sessions, session)
	}
}

// TakeChange returns for whom a request was decided, or what stands without asking has changed: grants, approvals ahead and the policy.
// It forgets it; false means that nothing has.
func (s *State) TakeChange() (presets.Change, bool) {
	change := s.stirred
	s.stirred = presets.Change{}
	slices.Sort(change.Sessions)
	return change, change.Global || len(change.Sessions) > 0
}
