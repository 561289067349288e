package session

// Abandon gives the state up, because its actor ends without having been told to leave: it answers everybody who waits
// with the error. Only the replies among the effects are to be performed; the next state is made of what is stored.
func (s *State) Abandon(now int64, err error) []Effect {
	s.now = now
	if s.gone {
		return nil
	}
	s.lose(err)
	return s.take()
}
