package session

// desk is the memory in which turns are handled, one after another. A state at rest has none: the memory of an idle session counts, the time
// of its next turn does not.
type desk struct {
	turn turn
	// commit and start are the effects of which a step gives at most one.
	commit Commit
	start  StartTurn
}

// newTurn returns the memory of a turn: the desk's, unless an ending that is owed still needs that.
func (s *State) newTurn() *turn {
	if s.desk == nil {
		s.desk = &desk{}
	}
	t := &s.desk.turn
	if s.owed == t {
		return &turn{}
	}
	*t = turn{}
	return t
}

// commitEffect returns the memory of a commit: a session commits before its first turn, too.
func (s *State) commitEffect() *Commit {
	if s.desk == nil {
		return &Commit{}
	}
	return &s.desk.commit
}

// keptGroups is how many groups there may have been at once for their memory to be kept for the next turn.
const keptGroups = 8

// tidy makes an idle state hold nothing of what it has handled.
func (s *State) tidy() {
	if s.desk != nil {
		*s.desk = desk{} // The step that ends idle gives no effect that lies there.
	}
	if s.desk == nil || cap(s.flight) > keptGroups || cap(s.staged) > keptGroups {
		s.flight, s.staged = nil, nil
	}
}

// Rest gives the memory back that the next turn would need. A session that has been idle for a while is told so; it changes nothing else.
func (s *State) Rest() {
	if s.Idle() {
		s.desk, s.flight, s.staged, s.effects = nil, nil, nil, nil
	}
}
